import Migrations
import Streams

/// What a run copies of models into its directory before its first row.
struct ModelCopies {
  private static let deepest = 8

  /// Files and folders, each of which waits for the disk once.
  private(set) var names = 0
  private(set) var bytes: UInt64 = 0

  /// Nothing.
  init() {}

  /// The models at these paths. What cannot be looked at is not counted.
  init(_ paths: [String], _ fileSystem: any FileSystem) {
    for path in paths { add(path, fileSystem, depth: 0) }
  }

  private mutating func add(_ path: String, _ fileSystem: any FileSystem, depth: Int) {
    guard depth < Self.deepest, let status = try? fileSystem.status(path) else { return }
    names += 1
    guard status.isDirectory else {
      bytes += status.size
      return
    }
    for name in (try? fileSystem.list(path)) ?? [] { add(FilePaths.join(path, name), fileSystem, depth: depth + 1) }
  }
}
