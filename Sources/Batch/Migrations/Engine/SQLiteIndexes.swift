import CoreDataStore
import GRDB
import GRDBSQLite
import RunSupport
import Streams

/// Who builds the indexes of a finished store.
public enum IndexBuilding: String, Codable, Sendable, CaseIterable {
  /// The page engine, from keys that it sorts.
  case engine
  /// SQLite, by its own sorter: slower, and sure to be in SQLite's order. The file's bytes differ from the engine's.
  case sqlite
}

/// Fills the empty indexes of a store that is complete except for them, through SQLite.
///
/// There is no journal: after a crash the run begins the indexes again, on a file that is cut to its last checkpoint.
/// So the file must not be marked as WAL, for which SQLite would make a log.
struct SQLiteIndexes {
  let path: String
  let memory: MemoryBudget
  let monitor: RunMonitor

  /// Fills them one by one, within half of the memory for sorting; `body` is called after each with the number of those
  /// that are filled, and ends the work by an error.
  func fill(_ names: [String], _ body: (Int) throws -> Void) throws {
    let queue = try DatabaseQueue(path: path)
    try queue.writeWithoutTransaction { db in
      _ = try String.fetchAll(db, sql: "PRAGMA journal_mode = OFF")
      try db.execute(
        sql: "PRAGMA synchronous = OFF; PRAGMA temp_store = FILE; PRAGMA cache_size = -\(memory.sortBytes >> 11)")
      // Behind the journal, which a guarded connection keeps.
      try GuardedConnection.harden(db.sqliteConnection, path: path)
      nonisolated(unsafe) let handle = db.sqliteConnection
      let watch = monitor.onStop { sqlite3_interrupt(handle) }
      defer { watch.end() }
      for (position, name) in names.enumerated() {
        do {
          try db.execute(sql: "REINDEX \(name.quotedDatabaseIdentifier)")
        } catch let error as DatabaseError where error.resultCode == .SQLITE_INTERRUPT {
          try monitor.throwIfStopRequested()
          throw error
        } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {
          throw BatchError(
            .policyFailed, "two rows have equal values under the unique index \(name)",
            hint: "Make the values distinct in a policy; without --index-builder sqlite both rows are named",
            cause: error)
        }
        try body(position + 1)
      }
    }
    try queue.close()
  }

  /// Writes the journal mode into the header and makes the file durable.
  func finish(_ version: DatabaseHeader.Version, _ fileSystem: any FileSystem) throws {
    let file = try fileSystem.open(path, .update)
    defer { file.close() }
    try [version.rawValue, version.rawValue].withUnsafeBytes { try file.write($0, at: 18) }
    try file.sync()
  }
}
