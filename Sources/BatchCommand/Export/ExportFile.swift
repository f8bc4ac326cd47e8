import Batch
import Streams

/// The file of an export: it gets its name when it is whole.
struct ExportFile {
  /// What is added to the name while it is written.
  static let suffix = NewFile.part

  let path: String
  let fileSystem: any FileSystem

  func write(_ body: (@escaping (UnsafeRawBufferPointer) throws -> Void) throws -> ExportSummary) throws
    -> ExportSummary
  {
    let new = NewFile(path, working: Self.suffix, fileSystem)
    do {
      return try new.make {
        let file = try fileSystem.open(new.working, .create)
        defer { file.close() }
        var end: UInt64 = 0
        let summary = try body { bytes in
          try file.write(bytes, at: end)
          end += UInt64(bytes.count)
        }
        try file.sync()
        return summary
      }
    } catch { throw Self.told(error, path) }
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
