import Batch
import Streams

/// The file of an export: it gets its name when it is whole.
struct ExportFile {
  let path: String
  let fileSystem: any FileSystem

  func write(_ body: (@escaping (UnsafeRawBufferPointer) throws -> Void) throws -> ExportSummary) throws
    -> ExportSummary
  {
    guard try fileSystem.statusOfName(path) == nil else {
      throw BatchError(
        .refused, "the output exists already", hint: "Choose another path, or remove it first", path: path)
    }
    let temporary = path + ".part"
    let file = try fileSystem.open(temporary, .create)
    defer { file.close() }
    do {
      var end: UInt64 = 0
      let summary = try body { bytes in
        try file.write(bytes, at: end)
        end += UInt64(bytes.count)
      }
      try file.sync()
      try fileSystem.rename(temporary, to: path)
      try fileSystem.syncDirectory(FilePaths.directory(of: path))
      return summary
    } catch {
      try? fileSystem.remove(temporary)
      throw Self.told(error, path)
    }
  }

  /// An error as the command tells it.
  static func told(_ error: any Error, _ path: String) -> any Error {
    let full = BatchError(wrapping: error)
    guard full.code == BatchError.Code(.diskFull) else { return error }
    // Its own exit code would promise that the export can be resumed.
    return BatchError(
      .failed, "there is no space for the export", hint: "Make room, and export again", path: path, cause: full)
  }
}
