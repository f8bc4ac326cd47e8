import Streams

/// A file that gets its name when it is whole. It is built under another one, and after an error nothing of it is left.
package struct NewFile {
  /// The suffix of what is made in one go, and of use to nobody before it is whole.
  package static let part = ".part"

  package let path: String
  /// Where it is built. What a run that was killed left there is replaced.
  package let working: String
  private let fileSystem: any FileSystem

  /// The file is built as `path` and the suffix.
  package init(_ path: String, working suffix: String, _ fileSystem: any FileSystem) {
    (self.path, working, self.fileSystem) = (path, path + suffix, fileSystem)
  }

  /// Throws `refused` if the path is taken, or a name that belongs to it.
  package func refuseTaken(_ companions: [String] = []) throws {
    for name in [path] + companions.map({ path + $0 }) {
      guard let status = try fileSystem.statusOfName(name) else { continue }
      guard status.isRegularFile || status.isSymbolicLink || status.isDirectory else {
        throw BatchError(
          .refused, "the output is no file, but a device, a pipe or a socket", hint: "Choose another path",
          effect: .nothingWritten, path: name)
      }
      throw BatchError(
        .refused, "the output exists already", hint: "Choose another path, or remove the \(Self.kind(status))",
        effect: .nothingWritten, path: name)
    }
  }

  private static func kind(_ status: FileStatus) -> String {
    status.isDirectory ? "folder" : status.isSymbolicLink ? "link" : "file"
  }

  /// Builds the file and gives it its name, durably. `body` writes the file at ``working`` and makes it durable.
  package func make<Result>(_ body: () throws -> Result) throws -> Result {
    try refuseTaken()
    return try UnfinishedFiles.keeping(working) {
      do {
        let result = try body()
        // It may have taken long.
        try refuseTaken()
        try fileSystem.rename(working, to: path)
        try fileSystem.syncDirectory(FilePaths.directory(of: path))
        return result
      } catch {
        try? fileSystem.remove(working)
        throw error
      }
    }
  }
}
