import CoreDataModel
import CoreDataStore
import RunSupport
import Streams

/// A store of a version without objects, in memory: it stands for the one that a step will leave, so that what the next
/// step does can be decided before anything is written.
package enum EmptyStore {
  /// Opens such a store, with triggers that the step before carries. Throws what a ``StoreLayout`` throws.
  package static func reader(of model: ManagedObjectModel, triggers: [SchemaRow] = []) throws -> StoreReader {
    let disk = MemoryDisk(limit: 64 << 20)
    let path = "the store of \(model.name)"
    let layout = try StoreLayout(model: model)
    let header = DatabaseHeader(pageSize: 4096, autoVacuum: 0, version: .rollback)
    let database = try DatabaseBuilder(
      file: try disk.open(path, .create), header: header,
      schema: StoreSchemaText.entries(layout, hasIndexes: false, hasModelCache: false)
        + triggers.map { .init(type: $0.type, name: $0.name, tableName: $0.tableName, sql: $0.sql, hasRoot: false) })
    for name in layout.entityTables.map(\.name) + layout.joinTables.map(\.name) {
      guard let root = database.root(of: name) else { throw BatchError(.failed, "the schema lacks \(name)") }
      try TableBuilder(root: root, writer: database.writer).finish()
    }
    let metadata = StoreMetadata.new(
      uuid: "00000000-0000-0000-0000-000000000000", versionHashes: model.versionHashes,
      identifiers: model.versionIdentifiers)
    try FixedTables(layout: layout, metadata: metadata, largestKeys: layout.entityTables.map { _ in 0 }).write(
      to: database)
    try database.finish()
    return try StoreReader(path: path, fileSystem: disk, locking: .none)
  }
}
