import CSQLiteGuard
import GRDB
import GRDBSQLite
import RunSupport

/// How SQLite is opened everywhere: nothing in a file that others made can run functions of an application, load
/// extensions, attach another file, or write anything but rows.
package enum GuardedConnection {
  /// Defensive mode, no trusted schema, no extensions, nothing attached; cells are checked before they are used, and no
  /// file is mapped, so that one that is cut off meanwhile is an error and not a trap.
  ///
  /// In defensive mode a journal cannot be turned off: who needs that does so before.
  package static func harden(_ handle: OpaquePointer?, path: String?) throws {
    var code = godwit_guard(handle.map(UnsafeMutableRawPointer.init))
    _ = sqlite3_limit(handle, SQLITE_LIMIT_ATTACHED, 0)
    for pragma in ["PRAGMA cell_size_check = ON", "PRAGMA mmap_size = 0"] where code == SQLITE_OK {
      code = sqlite3_exec(handle, pragma, nil, nil, nil)
    }
    guard code == SQLITE_OK else {
      throw BatchError(.failed, "SQLite cannot be made safe (error \(code))", effect: .nothingWritten, path: path)
    }
  }

  /// A configuration for GRDB's connections.
  package static var configuration: Configuration {
    var configuration = Configuration()
    configuration.prepareDatabase { try harden($0.sqliteConnection, path: nil) }
    return configuration
  }
}
