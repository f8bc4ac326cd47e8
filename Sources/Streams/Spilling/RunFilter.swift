/// Tells surely absent keys from perhaps present ones: about ten bits a key in blocks of 64 bytes, seven bits of one block for
/// each key, about one error in seventy. A run's blocks come in the order of its hashes, so a run and its filter are written in
/// one go.
enum RunFilter {
  static let blockBytes = 64

  /// Blocks for that many keys: 51 to each.
  static func blocks(keys: UInt64) -> UInt64 { keys / 51 + 1 }

  /// The block of a hash: blocks ascend with hashes.
  @inline(__always)
  static func block(_ hash: UInt64, of blocks: UInt64) -> UInt64 { hash.multipliedFullWidth(by: blocks).high }

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
      let place = Int(bits & 511) >> 3
      let byte = block.load(fromByteOffset: place, as: UInt8.self)
      block.storeBytes(of: byte | 1 << UInt8(bits & 7), toByteOffset: place, as: UInt8.self)
      bits >>= 9
    }
  }

  @inline(__always)
  static func mayContain(_ hash: UInt64, in block: UnsafeRawPointer) -> Bool {
    var bits = bits(hash)
    for _ in 0..<7 {
      if block.load(fromByteOffset: Int(bits & 511) >> 3, as: UInt8.self) & 1 << UInt8(bits & 7) == 0 { return false }
      bits >>= 9
    }
    return true
  }
}
