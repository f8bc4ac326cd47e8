import CoreDataModel
import RunSupport
import Streams

/// Model libraries that the process has read before, for many stores with the same models. One is read again when a
/// file of it is another one than it was: by size, time of change and inode.
enum KnownLibraries {
  private struct Seen: Hashable {
    var path: String
    var status: FileStatus?
  }

  private static let deepest = 8
  private static let known = Memo<[Seen], ModelLibrary>(limit: 4)

  static func library(_ paths: [String]) throws -> ModelLibrary {
    let documents = try paths.flatMap { try ModelReader.documents(below: $0) }
    let files = try documents.flatMap { try seen($0, depth: 0) }
    return try known.value(paths.map { Seen(path: $0, status: nil) } + files) { try ModelLibrary(paths: paths) }
  }

  private static func seen(_ path: String, depth: Int) throws -> [Seen] {
    let disk = LocalFileSystem()
    let status = try disk.status(path)
    guard status?.isDirectory == true, depth < deepest else { return [Seen(path: path, status: status)] }
    return try disk.list(path).flatMap { try seen(FilePaths.join(path, $0), depth: depth + 1) }
  }
}

extension ModelLibrary {
  /// The same as ``init(paths:)``, from memory where no file has changed since.
  ///
  /// - Throws: ``BatchError`` with the code `badModel` when a model cannot be read.
  package static func known(paths: [String]) throws -> ModelLibrary { try KnownLibraries.library(paths) }
}
