import RunSupport
import Streams

/// A file's bytes under another name, where the file system knows no second names.
struct StoreCopy {
  let fileSystem: any FileSystem
  /// Who may ask to stop; nil if it must come to its end.
  var monitor: RunMonitor?

  /// Copies an open file with its owner, mode and attributes. The name appears when the copy is whole and durable; the
  /// caller syncs the directory.
  func copy(_ file: any File, to path: String) throws {
    let target = try fileSystem.open(path + ".new", .create)
    defer { target.close() }
    let length = try file.size()
    let chunk = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
    defer { chunk.deallocate() }
    var position: UInt64 = 0
    while position < length {
      try monitor?.throwIfStopRequested()
      let count = try file.read(into: chunk, at: position)
      guard count > 0 else {
        throw BatchError(
          .refused, "the file became shorter while it was being copied", hint: "Start again", path: file.path)
      }
      try target.write(UnsafeRawBufferPointer(rebasing: chunk[..<count]), at: position)
      position += UInt64(count)
      monitor?.hold(bytes: count)
    }
    try target.sync()
    if let status = try fileSystem.status(file.path) { try fileSystem.adopt(status, on: path + ".new") }
    try fileSystem.adoptAttributes(of: file.path, on: path + ".new")
    try fileSystem.rename(path + ".new", to: path)
  }
}
