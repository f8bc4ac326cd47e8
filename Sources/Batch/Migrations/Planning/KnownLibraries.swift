import CoreDataModel
import RunSupport
import Streams

/// Model libraries that the process has read before, for many stores with the same models.
enum KnownLibraries {
  private struct Seen: Hashable {
    var path: String
    var status: FileStatus?
  }

  private static let deepest = 8
  private static let known = Memo<[Seen], ModelLibrary>(limit: 4)

  /// The library of these models. They are read again when a file of them is another one than it was: by size, time of
  /// change and inode. Throws ``BatchError`` as the readers of models do.
  static func library(_ documents: [String]) throws -> ModelLibrary {
    try known.value(try documents.flatMap { try seen($0, depth: 0) }) {
      ModelLibrary(
        bundles: try documents.map { try StoreDocument.isStore($0) ? StoreDocument.bundle($0) : ModelReader.bundle($0) }
      )
    }
  }

  private static func seen(_ path: String, depth: Int) throws -> [Seen] {
    let disk = LocalFileSystem()
    let status = try disk.status(path)
    guard status?.isDirectory == true, depth < deepest else {
      // What a store says may be in its log.
      let files = try depth == 0 && StoreDocument.isStore(path) ? ["", "-wal", "-journal"] : [""]
      return try files.map { Seen(path: path + $0, status: try disk.status(path + $0)) }
    }
    return try disk.list(path).flatMap { try seen(FilePaths.join(path, $0), depth: depth + 1) }
  }
}
