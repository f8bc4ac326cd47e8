import Codecs
import GRDBSQLite
import RunSupport

/// Changes the property list of a store's metadata in place: through SQLite, in one transaction, with the store to
/// itself. Nothing but Z_PLIST of the one row in Z_METADATA is written; other keys of the list and Z_UUID stay as they
/// are.
public enum MetadataEditor {
  /// Replaces the entries by what `change` makes of them and returns the new metadata; durable on return. After an
  /// error the store is as it was.
  ///
  /// - Throws: ``BatchError``: `refused` when another program has the store open, when it cannot be written, when its
  ///   table has a trigger, or when the new list would be no metadata; `badStore` when there is none to change. What
  ///   `change` throws leaves as it is.
  public static func change(
    _ path: String, _ change: ([String: PropertyListValue]) throws -> [String: PropertyListValue]
  ) throws -> StoreMetadata {
    try BatchError.borderOfCaller {
      let connection = try MetadataConnection(path)
      // Before the first read, so that a store in WAL mode is locked by its file and no -shm appears.
      try connection.run("PRAGMA locking_mode = EXCLUSIVE")
      for pragma in ["foreign_keys = OFF", "synchronous = FULL"] {
        try connection.run("PRAGMA \(pragma)")
      }
      try connection.run("BEGIN EXCLUSIVE")
      do {
        try refuseTriggers(connection)
        let new = try replace(connection, change)
        try connection.run("COMMIT")
        return new
      } catch {
        try? connection.run("ROLLBACK")
        throw error
      }
    }
  }

  private static func replace(
    _ connection: MetadataConnection, _ change: ([String: PropertyListValue]) throws -> [String: PropertyListValue]
  ) throws -> StoreMetadata {
    let old = try read(connection)
    let bytes = PropertyListWriter.write(.dictionary(try CallersError.marking { try change(old.entries) }))
    let new: StoreMetadata
    do {
      new = try StoreMetadata(uuid: old.uuid, plist: bytes, path: connection.path)
    } catch let error as BatchError {
      throw BatchError(
        .refused, "the store would be none any more: \(error.message)", effect: .nothingWritten, path: connection.path)
    }
    guard bytes != old.encoded() else { return old }
    try connection.write(bytes)
    guard try read(connection).encoded() == bytes else {
      throw BatchError(
        .failed, "SQLite kept other metadata than it was given", effect: .nothingWritten, path: connection.path)
    }
    return new
  }

  /// Core Data never makes one here, and a foreign one could change anything.
  private static func refuseTriggers(_ connection: MetadataConnection) throws {
    let sql = "SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'Z_METADATA' COLLATE NOCASE"
    var names: [String] = []
    try connection.rows(sql) { names.append($0.text(0) ?? "") }
    guard names.isEmpty else {
      throw BatchError(
        .refused, "Z_METADATA has the trigger \(names.joined(separator: ", ")), which Core Data never makes",
        hint: "Remove the trigger first", effect: .nothingWritten, path: connection.path)
    }
  }

  private static func read(_ connection: MetadataConnection) throws -> StoreMetadata {
    var found: [StoreMetadata] = []
    try connection.rows("SELECT Z_UUID, Z_PLIST FROM Z_METADATA LIMIT 2") { row in
      guard let uuid = row.text(0) else { return }
      found.append(try StoreMetadata(uuid: uuid, plist: row.blob(1), path: connection.path))
    }
    guard found.count == 1 else {
      throw BatchError(
        .badStore, "Z_METADATA holds \(found.isEmpty ? "no" : "more than one") row of metadata",
        hint: "Open the store once with its application, or restore a backup", path: connection.path)
    }
    return found[0]
  }
}

/// A connection that may write, over SQLite's own functions: before its first statement nothing must have been read.
final class MetadataConnection {
  let path: String
  private let handle: OpaquePointer

  struct Row {
    let statement: OpaquePointer
    func text(_ column: Int32) -> String? { sqlite3_column_text(statement, column).map { String(cString: $0) } }
    func blob(_ column: Int32) -> [UInt8]? {
      guard let start = sqlite3_column_blob(statement, column) else { return nil }
      return Array(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, column))))
    }
  }

  init(_ path: String) throws {
    self.path = path
    var opened: OpaquePointer?
    let code = sqlite3_open_v2(path, &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nil)
    guard code == SQLITE_OK, let opened else {
      sqlite3_close(opened)
      throw BatchError(.refused, "SQLite cannot open the store (error \(code))", effect: .nothingWritten, path: path)
    }
    handle = opened
    // SQLite opens what it may not write for reading, and fails much later with an error of the disk.
    guard sqlite3_db_readonly(handle, "main") == 0 else {
      throw BatchError(
        .refused, "the store cannot be written: this user may only read it",
        hint: "Check the permissions of the store and of its folder, or change a copy", effect: .nothingWritten,
        path: path)
    }
    try GuardedConnection.harden(handle, path: path)
  }

  // Closing the only connection of a store in WAL mode brings its log into the main file.
  deinit { sqlite3_close_v2(handle) }

  func run(_ sql: String) throws { try rows(sql) { _ in } }

  func rows(_ sql: String, _ body: (Row) throws -> Void) throws {
    var statement: OpaquePointer?
    defer { sqlite3_finalize(statement) }
    try check(sqlite3_prepare_v2(handle, sql, -1, &statement, nil))
    guard let statement else { return }
    while true {
      let code = sqlite3_step(statement)
      if code == SQLITE_DONE { return }
      guard code == SQLITE_ROW else { throw failure(code) }
      try body(Row(statement: statement))
    }
  }

  func write(_ plist: [UInt8]) throws {
    var statement: OpaquePointer?
    defer { sqlite3_finalize(statement) }
    try check(sqlite3_prepare_v2(handle, "UPDATE main.Z_METADATA SET Z_PLIST = ?", -1, &statement, nil))
    // The bytes outlive the step, so SQLite needs no copy of them.
    let code = plist.withUnsafeBytes { bytes in
      sqlite3_bind_blob(statement, 1, bytes.baseAddress, Int32(bytes.count), nil) | sqlite3_step(statement)
    }
    guard code == SQLITE_DONE, sqlite3_changes(handle) == 1 else { throw failure(code) }
  }

  private func check(_ code: CInt) throws { if code != SQLITE_OK { throw failure(code) } }

  private func failure(_ code: CInt) -> BatchError {
    let message = "\(String(cString: sqlite3_errmsg(handle))) (SQLite error \(code))"
    switch code & 0xFF {
    case SQLITE_BUSY, SQLITE_LOCKED:
      return BatchError(
        .refused, "another program has this store open",
        hint: "Close the application that uses it and run again", effect: .nothingWritten, path: path)
    case SQLITE_READONLY, SQLITE_PERM, SQLITE_CANTOPEN:
      return BatchError(
        .refused, "the store cannot be written: \(message)",
        hint: "Check the permissions of the store and of its folder", effect: .nothingWritten, path: path)
    case SQLITE_CORRUPT, SQLITE_NOTADB:
      return BatchError(
        .badStore, "SQLite finds the store damaged: \(message)", hint: "Restore it from a backup", path: path)
    case SQLITE_IOERR:
      return BatchError(
        .failed, "\(message); the store is as it was",
        hint: "Check the disk, and the permissions of the store and of its folder", path: path)
    default: return BatchError(.failed, "\(message); the store is as it was", path: path)
    }
  }
}
