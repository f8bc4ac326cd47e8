import CoreDataStore
import LoadTables
import RunSupport
import Streams

/// Writes the rows of ordinary tables: pages are built in order, as a migration builds them. Keys and indexes follow by
/// SQLite, see ``PlainFinish``.
struct PlainBuild {
  let schema: LoadSchema
  let rules: PlainRules
  let store: LoadStore
  let rowLimit: Int
  let monitor: RunMonitor

  static let pageSize = 4096

  /// What a table got.
  struct Outcome: Sendable {
    var rows: UInt64 = 0
    var remarks = PlainRemarks()
  }

  /// Sendable by discipline: one thread has it at a time.
  private struct Handed<Value>: @unchecked Sendable { let value: Value }

  private struct Page: Sendable {
    var rows: RowPage
    var bytesRead: UInt64
  }

  /// Builds the file; returns what each table got. The file is durable when SQLite has done its part.
  func run(to path: String, _ told: @escaping @Sendable (_ bytes: UInt64, _ rows: UInt64) -> Void) throws -> [Outcome] {
    let file = try store.fileSystem.open(path, .create)
    defer { file.close() }
    let header = DatabaseHeader(pageSize: Self.pageSize, autoVacuum: 0, version: .rollback)
    let statements = PlainStatements(schema: schema, rules: rules)
    let database = try DatabaseBuilder(file: file, header: header, schema: statements.entries)
    let outcomes = try schema.tables.indices.map { table in
      monitor.note { $0.begin("loading \(schema.tables[table].name)") }
      return try fill(table, in: database, told)
    }
    for name in statements.automaticIndexes {
      guard let root = database.root(of: name) else { continue }
      try IndexBuilder(root: root, writer: database.writer).finish()
    }
    try database.finish(isDurable: false)
    return outcomes
  }

  /// Encodes all rows and keeps none: what a load would tell of them.
  func survey() throws -> [Outcome] {
    try schema.tables.map { table in
      var outcome = Outcome()
      let scan = try SourceRows(store, table, rowLimit: rowLimit).scan(after: nil)
      let (encoder, page, target) = (PlainRowEncoder(table, of: store, rules), RowPage(), PlainPage())
      while try scan.next(into: page) {
        target.reset()
        try encoder.encode(page, to: target)
        outcome.rows += UInt64(target.records.count)
        outcome.remarks.add(target.remarks)
      }
      return outcome
    }
  }

  private func fill(
    _ table: Int, in database: DatabaseBuilder, _ told: @escaping @Sendable (UInt64, UInt64) -> Void
  ) throws -> Outcome {
    guard let root = database.root(of: schema.tables[table].name) else { return Outcome() }
    let builder = TableBuilder(root: root, writer: database.writer)
    let scan = Handed(value: try SourceRows(store, schema.tables[table], rowLimit: rowLimit).scan(after: nil))
    let encoder = PlainRowEncoder(schema.tables[table], of: store, rules)
    let writer = Handed(value: PlainTableWriter(builder, store))
    let (pages, targets) = (BoundedQueue<RowPage>(capacity: 16), BoundedQueue<PlainPage>(capacity: 16))
    try Pipeline<Page, PlainPage>.run(
      read: {
        let (page, before) = (pages.tryPop() ?? RowPage(), scan.value.bytesRead)
        guard try scan.value.next(into: page) else { return nil }
        return Page(rows: page, bytesRead: scan.value.bytesRead - before)
      },
      transform: { [monitor] page in
        try monitor.throwIfStopRequested()
        let target = targets.tryPop() ?? PlainPage()
        target.reset()
        try encoder.encode(page.rows, to: target)
        target.bytesRead = page.bytesRead
        monitor.hold(rows: page.rows.count, bytes: target.records.byteCount)
        try pages.push(page.rows)
        return target
      },
      write: { target in
        try writer.value.write(target)
        told(target.bytesRead, UInt64(target.records.count))
        try targets.push(target)
      })
    try builder.finish()
    return writer.value.outcome
  }
}

/// Hands rows to the builder of their table.
private final class PlainTableWriter {
  private(set) var outcome = PlainBuild.Outcome()
  private let builder: TableBuilder
  private let store: LoadStore
  private let longValues: LongValueReader

  init(_ builder: TableBuilder, _ store: LoadStore) {
    (self.builder, self.store) = (builder, store)
    longValues = LongValueReader(snapshot: store.reader.snapshot, limit: 0)
  }

  func write(_ page: PlainPage) throws {
    var row = 0
    try page.records.forEach { _, rowid, record in
      if let insertions = page.insertions[row] {
        let reader = PlainRowReader(record, insertions, longValues: longValues, fileSystem: store.fileSystem)
        try builder.append(rowid: rowid, length: reader.length, reading: reader.read)
      } else {
        try builder.append(rowid: rowid, record: record)
      }
      row += 1
    }
    outcome.rows += UInt64(row)
    outcome.remarks.add(page.remarks)
  }
}
