/// A scratch file of keys, dealt by their hashes into parts: all equal keys are in one part, in the order in which they
/// came, each with its place in the whole sequence.
///
/// The file's name is removed as soon as it is open, so that nothing is left of it. Memory: a chunk for every part while keys come, and
/// four bytes for every chunk that was written.
final class KeyParts {
  /// How many parts there are.
  static let count = 512
  private static let chunkBytes = 4096
  /// The place and the length, four bytes each, then the key.
  private static let headLength = 8

  private let file: any File
  private var end: UInt32 = 0
  private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: count * chunkBytes, alignment: 8)
  @exclusivity(unchecked) private var filled = [Int](repeating: 0, count: count)
  /// For every part the chunks that were written, in their order, by their place in the file.
  private var chunks = [[UInt32]](repeating: [], count: count)

  init(path: String, fileSystem: any FileSystem) throws {
    file = try fileSystem.openScratch(path)
  }

  deinit {
    buffer.deallocate()
    file.close()
  }

  /// The part of keys with a hash.
  @inline(__always)
  static func part(of hash: UInt64) -> Int { Int(truncatingIfNeeded: hash >> 55) }

  /// Appends a key to the part of its hash.
  func append(_ key: UnsafeRawBufferPointer, place: UInt32, hash: UInt64) throws {
    let part = Self.part(of: hash)
    let head = UInt64(place) | UInt64(UInt32(truncatingIfNeeded: key.count)) << 32
    try withUnsafeBytes(of: head) { try put($0, in: part) }
    try put(key, in: part)
  }

  @inline(__always)
  private func put(_ bytes: UnsafeRawBufferPointer, in part: Int) throws {
    var rest = bytes
    while let from = rest.baseAddress, !rest.isEmpty {
      if filled[part] == Self.chunkBytes { try flush(part) }
      let length = min(rest.count, Self.chunkBytes - filled[part])
      (buffer.baseAddress! + part * Self.chunkBytes + filled[part]).copyMemory(from: from, byteCount: length)
      filled[part] += length
      rest = UnsafeRawBufferPointer(rebasing: rest[length...])
    }
  }

  private func flush(_ part: Int) throws {
    let start = part * Self.chunkBytes
    try file.write(
      UnsafeRawBufferPointer(rebasing: buffer[start..<start + Self.chunkBytes]),
      at: UInt64(end) * UInt64(Self.chunkBytes))
    chunks[part].append(end)
    end += 1
    filled[part] = 0
  }

  /// Calls `body` with every key of a part and its place, in their order; until it returns false. Several threads may read
  /// different parts once all keys are there.
  func forEach(in part: Int, _ body: (UnsafeRawBufferPointer, UInt32) throws -> Bool) throws {
    let reader = PartReader(file: file, chunks: chunks[part], chunkBytes: Self.chunkBytes)
    let start = part * Self.chunkBytes
    reader.tail = UnsafeRawBufferPointer(rebasing: buffer[start..<start + filled[part]])
    while let head = try reader.next(Self.headLength) {
      let word = head.loadUnaligned(as: UInt64.self)
      guard let key = try reader.next(Int(word >> 32)) else { throw reader.damaged() }
      guard try body(key, UInt32(truncatingIfNeeded: word)) else { return }
    }
  }
}

/// Reads the bytes of a part, one chunk after the other and at last those that are still in memory.
private final class PartReader {
  private let file: any File
  private let chunks: [UInt32]
  private let chunkBytes: Int
  private var nextChunk = 0
  private var bytes: UnsafeMutableRawBufferPointer
  /// What was read and not yet delivered.
  private var held = 0..<0
  var tail = UnsafeRawBufferPointer(start: nil, count: 0)

  init(file: any File, chunks: [UInt32], chunkBytes: Int) {
    (self.file, self.chunks, self.chunkBytes) = (file, chunks, chunkBytes)
    bytes = .allocate(byteCount: 4 * chunkBytes, alignment: 8)
  }

  deinit { bytes.deallocate() }

  /// The next bytes, valid until the next call; nil at the end.
  func next(_ count: Int) throws -> UnsafeRawBufferPointer? {
    while held.count < count {
      guard try fill() else {
        guard held.isEmpty, count > 0 else { throw damaged() }
        return nil
      }
    }
    defer { held = held.lowerBound + count..<held.upperBound }
    return UnsafeRawBufferPointer(rebasing: bytes[held.lowerBound..<held.lowerBound + count])
  }

  private func fill() throws -> Bool {
    guard nextChunk < chunks.count else {
      defer { tail = UnsafeRawBufferPointer(start: nil, count: 0) }
      makeRoom(tail.count)
      UnsafeMutableRawBufferPointer(rebasing: bytes[held.upperBound...]).copyMemory(from: tail)
      held = held.lowerBound..<held.upperBound + tail.count
      return !tail.isEmpty
    }
    makeRoom(chunkBytes)
    let target = UnsafeMutableRawBufferPointer(rebasing: bytes[held.upperBound..<held.upperBound + chunkBytes])
    guard try file.read(into: target, at: UInt64(chunks[nextChunk]) * UInt64(chunkBytes)) == chunkBytes else {
      throw damaged()
    }
    held = held.lowerBound..<held.upperBound + chunkBytes
    nextChunk += 1
    return true
  }

  /// Makes room for so many bytes behind those that are held.
  private func makeRoom(_ count: Int) {
    guard held.upperBound + count > bytes.count else { return }
    let old = bytes
    if held.count + count > bytes.count {
      bytes = .allocate(byteCount: 2 * (held.count + count), alignment: 8)
    }
    UnsafeMutableRawBufferPointer(rebasing: bytes[0..<held.count]).copyMemory(
      from: UnsafeRawBufferPointer(rebasing: old[held]))
    if bytes.baseAddress != old.baseAddress { old.deallocate() }
    held = 0..<held.count
  }

  func damaged() -> StreamsError { .damagedScratch(file.path) }
}
