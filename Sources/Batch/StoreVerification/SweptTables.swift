import CoreDataModel
import CoreDataStore

/// The tables with rowids of a store as checks address them: they follow from its model and schema.
struct SweptTables: Sendable {
  /// By folded name.
  private(set) var tables: [String: SweptTable] = [:]
  /// Tables, folded, with an index that cannot be walked.
  private(set) var unwalkable: Set<String> = []

  /// Asks SQLite which indexes it reads alone. Throws what SQLite throws.
  init(_ binding: StoreBinding, _ schema: StoreSchema, on connection: StoreConnection) throws {
    let indexes = Dictionary(grouping: schema.indexes) { NameOrder.folded($0.table) }
    for table in schema.tables { try add(table, indexes[NameOrder.folded(table.name)] ?? [], on: connection) }
    for text in schema.foreign where text.row.type == "index" {
      unwalkable.insert(NameOrder.folded(text.row.tableName))
    }
    for table in binding.tables { own(table.schema, entity: table.layout.rootEntity, property: nil) }
    for join in binding.joins {
      let relationship = join.layout.relationship
      own(join.schema, entity: relationship.entity, property: relationship.name)
    }
  }

  private mutating func add(_ table: TableSchema, _ all: [IndexSchema], on connection: StoreConnection) throws {
    let name = NameOrder.folded(table.name)
    guard let bare = SweptTable(table, indexes: []) else {
      unwalkable.insert(name)
      return
    }
    var indexes = all.compactMap(SweptIndex.init)
    indexes = try indexes.filter { try IndexSweep.isPossible(bare, $0, on: connection) }
    if indexes.count < all.count { unwalkable.insert(name) }
    tables[name] = SweptTable(table, indexes: indexes)
  }

  private mutating func own(_ table: TableSchema, entity: String, property: String?) {
    let name = NameOrder.folded(table.name)
    tables[name]?.entity = entity
    tables[name]?.property = property
  }
}
