import CoreDataStore
import Streams

/// A store as a step will write it, but without rows: the same tables and indexes on the same root pages.
package enum StoreShape {
  /// Writes such a store. It need not outlive a crash.
  package static func write(_ plan: StepPlan, header: DatabaseHeader, to path: String, _ fileSystem: any FileSystem)
    throws
  {
    let file = try fileSystem.open(path, .create)
    defer { file.close() }
    var plain = header
    plain.version = .rollback
    let entries = StoreSchemaText.entries(
      plan.layout, hasIndexes: true, hasModelCache: plan.carried.modelCache != nil, carried: plan.carried.schema)
    let database = try DatabaseBuilder(file: file, header: plain, schema: entries)
    let trees = Set(plan.carried.trees.map(\.name))
    for entry in entries where entry.hasRoot {
      guard let root = database.root(of: entry.name) else { continue }
      if entry.type == "index" || trees.contains(entry.name) {
        try IndexBuilder(root: root, writer: database.writer).finish()
      } else {
        try TableBuilder(root: root, writer: database.writer).finish()
      }
    }
    try database.finish(isDurable: false)
  }
}
