import CLZ4

/// Single LZ4 blocks without a frame: for scratch files, which carry lengths of their own and no check values.
///
/// Source of the rule: LZ4 Block Format Description.
enum LZ4Block {
  /// Compresses `bytes` into `target`; 0 where the result would be as large as the bytes, or larger than the target.
  static func compress(_ bytes: UnsafeRawBufferPointer, into target: UnsafeMutableRawBufferPointer) -> Int {
    guard let from = bytes.baseAddress, let to = target.baseAddress, let count = Int32(exactly: bytes.count) else {
      return 0
    }
    let room = Int32(clamping: min(target.count, bytes.count - 1))
    guard room > 0 else { return 0 }
    let written = LZ4_compress_fast(
      from.assumingMemoryBound(to: CChar.self), to.assumingMemoryBound(to: CChar.self), count, room, acceleration)
    return Int(max(0, written))
  }

  /// Twice as fast as 1 on keys, which hardly shrink less.
  private static let acceleration: Int32 = 4

  /// Fills `target` exactly with the content of a block; false where the block is damaged or has another length.
  static func decompress(_ bytes: UnsafeRawBufferPointer, into target: UnsafeMutableRawBufferPointer) -> Bool {
    guard let from = bytes.baseAddress, let to = target.baseAddress, let count = Int32(exactly: bytes.count),
      let room = Int32(exactly: target.count)
    else { return false }
    let found = LZ4_decompress_safe(
      from.assumingMemoryBound(to: CChar.self), to.assumingMemoryBound(to: CChar.self), count, room)
    return found == room
  }
}
