import Streams
import Synchronization

/// Files of stores that nobody keeps, in memory or in scratch files. Their names are this disk's alone. Thread-safe.
package final class MemoryDisk: FileSystem {
  private let files = Mutex<[String: any File]>([:])
  private let limit: Int
  private let held: Held
  private let scratch: String?

  /// A disk that is full with so many bytes. With the path of a scratch file its files are such ones: without a name
  /// there, and gone however the process ends.
  package init(limit: Int, scratch: String? = nil) {
    (self.limit, self.scratch, held) = (limit, scratch, Held(limit: limit))
  }

  /// Whether a file was refused room that it asked for.
  package var wasFull: Bool { held.wasFull.load(ordering: .relaxed) }

  package func open(_ path: String, _ mode: OpenMode) throws -> any File {
    let (limit, held) = (limit, held)
    return try files.withLock { files in
      if let file = files[path] {
        if case .create = mode { try file.truncate(to: 0) }
        return file
      }
      switch mode {
      case .read, .update: throw Self.missing(path)
      case .create, .updateOrCreate:
        let file: any File =
          if let scratch {
            ScratchFile(try LocalFileSystem().openScratch(scratch), path: path, held: held)
          } else {
            MemoryFile(path: path, limit: limit, held: held)
          }
        files[path] = file
        return file
      }
    }
  }

  package func status(_ path: String) throws -> FileStatus? {
    guard let file = files.withLock({ $0[path] }) else { return nil }
    return FileStatus(size: try file.size())
  }

  package func statusOfName(_ path: String) throws -> FileStatus? { try status(path) }
  package func remove(_ path: String) throws { files.withLock { $0[path] = nil } }
  package func list(_ path: String) throws -> [String] { [] }
  package func availableSpace(_ path: String) throws -> UInt64 { UInt64(limit) }
  package func makeDirectory(_ path: String) throws {}
  package func syncDirectory(_ path: String) throws {}
  package func rename(_ source: String, to destination: String) throws {
    try link(source, to: destination)
    try remove(source)
  }
  package func link(_ source: String, to destination: String) throws {
    try files.withLock { files in
      guard let file = files[source] else { throw Self.missing(source) }
      files[destination] = file
    }
  }

  private static func missing(_ path: String) -> StreamsError {
    StreamsError(.inputOutput, "there is no such file in memory", path: path)
  }
}

/// Bytes of all files of a disk.
final class Held: Sendable {
  private let bytes = Mutex(0)
  let wasFull = Atomic(false)
  private let limit: Int

  init(limit: Int) { self.limit = limit }

  /// Counts bytes that a file takes; throws `diskFull` where they are too many.
  func take(_ count: Int, path: String) throws {
    let fits = bytes.withLock { bytes in
      guard bytes <= limit - count else { return false }
      bytes += count
      return true
    }
    guard fits else {
      wasFull.store(true, ordering: .relaxed)
      throw StreamsError(.diskFull, "its files would take more than \(limit) bytes", path: path)
    }
  }

  func giveBack(_ count: Int) { bytes.withLock { $0 -= count } }
}

/// A file without a disk, in chunks, so that it grows without being copied.
final class MemoryFile: File {
  private struct Contents {
    var chunks: [[UInt8]] = []
    var length = 0
  }

  private static let chunk = 1 << 18
  let path: String
  private let limit: Int
  private let contents = Mutex(Contents())
  private let held: Held

  init(path: String, limit: Int, held: Held) {
    (self.path, self.limit, self.held) = (path, limit, held)
  }

  deinit { held.giveBack(contents.withLock { $0.chunks.count } * Self.chunk) }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws -> Int {
    contents.withLock { contents in
      guard let start = Int(exactly: offset), start < contents.length else { return 0 }
      let count = min(buffer.count, contents.length - start)
      Self.pieces(start, count: count) { chunk, place, done, length in
        contents.chunks[chunk].withUnsafeBytes {
          UnsafeMutableRawBufferPointer(rebasing: buffer[done..<done + length]).copyMemory(
            from: UnsafeRawBufferPointer(rebasing: $0[place..<place + length]))
        }
      }
      return count
    }
  }

  func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws {
    guard !bytes.isEmpty else { return }
    try contents.withLock { contents in
      let end = Int(clamping: offset).addingReportingOverflow(bytes.count)
      guard !end.overflow, end.partialValue <= limit else {
        throw StreamsError(.diskFull, "a file in memory would be too long", path: path)
      }
      if end.partialValue > contents.length { try resize(&contents, end.partialValue) }
      Self.pieces(Int(offset), count: bytes.count) { chunk, place, done, length in
        contents.chunks[chunk].withUnsafeMutableBytes {
          UnsafeMutableRawBufferPointer(rebasing: $0[place..<place + length]).copyMemory(
            from: UnsafeRawBufferPointer(rebasing: bytes[done..<done + length]))
        }
      }
    }
  }

  func truncate(to length: UInt64) throws {
    guard length <= UInt64(limit) else {
      throw StreamsError(.diskFull, "a file in memory would be too long", path: path)
    }
    try contents.withLock { try resize(&$0, Int(length)) }
  }

  func size() throws -> UInt64 { UInt64(contents.withLock { $0.length }) }
  func sync() throws {}
  func lock(_ kind: LockKind, start: UInt64, length: UInt64) throws -> Bool { true }
  func close() {}

  /// Chunks beyond the end are zero.
  private func resize(_ contents: inout Contents, _ length: Int) throws {
    let chunk = Self.chunk
    let count = (length + chunk - 1) / chunk
    let more = (count - contents.chunks.count) * chunk
    if more > 0 { try held.take(more, path: path) } else { held.giveBack(-more) }
    if count < contents.chunks.count { contents.chunks.removeLast(contents.chunks.count - count) }
    while contents.chunks.count < count { contents.chunks.append([UInt8](repeating: 0, count: chunk)) }
    if length < contents.length, length % chunk > 0 {
      for place in length % chunk..<chunk { contents.chunks[count - 1][place] = 0 }
    }
    contents.length = length
  }

  /// Cuts a range at the ends of chunks.
  private static func pieces(
    _ start: Int, count: Int, body: (_ chunk: Int, _ place: Int, _ done: Int, _ length: Int) -> Void
  ) {
    var done = 0
    while done < count {
      let place = (start + done) % chunk
      let length = min(count - done, chunk - place)
      body((start + done) / chunk, place, done, length)
      done += length
    }
  }
}
