import GRDB
import RunSupport
import Streams

/// A private copy of a store with a hot rollback journal, on which SQLite took the unfinished change back. The store
/// itself is only read, under its locks, for as long as the copy exists (I1).
///
/// The same store and journal always give the same copy, so that a run which is resumed finds its source unchanged.
package final class RecoveredCopy: Sendable {
  /// The copy's main file.
  package let path: String
  private let folder: String
  private let source: any File
  private let fileSystem: any FileSystem
  private static let suffixes = ["", "-wal", "-journal"]

  /// Copies and recovers; nil when no change is unfinished. `folder` is made for the copy, in the temporary directory
  /// without one. Throws ``BatchError`` (`refused`) if there is no room, and `badStore` where SQLite cannot recover.
  package init?(
    of path: String, _ fileSystem: any FileSystem, locking: Streams.DatabaseSnapshot.Locking, folder: String?
  ) throws {
    guard try Self.isHot(path + "-journal", fileSystem) else { return nil }
    source = try Streams.DatabaseSnapshot.hold(path, in: fileSystem, locking)
    // Under the lock once more: whoever wrote may have ended meanwhile.
    guard try Self.isHot(path + "-journal", fileSystem) else {
      source.close()
      return nil
    }
    self.fileSystem = fileSystem
    do {
      self.folder = try folder ?? TemporaryFolders.make("recovery", in: fileSystem)
      // A temporary one may be gone again, as the process is being ended.
      if let folder { try fileSystem.makeDirectory(folder) }
    } catch {
      source.close()
      throw error
    }
    self.path = FilePaths.join(self.folder, "store.sqlite")
    do {
      try copy(path)
      try recover(path)
    } catch {
      remove()
      throw error
    }
  }

  /// A rollback journal that still has its header's magic number; a finished one is removed, cut or zeroed.
  /// Source of the rule: SQLite, "Database File Format", section 3.
  private static func isHot(_ path: String, _ fileSystem: any FileSystem) throws -> Bool {
    guard let status = try fileSystem.status(path), status.size > 0 else { return false }
    let file = try fileSystem.open(path, .read)
    defer { file.close() }
    var magic = [UInt8](repeating: 0, count: 8)
    let count = try magic.withUnsafeMutableBytes { try file.read(into: $0, at: 0) }
    return count == 8 && magic == [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7]
  }

  private func copy(_ original: String) throws {
    let sizes = try Self.suffixes.map { try fileSystem.status(original + $0)?.size }
    let (free, needed) = (try fileSystem.availableSpace(folder), sizes.reduce(0) { $0 + ($1 ?? 0) })
    guard free >= needed else {
      throw BatchError(
        .refused, "recovering the store on a copy needs \(needed >> 20) MiB in \(folder), \(free >> 20) MiB are free",
        hint: "Set TMPDIR to a larger disk, or open the store once with its application", effect: .nothingWritten,
        path: original)
    }
    for (suffix, size) in zip(Self.suffixes, sizes) {
      try fileSystem.remove(path + suffix)
      if size != nil { try copy(original + suffix, to: path + suffix) }
    }
  }

  private func copy(_ original: String, to target: String) throws {
    let (from, to) = (try fileSystem.open(original, .read), try fileSystem.open(target, .create))
    defer {
      from.close()
      to.close()
    }
    var buffer = [UInt8](repeating: 0, count: 1 << 20)
    var offset: UInt64 = 0
    while true {
      let count = try buffer.withUnsafeMutableBytes { try from.read(into: $0, at: offset) }
      guard count > 0 else { return }
      try buffer.withUnsafeBytes { try to.write(UnsafeRawBufferPointer(rebasing: $0[0..<count]), at: offset) }
      offset += UInt64(count)
    }
  }

  /// SQLite recovers when it first reads.
  private func recover(_ original: String) throws {
    do {
      let queue = try DatabaseQueue(path: path, configuration: GuardedConnection.configuration)
      _ = try queue.inDatabase { try Int.fetchOne($0, sql: "SELECT count(*) FROM sqlite_schema") }
      try queue.close()
    } catch let error as DatabaseError {
      throw BatchError(
        .badStore, "SQLite cannot take the unfinished change back", hint: "Restore the store from a backup",
        path: original,
        cause: error)
    }
    guard try !Self.isHot(path + "-journal", fileSystem) else {
      throw BatchError(
        .badStore, "SQLite did not take the unfinished change back", hint: "Open the store once with its application",
        path: original)
    }
  }

  /// Removes the copy and gives the store's locks back. What cannot be removed stays; it is nobody's.
  package func remove() {
    UnfinishedFiles.discard(folder, fileSystem)
    source.close()
  }
}
