import RunSupport
import Streams

/// The list of lines that an import left out, as CSV. It gets its path when the import is over.
final class ImportRejectList {
  let path: String
  private let working: String
  private let fileSystem: any FileSystem
  private var file: (any File)?
  /// Bytes written.
  private(set) var length: UInt64 = 0

  init(_ path: String, working: String, _ fileSystem: any FileSystem) {
    (self.path, self.working, self.fileSystem) = (path, working, fileSystem)
  }

  deinit { file?.close() }

  /// Throws `refused` for a path that is taken.
  func refuseTaken() throws { try NewFile(path, working: "", fileSystem).refuseTaken() }

  func add(_ reject: ImportReject) throws {
    let fields = [reject.path, "\(reject.line)", reject.reason].map { $0.quoted(by: "\"") }
    try write(fields.joined(separator: ",") + "\r\n")
  }

  private func begin() throws -> any File {
    if let file { return file }
    let made = try fileSystem.open(working, .create)
    file = made
    try write("file,line,reason\r\n")
    return made
  }

  private func write(_ text: String) throws {
    let file = try begin()
    var text = text
    try text.withUTF8 { try file.write(UnsafeRawBufferPointer($0), at: length) }
    length += UInt64(text.utf8.count)
  }

  func sync() throws { try file?.sync() }

  /// Makes the whole list durable, though it may be empty.
  func finish() throws { try begin().sync() }

  /// Takes what an earlier process has finished.
  func restore() throws {
    guard let status = try fileSystem.statusOfName(working) else { return }
    try restore(status.size)
  }

  /// Goes on behind so many bytes.
  func restore(_ length: UInt64) throws {
    guard length > 0 else { return }
    let file = try fileSystem.open(working, .update)
    guard try file.size() >= length else {
      throw StreamsError(.damagedCheckpoint, "the list of lines that were left out is shorter than it was")
    }
    try file.truncate(to: length)
    (self.file, self.length) = (file, length)
  }

  /// Whether a process that was killed has given it its path.
  var isPublished: Bool {
    get throws {
      guard try fileSystem.status(path)?.isRegularFile == true else { return false }
      return try ImportFiles.areEqual(path, to: working, fileSystem)
    }
  }

  /// Gives the list its path, durably, though it may be empty.
  func publish() throws {
    try finish()
    if try isPublished { return }
    try FileCopy.copy(working, to: path, fileSystem)
  }
}
