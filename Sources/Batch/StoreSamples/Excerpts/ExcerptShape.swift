import CoreDataModel
import CoreDataStore
import Migrations
import RunSupport
import Streams

/// Where the rows of a store have what an excerpt looks at: keys of other objects, and names of files.
struct ExcerptShape {
  /// A to-one.
  struct ToOne {
    /// Of the key, in the row.
    let position: Int
    /// The table of the object that it leads to.
    let table: Int
    let name: String
    /// The to-many at the other end, as `Entity.name`; nil if there is none.
    let list: String?
  }

  /// The key of the object that owns a to-many without inverse, in the rows of the to-many's objects.
  struct Owner {
    /// Of the key, and of the place among the owner's objects.
    let positions: [Int]
    /// The owner's table.
    let table: Int
    /// `Entity.name`.
    let list: String
  }

  let graph: SourceGraph
  private let memory: MemoryBudget
  /// By Z_ENT.
  private let toOnesByNumber: [[ToOne]]
  /// By Z_ENT: positions of values that may lie in files.
  private let filesByNumber: [[Int]]
  /// By table.
  let owners: [[Owner]]

  var reader: StoreReader { graph.reader }
  var tables: [StoreBinding.Table] { graph.binding.tables }
  var layout: StoreLayout { graph.binding.layout }
  /// Whether values may lie in files.
  var hasFiles: Bool { filesByNumber.contains { !$0.isEmpty } }

  init(_ graph: SourceGraph, memory: MemoryBudget) {
    (self.graph, self.memory) = (graph, memory)
    toOnesByNumber = graph.byNumber.map { entity in entity.map { Self.toOnes($0, graph) } ?? [] }
    filesByNumber = graph.byNumber.map { entity in
      guard let entity else { return [] }
      return entity.attributes.names.compactMap { entity.attributes[$0] }.filter(\.isExternal).map(\.position)
    }
    owners = graph.binding.tables.map { Self.owners($0, graph.binding.layout) }
  }

  private static func toOnes(_ entity: SourceEntity, _ graph: SourceGraph) -> [ToOne] {
    entity.relationships.names.compactMap { name in
      guard let stored = entity.relationships[name], let position = stored.keyPosition,
        let other = graph.entities[stored.destination]
      else { return nil }
      var list: String?
      if let inverse = stored.inverse, case .inverseKey? = other.relationships[inverse]?.storage {
        list = "\(stored.destination).\(inverse)"
      }
      return ToOne(position: position, table: other.table, name: "\(entity.name).\(name)", list: list)
    }
  }

  private static func owners(_ table: StoreBinding.Table, _ layout: StoreLayout) -> [Owner] {
    table.layout.columns.indices.compactMap { place in
      guard case .inverselessOwner(let entity, let name) = table.layout.columns[place].role,
        let owner = layout.tablePosition(ofEntity: entity)
      else { return nil }
      let order = table.layout.columns.firstIndex { $0.role == .inverselessOrder(entity: entity, name: name) }
      return Owner(
        positions: ([place] + (order.map { [$0] } ?? [])).map { table.positions[$0] }, table: owner,
        list: "\(entity).\(name)")
    }
  }

  /// The to-ones of a row, by its Z_ENT.
  func toOnes(_ number: Int64) -> [ToOne] { toOnesByNumber[Int(number)] }

  /// Positions of a row's values that may lie in files.
  func files(_ number: Int64) -> [Int] { filesByNumber[Int(number)] }

  /// Reads a table's rows, without long values.
  func scan(_ table: Int) -> TableScan {
    TableScan(
      snapshot: reader.snapshot, root: tables[table].schema.rootPage, rowLimit: memory.rowLimit,
      longValuesFrom: MemoryBudget.longValueBytes)
  }

  /// Finds a table's rows by their keys.
  func lookup(_ table: Int) -> RowLookup {
    RowLookup(
      snapshot: reader.snapshot, root: tables[table].schema.rootPage, cacheBytes: memory.lookupCacheBytes,
      rowLimit: memory.rowLimit, longValuesFrom: MemoryBudget.longValueBytes)
  }

  /// Decodes a row and returns its Z_ENT, which is that of an entity of the table.
  func decode(_ record: UnsafeRawBufferPointer, key: Int64, table: Int, into decoder: RecordDecoder) throws -> Int64 {
    func damage(_ what: String) -> BatchError {
      BatchError(
        .badStore, "a row of \(tables[table].schema.name) \(what)", hint: "Restore the store from a backup",
        path: reader.path, entity: tables[table].layout.rootEntity, key: key)
    }
    guard decoder.decode(record) else { throw damage("is damaged") }
    let number = decoder.integer(tables[table].positions[1]) ?? 0
    guard number > 0, number < Int64(graph.byNumber.count), graph.byNumber[Int(number)]?.table == table else {
      throw damage("has the number \(number), which is no entity of this table")
    }
    return number
  }
}
