import GRDBSQLite
import Streams

/// SQLite itself on a database in memory, by its C functions: thousands of cases have no time for more.
final class MemoryDatabase {
  struct Failure: Error, CustomStringConvertible { let description: String }

  private let handle: OpaquePointer

  /// An empty database, or one of the bytes of a file.
  init(_ bytes: UnsafeRawBufferPointer? = nil) throws {
    var opened: OpaquePointer?
    guard sqlite3_open_v2(":memory:", &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nil) == SQLITE_OK,
      let opened
    else {
      throw Failure(description: "SQLite does not open")
    }
    handle = opened
    guard let bytes, let memory = sqlite3_malloc64(UInt64(bytes.count)) else { return }
    memory.copyMemory(from: bytes.baseAddress!, byteCount: bytes.count)
    let flags = UInt32(SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_RESIZEABLE)
    let size = Int64(bytes.count)
    try check(
      sqlite3_deserialize(handle, "main", memory.assumingMemoryBound(to: UInt8.self), size, size, flags), "deserialize")
  }

  deinit { sqlite3_close_v2(handle) }

  private func check(_ code: Int32, _ what: String) throws {
    guard code == SQLITE_OK || code == SQLITE_DONE || code == SQLITE_ROW else {
      throw Failure(description: "\(String(cString: sqlite3_errmsg(handle))) in \(what)")
    }
  }

  func execute(_ sql: String) throws { try check(sqlite3_exec(handle, sql, nil, nil, nil), sql) }

  /// Leaves bytes at the end of every page unused; before the first table.
  func reserve(_ bytes: Int) throws {
    var count = Int32(bytes)
    try check(sqlite3_file_control(handle, "main", SQLITE_FCNTL_RESERVE_BYTES, &count), "reserve")
  }

  /// The bytes of the database's file.
  func bytes() throws -> [UInt8] {
    var size: Int64 = 0
    guard let start = sqlite3_serialize(handle, "main", &size, 0) else { throw Failure(description: "no bytes") }
    defer { sqlite3_free(start) }
    return [UInt8](UnsafeBufferPointer(start: start, count: Int(size)))
  }

  func statement(_ sql: String) throws -> Statement { Statement(try prepare(sql), handle, sql) }

  private func prepare(_ sql: String) throws -> OpaquePointer {
    var prepared: OpaquePointer?
    try check(sqlite3_prepare_v2(handle, sql, -1, &prepared, nil), sql)
    return prepared!
  }

  func text(_ sql: String) throws -> String {
    let statement = try statement(sql)
    guard try statement.step(), case .text(let text) = statement.value(0) else { return "" }
    return text
  }

  /// What the integrity check says: "ok", or the first complaint.
  func integrity() throws -> String { try text("PRAGMA integrity_check(1)") }
}

/// A prepared statement.
final class Statement {
  private let handle: OpaquePointer
  private let database: OpaquePointer
  private let sql: String

  init(_ handle: OpaquePointer, _ database: OpaquePointer, _ sql: String) {
    (self.handle, self.database, self.sql) = (handle, database, sql)
  }
  deinit { sqlite3_finalize(handle) }

  var columnCount: Int { Int(sqlite3_column_count(handle)) }

  func step() throws -> Bool {
    let code = sqlite3_step(handle)
    guard code == SQLITE_ROW || code == SQLITE_DONE else {
      throw MemoryDatabase.Failure(description: "\(String(cString: sqlite3_errmsg(database))) in \(sql)")
    }
    return code == SQLITE_ROW
  }

  /// Runs the statement once with these values.
  func run(_ values: [Value]) throws {
    sqlite3_reset(handle)
    let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
    for (index, value) in values.enumerated() {
      let position = Int32(index + 1)
      switch value {
      case .null: sqlite3_bind_null(handle, position)
      case .integer(let integer): sqlite3_bind_int64(handle, position, integer)
      case .real(let real): sqlite3_bind_double(handle, position, real)
      case .text(var text):
        text.withUTF8 { bytes in
          _ = bytes.withMemoryRebound(to: CChar.self) {
            sqlite3_bind_text(handle, position, $0.baseAddress, Int32($0.count), transient)
          }
        }
        if text.isEmpty { sqlite3_bind_text(handle, position, "", 0, transient) }
      case .blob(let bytes):
        if bytes.isEmpty { sqlite3_bind_zeroblob(handle, position, 0) }
        if !bytes.isEmpty { sqlite3_bind_blob(handle, position, bytes, Int32(bytes.count), transient) }
      }
    }
    while try step() {}
  }

  func isNull(_ column: Int) -> Bool { sqlite3_column_type(handle, Int32(column)) == SQLITE_NULL }
  func integer(_ column: Int) -> Int64 { sqlite3_column_int64(handle, Int32(column)) }

  func value(_ column: Int) -> Value {
    switch sqlite3_column_type(handle, Int32(column)) {
    case SQLITE_INTEGER: .integer(integer(column))
    case SQLITE_FLOAT: .real(sqlite3_column_double(handle, Int32(column)))
    case SQLITE_TEXT: .text(String(decoding: bytes(column), as: UTF8.self))
    case SQLITE_BLOB: .blob([UInt8](bytes(column)))
    default: .null
    }
  }

  private func bytes(_ column: Int) -> UnsafeRawBufferPointer {
    let position = Int32(column)
    let isText = sqlite3_column_type(handle, position) == SQLITE_TEXT
    let start = isText ? UnsafeRawPointer(sqlite3_column_text(handle, position)) : sqlite3_column_blob(handle, position)
    return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, position)))
  }

  /// Is the column the value of a record with that type and body? In a REAL column whole numbers are stored as
  /// integers.
  func equals(_ column: Int, type: UInt64, body: UnsafeRawBufferPointer, isReal: Bool) -> Bool {
    switch sqlite3_column_type(handle, Int32(column)) {
    case SQLITE_NULL: return type == SerialType.null
    case SQLITE_INTEGER:
      return SerialType.isInteger(type)
        && SerialType.readInteger(type, body.baseAddress ?? Self.nothing) == integer(column)
    case SQLITE_FLOAT:
      let found = sqlite3_column_double(handle, Int32(column))
      guard type != SerialType.real else {
        return body.loadUnaligned(as: UInt64.self).bigEndian == found.bitPattern
      }
      guard isReal, SerialType.isInteger(type) else { return false }
      return Double(SerialType.readInteger(type, body.baseAddress ?? Self.nothing)) == found
    case SQLITE_TEXT: return SerialType.isText(type) && bytes(column).elementsEqual(body)
    default: return SerialType.isBlob(type) && bytes(column).elementsEqual(body)
    }
  }

  private static var nothing: UnsafeRawPointer { UnsafeRawPointer(bitPattern: 8)! }

  /// Is the row of another statement the same in every type and bit?
  func equals(_ other: Statement) -> Bool {
    (0..<Int32(columnCount)).allSatisfy { column in
      let type = sqlite3_column_type(handle, column)
      guard type == sqlite3_column_type(other.handle, column) else { return false }
      switch type {
      case SQLITE_NULL: return true
      case SQLITE_INTEGER: return sqlite3_column_int64(handle, column) == sqlite3_column_int64(other.handle, column)
      case SQLITE_FLOAT:
        return sqlite3_column_double(handle, column).bitPattern
          == sqlite3_column_double(other.handle, column).bitPattern
      default: return bytes(Int(column)).elementsEqual(other.bytes(Int(column)))
      }
    }
  }
}
