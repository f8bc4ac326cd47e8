import CoreDataStore
import RunSupport
import Streams

/// A store as one file, for those who read one file alone: the store itself, or a private copy in the temporary
/// directory, where its last changes are in a log beside it, or an unfinished one is to be taken back. Nothing is
/// written to the store or beside it.
public final class SettledStore: Sendable {
  /// The store's own path.
  public let original: String
  /// The file to read.
  public let path: String
  /// The note on a copy; nil for the store itself.
  public let note: String?
  private let folder: String?
  private let recovered: RecoveredCopy?
  private let fileSystem: any FileSystem

  /// Looks at a store, and copies it where that must be, while nobody may write to it.
  ///
  /// - Throws: ``BatchError``: `noSuchFile`, `refused` where there is no room, `badStore`, and the page engine's
  ///   `locked`.
  public init(_ path: String, _ fileSystem: any FileSystem = LocalFileSystem()) throws {
    do {
      (original, self.fileSystem) = (path, fileSystem)
      guard try fileSystem.status(path) != nil else {
        throw NearName.noSuchFile(path)
      }
      try SourceStore.refuseNoFile(path, fileSystem)
      recovered = try RecoveredCopy(of: path, fileSystem, locking: .shared, folder: nil)
      if let recovered {
        (self.path, note, folder) = (recovered.path, SourceStore.recoveryNote, nil)
        return
      }
      guard let folder = try Self.copyWithLog(path, fileSystem) else {
        (self.path, note, self.folder) = (path, nil, nil)
        return
      }
      (self.path, self.folder) = (Self.copy(in: folder), folder)
      note = "the store has changes in its -wal file: they were included on a private copy, and the store is as it was"
    } catch { throw BatchError(wrapping: error) }
  }

  private static func copy(in folder: String) -> String { FilePaths.join(folder, "store.sqlite") }

  /// Nil if no committed change is in a log.
  private static func copyWithLog(_ path: String, _ fileSystem: any FileSystem) throws -> String? {
    guard let log = try fileSystem.status(path + "-wal"), log.size > 0 else { return nil }
    let snapshot = try DatabaseSnapshot(path: path, fileSystem: fileSystem, locking: .exclusive)
    defer { snapshot.close() }
    guard snapshot.logFrames > 0 else { return nil }
    let folder = try TemporaryFolders.make("verification", in: fileSystem)
    do {
      let needed = UInt64(snapshot.pageCount) * UInt64(snapshot.geometry.pageSize)
      let free = try fileSystem.availableSpace(folder)
      guard free >= needed else {
        throw BatchError(
          .refused,
          "a copy with the changes of the -wal file needs \(needed >> 20) MiB in \(folder), \(free >> 20) MiB are free",
          hint: "Set TMPDIR to a folder on a larger disk", effect: .nothingWritten, path: path)
      }
      let file = try fileSystem.open(copy(in: folder), .create)
      defer { file.close() }
      try snapshot.copy(to: file)
      return folder
    } catch {
      UnfinishedFiles.discard(folder, fileSystem)
      throw error
    }
  }

  /// Errors of `body` name the store and not its copy.
  ///
  /// - Throws: ``BatchError``.
  public func naming<R>(_ body: () throws -> R) throws -> R {
    do { return try body() } catch let error where error is BatchError || error is StreamsError {
      var error = BatchError(wrapping: error)
      if error.path == path { error.path = original }
      throw error
    }
  }

  /// Removes the copy, if there is one.
  public func close() {
    recovered?.remove()
    if let folder { UnfinishedFiles.discard(folder, fileSystem) }
  }
}
