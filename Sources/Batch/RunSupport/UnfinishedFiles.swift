import Foundation
import Streams

/// Files and folders of this process that nobody can use when it ends in the middle: a program that a signal ends
/// removes them before.
package enum UnfinishedFiles {
  private static let paths = UnfinishedPaths()
  private static let deepest = 32

  /// Removes a file, or a folder and what is in it, if the process is ended while the body works.
  package static func keeping<Result>(_ path: String, _ body: () throws -> Result) rethrows -> Result {
    add(path)
    defer { forget(path) }
    return try body()
  }

  /// The same for what is there longer than a body works: until it is removed or forgotten.
  package static func add(_ path: String) { paths.add(path) }

  /// The same for a folder that is made here. None is made once the process is being ended.
  ///
  /// Throws `stopped` then.
  package static func addFolder(_ path: String, in fileSystem: any FileSystem) throws {
    try paths.addFolder(path) { try fileSystem.makeDirectory(path) }
  }

  /// Somebody else has removed it, or it is finished.
  package static func forget(_ path: String) {
    paths.forget(path)
    TemporaryFolders.release(path)
  }

  /// Makes a folder for temporary files, which is gone when the body ends. `purpose` is a part of its name.
  package static func withFolder<Result>(
    _ purpose: String, in fileSystem: any FileSystem, _ body: (String) throws -> Result
  ) throws -> Result {
    let folder = try TemporaryFolders.make(purpose, in: fileSystem)
    defer { discard(folder, fileSystem) }
    return try body(folder)
  }

  /// Whether the process is being ended, as ``endProcess()`` said.
  package static var isProcessEnding: Bool { paths.isEnding }

  /// The process is being ended: nobody makes a temporary folder from then on.
  package static func endProcess() { paths.end() }

  /// A path in the temporary directory that nobody has.
  package static func temporaryPath(_ purpose: String) -> String {
    FilePaths.join(FileManager.default.temporaryDirectory.path, "godwit-\(purpose)-\(UUID().uuidString)")
  }

  /// Removes everything that is unfinished.
  package static func removeAll() {
    for path in paths.all {
      removeInUse(path)
      forget(path)
    }
  }

  /// Removes what another thread may still write to: a temporary folder loses its name first, so that no file is added.
  static func removeInUse(_ path: String) { remove(TemporaryFolders.takeAway(path) ?? path, LocalFileSystem()) }

  /// Removes what was added, and forgets it.
  package static func discard(_ path: String, _ fileSystem: any FileSystem) {
    remove(path, fileSystem)
    forget(path)
  }

  /// Removes a file, or a folder and what is in it. What cannot be removed stays; it is nobody's.
  package static func remove(_ path: String, _ fileSystem: any FileSystem) { remove(path, fileSystem, depth: deepest) }

  private static func remove(_ path: String, _ fileSystem: any FileSystem, depth: Int) {
    guard depth > 0, let status = try? fileSystem.statusOfName(path) else { return }
    guard status.isDirectory else {
      try? fileSystem.remove(path)
      return
    }
    // Whoever works in the folder may make one more file.
    for _ in 0..<3 {
      for name in (try? fileSystem.list(path)) ?? [] {
        remove(FilePaths.join(path, name), fileSystem, depth: depth - 1)
      }
      if (try? fileSystem.removeDirectory(path)) != nil { return }
    }
  }
}
