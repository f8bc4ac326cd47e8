import Foundation
import Streams

/// A directory of one test, removed when the test ends.
final class FilesTestFolder: Sendable {
  let path: String

  init() throws {
    path = FileManager.default.temporaryDirectory.appendingPathComponent("godwit-\(UUID().uuidString)").path
    try LocalFileSystem().makeDirectory(path)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func file(_ name: String) -> String { FilePaths.join(path, name) }
}

extension FileSystem {
  /// Writes a small file without any promise.
  func put(_ text: String, _ path: String) throws { try writeAndSync(Array(text.utf8), to: path) }

  func text(_ path: String) throws -> String { String(decoding: try readAll(path, cap: 1 << 20), as: UTF8.self) }
}
