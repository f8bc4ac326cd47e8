import LoadTables
import RunSupport
import Streams

/// Loads the rows of one unit: the caller's thread encodes pages of rows; others read them ahead, and send and commit
/// what was encoded. After an interruption it continues after the last row that was committed (I14).
struct TableLoad {
  let store: LoadStore
  let book: LoadBook
  let rowLimit: Int
  let monitor: RunMonitor
  /// Throws when another unit has failed.
  let throwIfFailed: @Sendable () throws -> Void

  /// Sendable by discipline: one thread has it at a time.
  private struct Handed<Value>: @unchecked Sendable { let value: Value }

  private struct Page: Sendable {
    var rows: RowPage
    var bytesRead: UInt64
  }

  /// Loads all rows after the unit's position; all of them are durable on return. `told` hears how many more bytes of
  /// the source were read and rows sent, on another thread.
  func run(_ number: Int, unit: LoadBook.Unit, told: @escaping @Sendable (_ bytes: UInt64, _ rows: UInt64) -> Void)
    throws
  {
    let source = SourceRows(store, book.schema.tables[unit.table], rowLimit: rowLimit)
    if let position = unit.position { try source.expect(position, after: position == .min ? nil : position - 1) }
    let scan = Handed(value: try PartScan(source, after: unit.position ?? unit.after, upTo: unit.upTo))
    let encoder = CopyRowEncoder(book.schema.tables[unit.table], store)
    let writer = Handed(value: TableWriter(number, unit: unit, store: store, book: book, monitor: monitor))
    let pages = BoundedQueue<RowPage>(capacity: 16)
    let buffers = BoundedQueue<CopyBuffer>(capacity: 16)
    try Pipeline<Page, CopyBuffer>.run(
      read: {
        let (page, before) = (pages.tryPop() ?? RowPage(), scan.value.bytesRead)
        guard try scan.value.next(into: page) else { return nil }
        return Page(rows: page, bytesRead: scan.value.bytesRead - before)
      },
      transform: { [monitor, throwIfFailed] page in
        try throwIfFailed()
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
        told(buffer.bytesRead, buffer.rows)
        try buffers.push(buffer)
      })
    try writer.value.finish()
  }
}

/// Sends rows in transactions of about a second each, with the note of how far they go.
private final class TableWriter {
  private var unit: LoadBook.Unit
  private let number: Int
  private let book: LoadBook
  private let sender: OutsideSender
  private let copy: String
  private let monitor: RunMonitor
  private var clock: CheckpointClock
  /// Rows of the unit when the transaction under way began; nil without one.
  private var rowsBefore: UInt64?

  init(_ number: Int, unit: LoadBook.Unit, store: LoadStore, book: LoadBook, monitor: RunMonitor) {
    (self.number, self.unit, self.book, self.monitor) = (number, unit, book, monitor)
    sender = OutsideSender(store)
    let statements = PostgresStatements(schema: book.schema)
    copy = "COPY \(statements.name(unit.table)) (\(statements.columnList(unit.table))) FROM STDIN (FORMAT binary)"
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

  /// The unit is whole.
  func finish() throws {
    unit.isDone = true
    if rowsBefore == nil { try begin() }
    try commit()
  }

  /// Begins a transaction; `columns` are those in which its rows are the first without a value that the model requires.
  private func begin(withoutValues columns: Set<Int> = []) throws {
    try book.session.execute("BEGIN")
    if !columns.isEmpty {
      try book.session.execute(PostgresStatements(schema: book.schema).dropNotNull(unit.table, columns.sorted()))
    }
    try book.session.beginCopy(copy)
    try CopyFormat.header.withUnsafeBytes { try book.session.send($0) }
    rowsBefore = unit.rows
  }

  private func commit() throws {
    guard let before = rowsBefore else { return }
    try CopyFormat.trailer.withUnsafeBytes { try book.session.send($0) }
    let taken = try book.session.endCopy()
    guard taken == unit.rows - before else {
      throw book.miscount(of: unit.table, sent: unit.rows - before, taken: taken)
    }
    try book.note(unit, number, rowsBefore: before)
    try book.session.execute("COMMIT")
    rowsBefore = nil
    monitor.note { $0.checkpoints += 1 }
  }
}

/// What stands before and after the rows of binary COPY (PostgreSQL, "COPY", Binary Format).
enum CopyFormat {
  static let signature: [UInt8] = Array("PGCOPY\n".utf8) + [0xFF, 0x0D, 0x0A, 0]
  /// The signature, no flags, no extension.
  static let header = signature + [0, 0, 0, 0, 0, 0, 0, 0]
  /// A row of -1 fields.
  static let trailer: [UInt8] = [0xFF, 0xFF]
}
