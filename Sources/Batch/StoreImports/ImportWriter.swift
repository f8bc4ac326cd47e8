import CoreDataModel
import CoreDataStore
import Migrations
import RunSupport
import Streams

/// Writes the file of an import from a spool: entity tables in the order of keys, join tables, the fixed tables,
/// indexes. All pages are appended once.
struct ImportWriter {
  let plan: ImportPlan
  let metadata: StoreMetadata
  /// The file is the prefix itself.
  let files: StepFiles
  let lines: ImportLines

  static let pageSize = 4096

  mutating func write(
    _ spool: ImportSpool, _ sides: ImportSides, objects: UInt64, progress: @escaping (Double) -> Void
  ) throws -> StoreImport.Summary {
    let layout = plan.layout
    let file = try files.fileSystem.open(files.prefix, .create)
    defer { file.close() }
    let header = DatabaseHeader(pageSize: Self.pageSize, autoVacuum: 2, version: .rollback)
    let schema = StoreSchemaText.entries(layout, hasIndexes: true, hasModelCache: true)
    let database = try DatabaseBuilder(file: file, header: header, schema: schema)
    let tables = ImportTables(
      plan: plan, spool: spool, sides: sides, lines: lines, database: database, total: objects
    ) { progress($0 * 0.7) }
    try spool.drain(
      row: { try tables.row($0, $1, line: $2, record: $3) }, patch: { try tables.patch($0, $1, set: $2) },
      link: { try tables.link($0, $1) })
    let (rows, links) = try tables.finish()
    try sides.check(plan, spool, in: lines)
    try FixedTables(
      layout: layout, metadata: metadata, largestKeys: layout.entityTables.indices.map(spool.maximum),
      modelCache: try ModelCache.encode(layout.model).content
    ).write(to: database)
    let pass = IndexPass(
      StoreIndex.all(layout), database: database, header: header, files: files, equalRows: { $0 })
    do {
      try pass.run(from: 0) { progress(0.7 + 0.3 * Double($0) / Double(max(1, layout.indexes.count))) }
    } catch let equal as IndexPass.EqualRows {
      throw try ImportDuplicates(layout: layout, database: database, header: header, files: files).refusal(equal)
    }
    try RTreePass(layout.rtrees, layout: layout, database: database, header: header, files: files).run { _, _ in }
    try database.finish()
    var summary = StoreImport.Summary()
    (summary.rows, summary.links) = (rows, links)
    return summary
  }
}
