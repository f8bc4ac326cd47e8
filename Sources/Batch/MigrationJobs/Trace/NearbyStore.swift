import CoreDataStore
import Migrations
import RunSupport
import Streams

/// An object of a store and what it leads to, as a small store of the same version: what is migrated to see what
/// becomes of it.
///
/// All keys are kept, also the largest ones that were given out, so that keys move as in a whole run.
struct NearbyStore {
  /// Objects that are taken along at most, and of them members of one to-many relationship.
  private static let mostObjects = 1000
  private static let mostMembers = 100
  /// The largest object that is taken along.
  private static let rowLimit = 64 << 20

  private let graph: SourceGraph
  /// Keys by table.
  private var keys: [Set<Int64>]
  /// Owner and destination of each link, by join table.
  private var links: [[(Int64, Int64)]]
  private(set) var count = 0
  private(set) var isCutOff = false

  /// Gathers what an object leads to, over that many to-one relationships; of to-many relationships only its own ones.
  init(around object: SourceObject, depth: Int, in graph: SourceGraph) throws {
    self.graph = graph
    keys = Array(repeating: [], count: graph.binding.tables.count)
    links = Array(repeating: [], count: graph.binding.joins.count)
    var waiting = [(number: object.entity.number, key: object.key)]
    for distance in 0...depth {
      var next: [(number: Int, key: Int64)] = []
      for (number, key) in waiting {
        guard let found = try graph.object(number, key: key) else { continue }
        guard count < Self.mostObjects else {
          isCutOff = true
          return
        }
        guard keys[found.entity.table].insert(key).inserted else { continue }
        count += 1
        next += try neighbours(of: found, withMembers: distance == 0)
      }
      waiting = next
    }
  }

  private mutating func neighbours(of object: SourceObject, withMembers: Bool) throws -> [(number: Int, key: Int64)] {
    var found: [(number: Int, key: Int64)] = []
    for name in object.entity.relationships.names {
      guard let relationship = object.entity.relationships[name] else { continue }
      if relationship.keyPosition != nil {
        // The row of the other holds its entity.
        if let other = try object.object(relationship) { found.append((other.entity.number, other.key)) }
      } else if withMembers {
        let members = try graph.keys(of: relationship, named: name, owner: object)
        if members.count > Self.mostMembers { isCutOff = true }
        for key in members.prefix(Self.mostMembers) {
          found.append((relationship.destinationNumber, key))
          guard case .join(let table, let isSource) = relationship.storage else { continue }
          links[table].append(isSource ? (object.key, key) : (key, object.key))
        }
      }
    }
    return found
  }

  /// Writes the store. It need not outlive a crash.
  func write(to path: String, _ fileSystem: any FileSystem) throws {
    let layout = graph.binding.layout
    let file = try fileSystem.open(path, .create)
    defer { file.close() }
    let header = DatabaseHeader(pageSize: 4096, autoVacuum: 0, version: .rollback)
    let database = try DatabaseBuilder(
      file: file, header: header, schema: StoreSchemaText.entries(layout, hasIndexes: false, hasModelCache: false))
    for (table, keys) in keys.enumerated() { try write(keys.sorted(), of: graph.binding.tables[table], to: database) }
    for (table, links) in links.enumerated() { try write(links, layout.joinTables[table], to: database) }
    let largest = try layout.entityTables.indices.map { try graph.largestKey($0) }
    try FixedTables(layout: layout, metadata: graph.reader.metadata, largestKeys: largest).write(to: database)
    try database.finish()
  }

  private func builder(_ name: String, _ database: DatabaseBuilder) throws -> TableBuilder {
    guard let root = database.root(of: name) else { throw BatchError(.failed, "the schema lacks \(name)") }
    return TableBuilder(root: root, writer: database.writer)
  }

  private func write(_ keys: [Int64], of table: StoreBinding.Table, to database: DatabaseBuilder) throws {
    let builder = try builder(table.layout.name, database)
    let lookup = RowLookup(
      snapshot: graph.reader.snapshot, root: table.schema.rootPage, cacheBytes: 1 << 20, rowLimit: Self.rowLimit)
    let (row, encoder) = (RecordDecoder(), RecordEncoder())
    for key in keys {
      _ = try lookup.withRecord(key) { record in
        guard row.decode(record) else {
          throw BatchError(
            .badStore, "a row of \(table.schema.name) is damaged", hint: "Run \(ProgramName.current) verify",
            path: graph.reader.path, entity: table.layout.rootEntity, key: key)
        }
        encoder.reset()
        encoder.appendNull()
        for position in table.positions.dropFirst() {
          if position < row.columnCount {
            encoder.append(type: row.type(position), body: row.body(position))
          } else {
            encoder.append(table.schema.columns[position].defaultValue ?? .null)
          }
        }
        try Self.append(encoder, rowid: key, to: builder)
      }
    }
    try builder.finish()
  }

  private func write(_ links: [(Int64, Int64)], _ join: JoinTable, to database: DatabaseBuilder) throws {
    let builder = try builder(join.name, database)
    let encoder = RecordEncoder()
    for (index, link) in links.enumerated() {
      encoder.reset()
      for column in LinkColumn.columns(of: join) {
        switch column {
        case .source: encoder.append(link.0)
        case .destination: encoder.append(link.1)
        case .sourceOrder, .destinationOrder: encoder.append(Int64(index + 1) * 1024)
        }
      }
      try Self.append(encoder, rowid: Int64(index + 1), to: builder)
    }
    try builder.finish()
  }

  private static func append(_ encoder: RecordEncoder, rowid: Int64, to builder: TableBuilder) throws {
    try withUnsafeTemporaryAllocation(byteCount: encoder.length, alignment: 8) { bytes in
      guard let base = bytes.baseAddress else { return }
      encoder.write(to: base)
      try builder.append(rowid: rowid, record: UnsafeRawBufferPointer(bytes))
    }
  }
}
