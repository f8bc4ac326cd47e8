import CoreDataStore
import GRDB
import GRDBSQLite
import RunSupport

/// Makes a store whole in its main file, through SQLite: the one place where a source is written, and only at the
/// cut-over of a migration in place (I1).
enum OldStore {
  /// Recovers a hot journal or copies every frame of the WAL into the main file and syncs it, then calls `record` while
  /// the connection keeps writers out of the WAL's end. The WAL stays, complete, for the caller to remove.
  static func makeWhole(_ path: String, record: () throws -> Void) throws {
    var configuration = GuardedConnection.configuration
    configuration.busyMode = .timeout(2)
    let queue: DatabaseQueue
    do {
      queue = try DatabaseQueue(path: path, configuration: configuration)
    } catch {
      throw failure(error, path)
    }
    defer { try? queue.close() }
    try queue.inDatabase { db in
      do {
        try keepWAL(db)
        try db.execute(sql: "PRAGMA synchronous = FULL")
        try checkpoint(db, path)
        // A write lock, so that the state that is recorded is the one that was brought about.
        try db.execute(sql: "BEGIN IMMEDIATE")
      } catch let error as DatabaseError {
        throw failure(error, path)
      }
      defer { try? db.execute(sql: "ROLLBACK") }
      try record()
    }
  }

  /// Closing the last connection must not remove the WAL: until the new state is recorded it is the proof that nobody
  /// else wrote.
  private static func keepWAL(_ db: Database) throws {
    var flag: CInt = 1
    let code = sqlite3_file_control(db.sqliteConnection, "main", SQLITE_FCNTL_PERSIST_WAL, &flag)
    guard code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
  }

  /// FULL and not TRUNCATE: it copies and syncs everything but leaves the WAL's bytes as they are.
  private static func checkpoint(_ db: Database, _ path: String) throws {
    guard let row = try Row.fetchOne(db, sql: "PRAGMA wal_checkpoint(FULL)") else { return }
    let (isBusy, frames, copied): (Int, Int, Int) = (row[0], row[1], row[2])
    guard isBusy == 0, frames == copied else { throw CutOver.inUse(path) }
  }

  private static func failure(_ error: any Error, _ path: String) -> BatchError {
    switch (error as? DatabaseError)?.resultCode {
    case .SQLITE_BUSY?, .SQLITE_LOCKED?:
      CutOver.inUse(path)
    default:
      BatchError(
        .badStore, "SQLite cannot bring the old store into one file", hint: "It is left as it is", path: path,
        cause: error)
    }
  }
}
