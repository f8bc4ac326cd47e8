/// Reads records of a log whose head tells the length of the rest, up to the length that a checkpoint names.
public final class RecordLogReader {
  private let file: any File
  private let length: UInt64
  private var position: UInt64 = 0
  private var buffer: [UInt8] = []
  private var start = 0

  /// Reads the first `length` bytes of a log.
  public init(file: any File, length: UInt64) {
    self.file = file
    self.length = length
  }

  /// The next record with its head; nil at the end. `lengthAt` is where the head holds the 32-bit length of the body.
  public func next(headLength: Int, lengthAt: Int) throws -> [UInt8]? {
    guard try fill(headLength) else { return nil }
    let body = buffer.withUnsafeBytes {
      Int(UInt32(littleEndian: $0.loadUnaligned(fromByteOffset: start + lengthAt, as: UInt32.self)))
    }
    guard try fill(headLength + body) else {
      throw StreamsError(.damagedCheckpoint, "a log ends within a record", path: file.path)
    }
    defer { start += headLength + body }
    return Array(buffer[start..<start + headLength + body])
  }

  private func fill(_ count: Int) throws -> Bool {
    if buffer.count - start >= count { return true }
    let rest = UInt64(buffer.count - start) + length - position
    if UInt64(count) > rest {
      guard rest == 0 else { throw StreamsError(.damagedCheckpoint, "a log ends within a record", path: file.path) }
      return false
    }
    buffer.removeFirst(start)
    start = 0
    let want = min(max(count, 1 << 16), Int(clamping: length - position) + buffer.count) - buffer.count
    let old = buffer.count
    buffer.append(contentsOf: repeatElement(0, count: want))
    let read = try buffer.withUnsafeMutableBytes {
      try file.read(into: UnsafeMutableRawBufferPointer(rebasing: $0[old...]), at: position)
    }
    position += UInt64(read)
    guard read == want else { throw StreamsError(.damagedCheckpoint, "a log is shorter than it was", path: file.path) }
    return true
  }
}
