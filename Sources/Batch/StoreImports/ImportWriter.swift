import CoreDataModel
import CoreDataStore
import Migrations
import RunSupport
import Streams

/// Writes the file of an import from a spool: entity tables in the order of keys, join tables, the fixed tables,
/// indexes. All pages are appended once.
final class ImportWriter {
  private let plan: ImportPlan
  /// The file is the prefix itself.
  private let files: StepFiles
  private let lines: ImportLines
  private let spool: ImportSpool
  private let sides: ImportSides
  private let monitor: RunMonitor
  /// What takes checkpoints, if any are taken.
  private let journal: ImportJournal?
  private let progress: (Double) -> Void
  private let header = DatabaseHeader(pageSize: ImportWriter.pageSize, autoVacuum: 2, version: .rollback)

  static let pageSize = 4096

  init(
    _ plan: ImportPlan, spool: ImportSpool, sides: ImportSides, lines: ImportLines, files: StepFiles,
    monitor: RunMonitor = RunMonitor(), journal: ImportJournal? = nil, progress: @escaping (Double) -> Void
  ) {
    (self.plan, self.spool, self.sides, self.lines, self.files) = (plan, spool, sides, lines, files)
    (self.monitor, self.journal, self.progress) = (monitor, journal, progress)
  }

  /// Writes the whole file, or what is left of it, durably. Returns objects by entity, and the number of links.
  func write(
    _ metadata: StoreMetadata, objects: UInt64, from found: ImportJournal.Found? = nil
  ) throws -> (rows: [String: UInt64], links: UInt64) {
    let next = try found?.read("pages") { try $0.readUInt32() }
    let file = try open(next)
    defer { file.close() }
    let database = try DatabaseBuilder(
      file: file, header: header, schema: StoreSchemaText.entries(plan.layout, hasIndexes: true, hasModelCache: true),
      resumingAt: next)
    let tables = ImportTables(
      plan: plan, spool: spool, sides: sides, lines: lines, database: database, total: objects)
    try found?.read("tables") { try tables.restore(from: &$0) }
    var first = 0
    if let found, found.phase != .tables {
      first = try found.read("indexes") { try $0.readInt() }
    } else {
      tables.look = { [unowned self, unowned tables] in try self.look($0, $1, at: tables, in: database) }
      try build(tables, metadata, in: database)
      try publish(indexes: 0, tables, database, isForced: true)
      try spool.remove()
    }
    try index(from: first, tables, database)
    try RTreePass(
      plan.layout.rtrees, layout: plan.layout, database: database, header: header, files: files, monitor: monitor
    ).run { _, _ in }
    try database.finish()
    return tables.totals
  }

  private func open(_ nextPage: UInt32?) throws -> any File {
    guard let nextPage else { return try files.fileSystem.open(files.prefix, .create) }
    let file = try files.fileSystem.open(files.prefix, .update)
    let length = UInt64(max(1, nextPage) - 1) * UInt64(Self.pageSize)
    guard try file.size() >= length else {
      throw StreamsError(.damagedCheckpoint, "the unfinished store is shorter than it was", path: files.prefix)
    }
    try file.truncate(to: length)
    return file
  }

  private func build(_ tables: ImportTables, _ metadata: StoreMetadata, in database: DatabaseBuilder) throws {
    try spool.drain(to: tables)
    try tables.finish()
    try sides.check(plan, spool, in: lines)
    try FixedTables(
      layout: plan.layout, metadata: metadata, largestKeys: plan.layout.entityTables.indices.map(spool.maximum),
      modelCache: try ModelCache.encode(plan.layout.model).content
    ).write(to: database)
  }

  private func index(from first: Int, _ tables: ImportTables, _ database: DatabaseBuilder) throws {
    let (indexes, count) = (StoreIndex.all(plan.layout), Double(max(1, plan.layout.indexes.count)))
    let pass = IndexPass(
      indexes, database: database, header: header, files: files, monitor: monitor, equalRows: { $0 })
    var length = database.writer.length
    do {
      try pass.run(from: first) {
        progress(0.7 + 0.3 * Double($0) / count)
        let bytes = Int(database.writer.length - length)
        length = database.writer.length
        if journal?.isDue(adding: bytes) == true { try publish(indexes: $0, tables, database) }
      }
    } catch let equal as IndexPass.EqualRows {
      throw try ImportDuplicates(layout: plan.layout, database: database, header: header, files: files).refusal(equal)
    }
  }
}

// Checkpoints.
extension ImportWriter {
  private func look(
    _ bytes: Int, _ done: Double, at tables: ImportTables, in database: DatabaseBuilder
  ) throws {
    progress(done * 0.7)
    // What is in memory alone is soon read again.
    guard let journal, journal.reader != nil, journal.isDue(adding: bytes) else {
      return try monitor.throwIfStopRequested()
    }
    var (kept, sidesKept) = (ByteWriter(), ByteWriter())
    tables.encode(into: &kept)
    try sides.encode(into: &sidesKept)
    try journal.publish(.tables, ["tables": kept, "sides": sidesKept, "pages": try pages(database)])
  }

  /// Makes the pages durable that are written; the number of the next one.
  private func pages(_ database: DatabaseBuilder) throws -> ByteWriter {
    var pages = ByteWriter()
    try database.writer.flush()
    try database.writer.file.sync()
    pages.writeUInt32(database.writer.nextPage)
    return pages
  }

  /// Notes how many indexes are written. `isForced`: behind another checkpoint in any case, as what that needs goes.
  private func publish(
    indexes count: Int, _ tables: ImportTables, _ database: DatabaseBuilder, isForced: Bool = false
  ) throws {
    guard let journal, !isForced || journal.isBegun else { return }
    var (kept, indexes) = (ByteWriter(), ByteWriter())
    tables.encode(into: &kept)
    indexes.writeInt(count)
    try journal.keepReader()
    try journal.publish(.indexes, ["tables": kept, "indexes": indexes, "pages": try pages(database)])
  }
}
