import Streams
import Synchronization

/// A scratch file under the name of a ``MemoryDisk``, which counts its bytes. It is open for as long as somebody has it:
/// whoever opens its name has the same file.
final class ScratchFile: File {
  let path: String
  private let file: any File
  private let held: Held
  private let length = Mutex(0)

  init(_ file: any File, path: String, held: Held) {
    (self.file, self.path, self.held) = (file, path, held)
  }

  deinit {
    file.close()
    held.giveBack(length.withLock { $0 })
  }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws -> Int {
    try file.read(into: buffer, at: offset)
  }

  func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws {
    guard !bytes.isEmpty else { return }
    let end = Int(clamping: offset).addingReportingOverflow(bytes.count)
    try length.withLock { length in
      guard end.overflow || end.partialValue > length else { return }
      try held.take(end.overflow ? .max : end.partialValue - length, path: path)
      length = end.partialValue
    }
    try file.write(bytes, at: offset)
  }

  func truncate(to length: UInt64) throws {
    try self.length.withLock { now in
      let more = Int(clamping: length) - now
      if more > 0 { try held.take(more, path: path) } else { held.giveBack(-more) }
      now += more
    }
    try file.truncate(to: length)
  }

  func size() throws -> UInt64 { try file.size() }
  func sync() throws {}
  func lock(_ kind: LockKind, start: UInt64, length: UInt64) throws -> Bool { true }
  func close() {}
}
