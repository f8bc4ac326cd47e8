import Foundation
import Streams
import Synchronization

/// Files and folders of this process that nobody can use when it ends in the middle: a program that a signal ends
/// removes them before.
package enum UnfinishedFiles {
  private static let paths = Mutex<Set<String>>([])

  /// Removes a file, or a folder and what is in it, if the process is ended while the body works.
  package static func keeping<Result>(_ path: String, _ body: () throws -> Result) rethrows -> Result {
    _ = paths.withLock { $0.insert(path) }
    defer { _ = paths.withLock { $0.remove(path) } }
    return try body()
  }

  /// Makes a folder for temporary files, which is gone when the body ends. `purpose` is a part of its name.
  package static func withFolder<Result>(
    _ purpose: String, in fileSystem: any FileSystem, _ body: (String) throws -> Result
  ) throws -> Result {
    let name = "godwit-\(purpose)-\(UUID().uuidString)"
    let folder = FilePaths.join(FileManager.default.temporaryDirectory.path, name)
    return try keeping(folder) {
      try fileSystem.makeDirectory(folder)
      defer { remove(folder, fileSystem) }
      return try body(folder)
    }
  }

  /// Removes everything that is unfinished.
  package static func removeAll() {
    for path in paths.withLock({ $0 }) { remove(path, LocalFileSystem()) }
  }

  private static func remove(_ path: String, _ fileSystem: any FileSystem) {
    guard let status = try? fileSystem.statusOfName(path) else { return }
    guard status.isDirectory else {
      try? fileSystem.remove(path)
      return
    }
    // Whoever works in the folder may make one more file.
    for _ in 0..<3 {
      for name in (try? fileSystem.list(path)) ?? [] { try? fileSystem.remove(FilePaths.join(path, name)) }
      if (try? fileSystem.removeDirectory(path)) != nil { return }
    }
  }
}
