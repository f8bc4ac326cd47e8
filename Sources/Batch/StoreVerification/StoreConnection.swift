import CoreDataStore
import GRDBSQLite
import RunSupport
import Streams

/// A read-only connection to a finished store, over SQLite's own functions: the judge shares no code with the engine
/// that built the file, and a scan of millions of rows has no time for boxed values.
///
/// `immutable=1`: no lock is taken and no -wal or -shm appears, even for a file marked as WAL. Only one thread at a
/// time.
package final class StoreConnection {
  /// Bytes of page cache. Scans and merges run in order, so more does not help; two connections and their sorters stay
  /// well below the budget of a run (I7): 40 MiB of RSS at most, on a store of 2 GB.
  private static let cacheKilobytes = 2 << 10

  let path: String
  private let handle: OpaquePointer
  private let monitor: RunMonitor?
  private var watch: RunMonitor.Watch?

  /// Opens a store; queries end with an error when the monitor is asked to stop.
  package init(path: String, monitor: RunMonitor? = nil) throws {
    self.path = path
    self.monitor = monitor
    var opened: OpaquePointer?
    let flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
    let code = sqlite3_open_v2(Self.uri(path), &opened, flags, nil)
    guard code == SQLITE_OK, let opened else {
      sqlite3_close(opened)
      throw StoreFailure(code: code, message: "SQLite cannot open the file", path: path)
    }
    handle = opened
    // A name in quotes must never turn into a text when the column is missing.
    _disableDoubleQuotedStringLiterals(handle)
    try GuardedConnection.harden(handle, path: path)
    for pragma in ["query_only = ON", "cache_size = -\(Self.cacheKilobytes)"] { try rows("PRAGMA \(pragma)") { _ in } }
    // One statement can take a minute: it is interrupted, not waited for.
    nonisolated(unsafe) let interrupted = handle
    watch = monitor?.onStop { sqlite3_interrupt(interrupted) }
  }

  deinit {
    watch?.end()
    sqlite3_close_v2(handle)
  }

  /// The path as a URI: every byte that is not plain is escaped, so that a `?` or `#` in a name stays part of it.
  private static func uri(_ path: String) -> String {
    let plain = Set("/-._~ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8)
    let digits = Array("0123456789ABCDEF".utf8)
    var bytes: [UInt8] = []
    for byte in path.utf8 {
      bytes += plain.contains(byte) ? [byte] : [0x25, digits[Int(byte >> 4)], digits[Int(byte & 15)]]
    }
    return "file:" + String(decoding: bytes, as: UTF8.self) + "?immutable=1"
  }

  /// A name in quotes. Names come from models and stores, and may be hostile.
  package static func quoted(_ name: String) -> String {
    name.quoted(by: "\"")
  }

  /// Compiles a statement.
  package func statement(_ sql: String) throws -> StoreStatement {
    // A stop between two statements interrupts none.
    try monitor?.throwIfStopRequested()
    var statement: OpaquePointer?
    let code = sqlite3_prepare_v2(handle, sql, -1, &statement, nil)
    guard code == SQLITE_OK, let statement else { throw failure(code) }
    return StoreStatement(statement, connection: self)
  }

  /// Runs a query to its end, or until `body` throws.
  package func rows(_ sql: String, _ body: (StoreStatement) throws -> Void) throws {
    let statement = try statement(sql)
    while try statement.step() { try body(statement) }
  }

  /// Reports values of more bytes as too long, instead of reading them, in what `body` runs.
  func withLengthLimit<R>(_ bytes: Int32, _ body: () throws -> R) rethrows -> R {
    let before = sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, bytes)
    defer { sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, before) }
    return try body()
  }

  func failure(_ code: CInt) -> StoreFailure {
    StoreFailure(code: code, message: String(cString: sqlite3_errmsg(handle)), path: path)
  }
}

/// An error of SQLite's.
struct StoreFailure: Error, CustomStringConvertible {
  let code: CInt
  let message: String
  let path: String

  /// Whether the file itself is at fault. Then it is a finding; otherwise the verification cannot continue.
  var isDamage: Bool { [SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_ERROR, SQLITE_FORMAT].contains(code & 0xFF) }

  /// Whether a stop ended the query.
  var isInterrupt: Bool { code & 0xFF == SQLITE_INTERRUPT }

  /// Whether a value was longer than the connection may read.
  var isTooLong: Bool { code & 0xFF == SQLITE_TOOBIG }

  var description: String { "\(message) (SQLite error \(code))" }
}

/// A compiled query and its current row.
package final class StoreStatement {
  private let handle: OpaquePointer
  private let connection: StoreConnection

  init(_ handle: OpaquePointer, connection: StoreConnection) {
    self.handle = handle
    self.connection = connection
  }

  deinit { sqlite3_finalize(handle) }

  /// Goes to the next row; false after the last.
  package func step() throws -> Bool {
    switch sqlite3_step(handle) {
    case SQLITE_ROW: true
    case SQLITE_DONE: false
    case let code: throw connection.failure(code)
    }
  }

  func isNull(_ column: Int32) -> Bool { sqlite3_column_type(handle, column) == SQLITE_NULL }

  package func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }

  /// The number, unless the value is NULL or no integer.
  package func integerIfAny(_ column: Int32) -> Int64? {
    sqlite3_column_type(handle, column) == SQLITE_INTEGER ? sqlite3_column_int64(handle, column) : nil
  }

  package func text(_ column: Int32) -> String? {
    guard let text = sqlite3_column_text(handle, column) else { return nil }
    return String(cString: text)
  }

  func blob(_ column: Int32) -> [UInt8]? { isNull(column) ? nil : Array(bytes(column)) }

  /// The value, for as long as the statement stays on its row.
  package func cell(_ column: Int32) -> StoreCell {
    switch sqlite3_column_type(handle, column) {
    case SQLITE_INTEGER: .integer(sqlite3_column_int64(handle, column))
    case SQLITE_FLOAT: StoreCell(real: sqlite3_column_double(handle, column))
    case SQLITE_TEXT: .text(bytes(column))
    case SQLITE_BLOB: .blob(bytes(column))
    default: .null
    }
  }

  private func bytes(_ column: Int32) -> UnsafeRawBufferPointer {
    // The blob call hands out a text's bytes as they are; the text call would copy them to add a zero.
    let start = sqlite3_column_blob(handle, column)
    return UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : Int(sqlite3_column_bytes(handle, column)))
  }
}

extension StoreConnection {
  /// The schema, as SQLite gives it.
  func readSchema() throws -> StoreSchema {
    var found: [SchemaRow] = []
    try rows("PRAGMA encoding") { row in
      guard let encoding = row.text(0), encoding != "UTF-8" else { return }
      throw BatchError(
        .badStore, "the database holds \(encoding) text, which no Core Data store does",
        hint: "Convert the file to UTF-8 with SQLite first", path: path)
    }
    let limit = StoreSchema.maximumRows + 1
    try rows("SELECT type, name, tbl_name, rootpage, sql FROM sqlite_master LIMIT \(limit)") { row in
      found.append(
        SchemaRow(
          type: row.text(0) ?? "", name: row.text(1) ?? "", tableName: row.text(2) ?? "",
          rootPage: UInt32(exactly: row.integer(3)) ?? 0, sql: row.text(4)))
    }
    return try StoreSchema(rows: found, path: path)
  }
}
