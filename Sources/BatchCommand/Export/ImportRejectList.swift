import Batch
import Streams

/// The file with what an import left out. It is made when there is something in it, or when the import is done.
final class ImportRejectList {
  private let path: String
  private var file: (any File)?
  private var end: UInt64 = 0

  /// Throws `refused` for a path that is taken, that the store or its files have, or that the same import would read
  /// the next time.
  init(_ path: String, besides store: String, _ inputs: [String]) throws {
    self.path = path
    try NewFile(path, working: "", LocalFileSystem()).refuseTaken()
    try OutputPath("--rejects", path).check([store, store + StoreImport.workingSuffix])
    let folder = try LocalFileSystem().status(FilePaths.directory(of: path))
    for input in inputs {
      guard let status = try LocalFileSystem().status(input), let folder,
        (status.device, status.inode) == (folder.device, folder.inode)
      else { continue }
      throw BatchError(
        .refused, "--rejects would stand among the files to import, in the folder \(input)",
        hint: "Choose a path in another folder", effect: .nothingWritten, path: path)
    }
  }

  deinit { file?.close() }

  func add(_ reject: StoreImport.Reject) throws {
    let fields = [reject.path, "\(reject.line)", reject.reason].map {
      "\"" + $0.replacing("\"", with: "\"\"") + "\""
    }
    try write(fields.joined(separator: ",") + "\r\n")
  }

  /// Makes the list durable, though it may be empty.
  func finish() throws {
    try begin().sync()
    try LocalFileSystem().syncDirectory(FilePaths.directory(of: path))
  }

  private func begin() throws -> any File {
    if let file { return file }
    let made = try LocalFileSystem().open(path, .create)
    file = made
    try write("file,line,reason\r\n")
    return made
  }

  private func write(_ text: String) throws {
    let file = try begin()
    var text = text
    try text.withUTF8 { try file.write(UnsafeRawBufferPointer($0), at: end) }
    end += UInt64(text.utf8.count)
  }
}
