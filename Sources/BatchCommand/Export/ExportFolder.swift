import Batch
import Streams

/// The folder of an export: it gets its name when all its files are whole. One that is there must be empty.
struct ExportFolder {
  let path: String
  /// What names of files end with.
  let suffix: String
  let fileSystem: any FileSystem

  func write(_ body: (@escaping ExportParts) throws -> ExportSummary) throws -> ExportSummary {
    try refuseTaken()
    try UnfinishedFiles.addFolder(temporary, in: fileSystem)
    defer { UnfinishedFiles.forget(temporary) }
    return try write(in: temporary, body)
  }

  private var temporary: String { path + ExportFile.suffix }

  /// Throws `refused` if the folder is there and not empty.
  func refuseTaken() throws {
    if let status = try fileSystem.statusOfName(path) {
      guard status.isDirectory, try fileSystem.list(path).isEmpty else {
        throw BatchError(
          .refused, "the output exists already", hint: "Choose another path, or an empty folder",
          effect: .nothingWritten, path: path)
      }
    }
    guard try fileSystem.statusOfName(temporary) == nil else {
      throw BatchError(
        .refused, "a folder of an export that was killed is there",
        hint: "Remove it with `\(ShellWords.line(["rm", "-r", temporary]))`, and export again",
        effect: .nothingWritten, path: temporary)
    }
  }

  private func write(
    in temporary: String, _ body: (@escaping ExportParts) throws -> ExportSummary
  ) throws -> ExportSummary {
    let writer = ExportFolderWriter(folder: temporary, suffix: suffix, fileSystem: fileSystem)
    do {
      let summary = try body(writer.begin)
      try writer.finish()
      try fileSystem.syncDirectory(temporary)
      try fileSystem.removeDirectory(path)
      try fileSystem.rename(temporary, to: path)
      try fileSystem.syncDirectory(FilePaths.directory(of: path))
      return summary
    } catch {
      writer.close()
      for name in (try? fileSystem.list(temporary)) ?? [] { try? fileSystem.remove(FilePaths.join(temporary, name)) }
      try? fileSystem.removeDirectory(temporary)
      throw ExportFile.told(error, path)
    }
  }
}

/// Writes the files of a folder, one after the other.
private final class ExportFolderWriter {
  private let folder: String
  private let fileSystem: any FileSystem
  private var names: ExportFileNames
  private var file: (any File)?
  private var end: UInt64 = 0

  init(folder: String, suffix: String, fileSystem: any FileSystem) {
    (self.folder, self.fileSystem) = (folder, fileSystem)
    names = ExportFileNames(suffix: suffix)
  }

  func begin(_ name: String) throws -> (UnsafeRawBufferPointer) throws -> Void {
    try finish()
    let file = try fileSystem.open(FilePaths.join(folder, names.next(name)), .create)
    (self.file, end) = (file, 0)
    return { [self] bytes in
      try file.write(bytes, at: end)
      end += UInt64(bytes.count)
    }
  }

  func finish() throws {
    try file?.sync()
    close()
  }

  func close() {
    file?.close()
    file = nil
  }
}
