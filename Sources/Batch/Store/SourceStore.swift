import Streams

/// Opens a store that was written by others; one with a hot rollback journal is refused, since recovering it would write to
/// it (I1).
public enum SourceStore {
  /// Opens a store for reading. Throws ``BatchError``: `badStore` when it is missing or no Core Data store, `refused` when it
  /// has to be recovered first; and `StreamsError` (`locked`).
  public static func open(
    _ path: String, _ fileSystem: any FileSystem, locking: DatabaseSnapshot.Locking
  ) throws -> StoreReader {
    guard try fileSystem.status(path) != nil else {
      throw BatchError(.badStore, "there is no such file", hint: "Check the path of the store", path: path)
    }
    if try isHotJournal(path + "-journal", fileSystem) {
      throw BatchError(
        .refused, "the store has a rollback journal of an unfinished change",
        hint: "Open the store once with its application or with sqlite3, so that it is recovered; nothing was written",
        path: path + "-journal")
    }
    return try StoreReader(path: path, fileSystem: fileSystem, locking: locking)
  }

  /// A rollback journal that still has its header's magic number; a finished one is removed, cut or zeroed.
  /// Source of the rule: SQLite, "Database File Format", section 3.
  private static func isHotJournal(_ path: String, _ fileSystem: any FileSystem) throws -> Bool {
    guard let status = try fileSystem.status(path), status.size > 0 else { return false }
    let file = try fileSystem.open(path, .read)
    defer { file.close() }
    var magic = [UInt8](repeating: 0, count: 8)
    let count = try magic.withUnsafeMutableBytes { try file.read(into: $0, at: 0) }
    return count == 8 && magic == [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7]
  }
}
