import RunSupport
import Streams

/// Opens a store that was written by others. One with a hot rollback journal is recovered on a private copy, since
/// recovering it in its place would write to it (I1).
public enum SourceStore {
  /// The note on a store that was opened on a recovered copy.
  public static let recoveryNote =
    "the store has the rollback journal of an unfinished change: the change was undone on a private copy, and the store is as it was"

  /// Opens a store for reading. `copyFolder` is where a recovered copy goes, the temporary directory without it; `logs`
  /// knows the store's `-wal` file from an earlier opening.
  ///
  /// - Throws: ``BatchError``: `noSuchFile` when it is missing, `badStore` when it is no Core Data store, and `locked`,
  ///   a code of the page engine, when another program has it open.
  public static func open(
    _ path: String, _ fileSystem: any FileSystem, locking: DatabaseSnapshot.Locking, forInspection: Bool = false,
    copyFolder: String? = nil, logs: LogMemory? = nil
  ) throws -> StoreReader {
    try BatchError.border {
      try opened(path, fileSystem, locking: locking, forInspection: forInspection, copyFolder: copyFolder, logs: logs)
    }
  }

  /// The same with the page engine's own errors, for those who wait for a lock.
  package static func opened(
    _ path: String, _ fileSystem: any FileSystem, locking: DatabaseSnapshot.Locking, forInspection: Bool = false,
    copyFolder: String? = nil, logs: LogMemory? = nil
  ) throws -> StoreReader {
    guard try fileSystem.status(path) != nil else {
      // A run's own source that has gone was not named wrongly.
      guard copyFolder != nil else { throw NearName.noSuchFile(path) }
      throw BatchError(.badStore, "there is no such file", hint: "Check the path of the store", path: path)
    }
    try refuseNoFile(path, fileSystem)
    let copy = try RecoveredCopy(of: path, fileSystem, locking: locking, folder: copyFolder)
    do {
      return try StoreReader(
        path: path, fileSystem: fileSystem, locking: locking, forInspection: forInspection, recovered: copy, logs: logs)
    } catch {
      copy?.remove()
      throw error
    }
  }

  /// - Throws: ``BatchError`` (`noSuchFile`) where a store was to be, and something is that is no file.
  package static func refuseNoFile(_ path: String, _ fileSystem: any FileSystem) throws {
    guard let status = try fileSystem.status(path), !status.isRegularFile else { return }
    throw BatchError(
      .noSuchFile, "this is \(status.isDirectory ? "a folder" : "no regular file"), not a store",
      hint: "Name the .sqlite file", path: path)
  }

  /// Whether a file is a sound database of another program. What is damaged may be a store.
  package static func isOtherDatabase(_ path: String, _ fileSystem: any FileSystem) -> Bool {
    do {
      let copy = try RecoveredCopy(of: path, fileSystem, locking: .shared, folder: nil)
      defer { copy?.remove() }
      return try !StoreReader.hasStoreTables(copy?.path ?? path, fileSystem, locking: copy == nil ? .shared : .none)
    } catch { return false }
  }
}
