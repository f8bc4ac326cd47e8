import Foundation
import Streams

/// A disk for scratch files: every file is in memory and has no name. With `flipping`, some reads find a bit that is
/// not as it was written; with `room`, a file that would be longer is refused.
struct ScratchFileSystem: FileSystem {
  struct Full: Error {}

  var flipping: UInt64?
  var room: UInt64?

  private var refusal: StreamsError { StreamsError(.unsupported, "there are scratch files only") }
  func open(_ path: String, _ mode: OpenMode) throws -> any File {
    if let room { return FullFile(room: room) }
    guard let seed = flipping else { return MemoryFile() }
    return FlippingFile(seed: seed)
  }
  func remove(_ path: String) throws {}
  func rename(_ source: String, to destination: String) throws { throw refusal }
  func link(_ source: String, to destination: String) throws { throw refusal }
  func makeDirectory(_ path: String) throws { throw refusal }
  func list(_ path: String) throws -> [String] { throw refusal }
  func status(_ path: String) throws -> FileStatus? { nil }
  func syncDirectory(_ path: String) throws { throw refusal }
  func availableSpace(_ path: String) throws -> UInt64 { 0 }
}

/// A file that now and then reads wrongly. One thread at a time.
private final class FlippingFile: File, @unchecked Sendable {
  let path = "flipping"
  private let file = MemoryFile()
  private var random: SeededGenerator

  init(seed: UInt64) { random = SeededGenerator(seed: seed) }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws -> Int {
    let count = try file.read(into: buffer, at: offset)
    guard count > 0, random.below(4) == 0 else { return count }
    // Heads of blocks are hit as often as what is in them.
    let place = random.below(2) == 0 ? random.below(min(12, count)) : random.below(count)
    buffer[place] ^= 1 << UInt8(random.below(8))
    return random.below(8) == 0 ? random.below(count + 1) : count
  }

  func write(_ data: UnsafeRawBufferPointer, at offset: UInt64) throws { try file.write(data, at: offset) }
  func truncate(to end: UInt64) throws { try file.truncate(to: end) }
  func sync() throws {}
  func size() throws -> UInt64 { try file.size() }
  func lock(_ kind: LockKind, start: UInt64, length: UInt64) throws -> Bool { true }
  func close() {}
}

/// A file that has no room for more than so many bytes. Several threads may write at once.
private final class FullFile: File, @unchecked Sendable {
  let path = "full"
  private let room: UInt64
  private let file = MemoryFile()
  private let lock = NSLock()

  init(room: UInt64) { self.room = room }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws -> Int {
    try lock.withLock { try file.read(into: buffer, at: offset) }
  }

  func write(_ data: UnsafeRawBufferPointer, at offset: UInt64) throws {
    guard offset + UInt64(data.count) <= room else { throw ScratchFileSystem.Full() }
    try lock.withLock { try file.write(data, at: offset) }
  }

  func truncate(to end: UInt64) throws { try lock.withLock { try file.truncate(to: end) } }
  func sync() throws {}
  func size() throws -> UInt64 { try lock.withLock { try file.size() } }
  func lock(_ kind: LockKind, start: UInt64, length: UInt64) throws -> Bool { true }
  func close() {}
}
