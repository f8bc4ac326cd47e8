import RunSupport
import Streams

/// Opens a store that was written by others. One with a hot rollback journal is recovered on a private copy, since recovering
/// it in its place would write to it (I1).
public enum SourceStore {
  /// The note on a store that was opened on a recovered copy.
  public static let recoveryNote =
    "the store has the rollback journal of an unfinished change: the change was undone on a private copy, and the store is as it was"

  /// Opens a store for reading. `copyFolder` is where a recovered copy goes, the temporary directory without it; `logs` knows the
  /// store's `-wal` file from an earlier opening. Throws
  /// ``BatchError``: `noSuchFile` when it is missing, `badStore` when it is no Core Data store; and `StreamsError` (`locked`).
  public static func open(
    _ path: String, _ fileSystem: any FileSystem, locking: DatabaseSnapshot.Locking, forInspection: Bool = false,
    copyFolder: String? = nil, logs: LogMemory? = nil
  ) throws -> StoreReader {
    guard try fileSystem.status(path) != nil else {
      // A run's own source that has gone was not named wrongly.
      let code = copyFolder == nil ? BatchError.Code.noSuchFile : .badStore
      throw BatchError(code, "there is no such file", hint: "Check the path of the store", path: path)
    }
    let copy = try RecoveredCopy(of: path, fileSystem, locking: locking, folder: copyFolder)
    do {
      return try StoreReader(
        path: path, fileSystem: fileSystem, locking: locking, forInspection: forInspection, recovered: copy, logs: logs)
    } catch {
      copy?.remove()
      throw error
    }
  }
}
