/// Writes a deflate stream bit by bit, the lowest of a byte first.
struct BitWriter {
  private(set) var bytes: [UInt8] = []
  private var word: UInt64 = 0
  private var used = 0

  /// At most 16 bits.
  mutating func put(_ value: Int, _ count: Int) {
    word |= UInt64(value) << UInt64(used)
    used += count
    while used >= 8 {
      bytes.append(UInt8(truncatingIfNeeded: word))
      word >>= 8
      used -= 8
    }
  }

  /// Fills the last byte with zeros.
  mutating func align() { if used > 0 { put(0, 8 - used) } }

  mutating func append(_ more: ArraySlice<UInt8>) { bytes += more }
}
