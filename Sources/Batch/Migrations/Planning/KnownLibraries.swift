import CoreDataModel
import RunSupport
import Streams

/// Model libraries that the process has read before, for many stores with the same models.
enum KnownLibraries {
  private enum Seen: Hashable {
    case file(String, FileStatus?)
    /// What a ``ModelFormat`` says of paths.
    case mark(String)
  }

  private static let deepest = 8
  private static let known = Memo<[Seen], ModelLibrary>(limit: 4)

  /// The library of these models. Xcode's are read again when a file of them is another one than it was: by size, time
  /// of change and inode. Others are when their mark differs. Throws ``BatchError`` as the readers of models do.
  static func library(_ sources: [ModelSource]) throws -> ModelLibrary {
    try known.value(try sources.flatMap(seen)) { ModelLibrary(bundles: try sources.flatMap { try $0.bundles() }) }
  }

  private static func seen(_ source: ModelSource) throws -> [Seen] {
    switch source {
    case .document(let path): try seen(path, depth: 0)
    case .others(let paths, let format): [.mark(try format.mark(of: paths))]
    }
  }

  private static func seen(_ path: String, depth: Int) throws -> [Seen] {
    let disk = LocalFileSystem()
    let status = try disk.status(path)
    guard status?.isDirectory == true, depth < deepest else { return [.file(path, status)] }
    return try disk.list(path).flatMap { try seen(FilePaths.join(path, $0), depth: depth + 1) }
  }
}
