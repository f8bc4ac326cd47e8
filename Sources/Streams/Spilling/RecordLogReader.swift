/// What every record of a log ends with: a check over its head and body. Layout: FORMAT.md, "Patch log".
public enum RecordLog {
  static let checkLength = 8

  /// Ends the record that begins at `start`.
  public static func seal(_ bytes: inout [UInt8], from start: Int) {
    let check = bytes[start...].withUnsafeBytes { hashBytes($0) }
    withUnsafeBytes(of: check.littleEndian) { bytes.append(contentsOf: $0) }
  }
}

/// Reads records of a log whose head holds the length of the rest, up to the length that a checkpoint names.
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

  /// The next record with its head, once its check was compared; nil at the end. `lengthAt` is where the head holds the
  /// 32-bit length of the body.
  ///
  /// - Throws: ``StreamsError``.
  public func next(headLength: Int, lengthAt: Int) throws -> [UInt8]? {
    guard try fill(headLength) else { return nil }
    let body = buffer.withUnsafeBytes {
      Int(UInt32(littleEndian: $0.loadUnaligned(fromByteOffset: start + lengthAt, as: UInt32.self)))
    }
    let length = headLength + body
    guard try fill(length + RecordLog.checkLength) else { throw damaged("ends within a record") }
    let isSound = buffer.withUnsafeBytes { bytes in
      let check = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: start + length, as: UInt64.self))
      return hashBytes(UnsafeRawBufferPointer(rebasing: bytes[start..<start + length])) == check
    }
    guard isSound else { throw damaged("has a damaged record") }
    defer { start += length + RecordLog.checkLength }
    return Array(buffer[start..<start + length])
  }

  private func damaged(_ what: String) -> StreamsError {
    StreamsError(.damagedCheckpoint, "a log \(what)", path: file.path, hint: SpilledRun.damageHint)
  }

  private func fill(_ count: Int) throws -> Bool {
    if buffer.count - start >= count { return true }
    let rest = UInt64(buffer.count - start) + length - position
    if UInt64(count) > rest {
      guard rest == 0 else { throw damaged("ends within a record") }
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
    guard read == want else { throw damaged("is shorter than it was") }
    return true
  }
}
