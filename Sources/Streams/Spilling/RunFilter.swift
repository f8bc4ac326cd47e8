/// Separates surely absent keys from perhaps present ones: about nine bits a key in blocks of 64 bytes, seven bits of
/// one block for each key, about one error in sixty. The last four bytes of a block check the others: a bit that was
/// lost would hide a key. A run's blocks come in the order of its hashes, so a run and its filter are written in one
/// go.
enum RunFilter {
  static let blockBytes = 64

  private static let checkOffset = 60
  private static let checkOfNothing: UInt32 = {
    let zeros = [UInt8](repeating: 0, count: checkOffset)
    return zeros.withUnsafeBytes { UInt32(truncatingIfNeeded: hashBytes($0) >> 32) }
  }()

  /// 0 for a block without bits: a part of a file that was never written reads as such.
  private static func check(_ block: UnsafeRawPointer) -> UInt32 {
    UInt32(truncatingIfNeeded: hashBytes(UnsafeRawBufferPointer(start: block, count: checkOffset)) >> 32)
      ^ checkOfNothing
  }

  /// Ends a block that has all of its bits.
  static func seal(_ block: UnsafeMutableRawPointer) {
    block.storeBytes(of: check(block).littleEndian, toByteOffset: checkOffset, as: UInt32.self)
  }

  /// Whether a block is as it was written.
  static func isSound(_ block: UnsafeRawPointer) -> Bool {
    UInt32(littleEndian: block.load(fromByteOffset: checkOffset, as: UInt32.self)) == check(block)
  }

  /// Blocks for that many keys: 51 to each.
  static func blocks(keys: UInt64) -> UInt64 { keys / 51 + 1 }

  /// The block of a hash: blocks ascend with hashes.
  @inline(__always)
  static func block(_ hash: UInt64, of blocks: UInt64) -> UInt64 { hash.multipliedFullWidth(by: blocks).high }

  /// A place among the 480 bits before the check.
  @inline(__always)
  private static func place(_ bits: UInt64) -> Int { Int((bits & 511) * 15 >> 4) }

  /// Seven bits of a block, nine bits of a second hash to each.
  @inline(__always)
  private static func bits(_ hash: UInt64) -> UInt64 {
    let mixed = hash &* 0x9E37_79B9_7F4A_7C15
    return mixed ^ mixed >> 32
  }

  @inline(__always)
  static func insert(_ hash: UInt64, into block: UnsafeMutableRawPointer) {
    var bits = bits(hash)
    for _ in 0..<7 {
      let place = place(bits)
      let byte = block.load(fromByteOffset: place >> 3, as: UInt8.self)
      block.storeBytes(of: byte | 1 << UInt8(place & 7), toByteOffset: place >> 3, as: UInt8.self)
      bits >>= 9
    }
  }

  @inline(__always)
  static func mayContain(_ hash: UInt64, in block: UnsafeRawPointer) -> Bool {
    var bits = bits(hash)
    for _ in 0..<7 {
      let place = place(bits)
      if block.load(fromByteOffset: place >> 3, as: UInt8.self) & 1 << UInt8(place & 7) == 0 { return false }
      bits >>= 9
    }
    return true
  }
}
