import Streams

/// Loads the rows of one table: a thread reads pages of rows, the caller's encodes them, another one sends them and commits. After an
/// interruption it goes on behind the last row that was committed.
final class TableLoad {
  private let store: LoadStore
  private let schema: PostgresSchema
  private let table: Int
  private let book: LoadBook
  private let monitor: RunMonitor
  private let rowLimit: Int

  private var described: PostgresTable { schema.tables[table] }

  init(_ table: Int, _ store: LoadStore, _ book: LoadBook, rowLimit: Int, _ monitor: RunMonitor) {
    (self.table, self.store, schema, self.book) = (table, store, book.schema, book)
    (self.rowLimit, self.monitor) = (rowLimit, monitor)
  }

  /// Sendable by discipline: one thread has it at a time.
  private struct Handed<Value>: @unchecked Sendable { let value: Value }

  private struct Page: Sendable {
    var rows: RowPage
    var bytesRead: UInt64
  }

  /// Loads all rows behind the unit's position; all of them are durable on return. `told` hears of the bytes of the source that were
  /// read, and of rows that are committed.
  func run(from unit: LoadBook.Unit, _ told: @escaping @Sendable (_ bytesRead: UInt64, _ rows: UInt64) -> Void) throws {
    let scan = Handed(
      value: TableScan(
        snapshot: store.reader.snapshot, root: store.source(of: described).rootPage, after: unit.position, rowLimit: rowLimit,
        longValuesFrom: OutsideValue.threshold))
    let encoder = CopyRowEncoder(described, store)
    let writer = Handed(value: TableWriter(table, store, book, from: unit, monitor))
    let pages = BoundedQueue<RowPage>(capacity: 16)
    let buffers = BoundedQueue<CopyBuffer>(capacity: 16)
    try Pipeline<Page, CopyBuffer>.run(
      read: {
        let page = pages.tryPop() ?? RowPage()
        return try scan.value.next(into: page) ? Page(rows: page, bytesRead: scan.value.bytesRead) : nil
      },
      transform: { [monitor] page in
        try monitor.throwIfStopRequested()
        let buffer = buffers.tryPop() ?? CopyBuffer()
        buffer.reset()
        try encoder.encode(page.rows, to: buffer)
        buffer.bytesRead = page.bytesRead
        monitor.hold(rows: page.rows.count, bytes: buffer.count)
        try pages.push(page.rows)
        return buffer
      },
      write: { buffer in
        try writer.value.write(buffer)
        told(buffer.bytesRead, writer.value.unit.rows)
        try buffers.push(buffer)
      })
    try writer.value.finish()
  }
}

/// Sends rows in transactions of about a second each, with the note of how far they go.
private final class TableWriter {
  private(set) var unit: LoadBook.Unit
  private let table: Int
  private let book: LoadBook
  private let sender: OutsideSender
  private let copy: String
  private let monitor: RunMonitor
  private var clock: CheckpointClock
  /// Rows of the table when the transaction under way began; nil without one.
  private var rowsBefore: UInt64?

  init(_ table: Int, _ store: LoadStore, _ book: LoadBook, from unit: LoadBook.Unit, _ monitor: RunMonitor) {
    (self.table, self.book, self.unit) = (table, book, unit)
    sender = OutsideSender(store)
    let statements = PostgresStatements(schema: book.schema)
    copy = "COPY \(statements.name(table)) (\(statements.columnList(table))) FROM STDIN (FORMAT binary)"
    self.monitor = monitor
    clock = CheckpointClock(monitor.interval)
  }

  func write(_ buffer: CopyBuffer) throws {
    let missing = Set(buffer.remarks.missing.keys).subtracting(unit.remarks.missing.keys)
    if !missing.isEmpty { try commit() }
    if rowsBefore == nil { try begin(withoutValues: missing) }
    unit.digest.add(try sender.send(buffer, to: book.session))
    unit.rows += buffer.rows
    unit.position = buffer.lastRow
    unit.remarks.add(buffer.remarks)
    monitor.note { $0.bytes += UInt64(buffer.count) }
    if clock.isDue(adding: buffer.count) { try commit() }
  }

  /// The table is whole.
  func finish() throws {
    unit.isDone = true
    if rowsBefore == nil { try begin() }
    try commit()
  }

  /// Begins a transaction; `columns` are those in which its rows are the first without a value that the model requires.
  private func begin(withoutValues columns: Set<Int> = []) throws {
    try book.session.execute("BEGIN")
    if !columns.isEmpty {
      try book.session.execute(PostgresStatements(schema: book.schema).dropNotNull(table, columns.sorted()))
    }
    try book.session.beginCopy(copy)
    try CopyFormat.header.withUnsafeBytes { try book.session.send($0) }
    rowsBefore = unit.rows
  }

  private func commit() throws {
    guard let before = rowsBefore else { return }
    try CopyFormat.trailer.withUnsafeBytes { try book.session.send($0) }
    try book.session.endCopy()
    try book.note(unit, of: table, rowsBefore: before)
    try book.session.execute("COMMIT")
    rowsBefore = nil
    monitor.note { $0.checkpoints += 1 }
  }
}

/// What stands before and behind the rows of binary COPY (PostgreSQL, "COPY", Binary Format).
enum CopyFormat {
  static let signature: [UInt8] = Array("PGCOPY\n".utf8) + [0xFF, 0x0D, 0x0A, 0]
  /// The signature, no flags, no extension.
  static let header = signature + [0, 0, 0, 0, 0, 0, 0, 0]
  /// A row of -1 fields.
  static let trailer: [UInt8] = [0xFF, 0xFF]
}
