/// Reads a deflate stream bit by bit, the lowest of a byte first.
struct BitReader {
  private let bytes: [UInt8]
  private var position = 0
  private var word: UInt64 = 0
  private var available = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// The next bits without taking them, zeros after the end.
  mutating func peek(_ count: Int) -> Int {
    fill()
    return Int(word & (1 << UInt64(count) - 1))
  }

  /// At most 16 bits.
  mutating func take(_ count: Int) throws -> Int {
    if available < count { fill() }
    guard available >= count else { throw InflateDamage("it ends too early") }
    let value = Int(word & (1 << UInt64(count) - 1))
    word >>= UInt64(count)
    available -= count
    return value
  }

  /// Continues at the next byte.
  mutating func align() {
    word >>= UInt64(available & 7)
    available &= ~7
  }

  /// Whole bytes; fewer than asked for where the stream ends. Only after ``align()``.
  mutating func bytes(_ count: Int) -> ArraySlice<UInt8> {
    position -= available / 8
    (word, available) = (0, 0)
    let taken = bytes[position..<min(bytes.count, position + count)]
    position += taken.count
    return taken
  }

  /// How many whole bytes have not been looked at.
  var bytesLeft: Int { bytes.count - position + available / 8 }

  private mutating func fill() {
    while available <= 48, position < bytes.count {
      word |= UInt64(bytes[position]) << UInt64(available)
      position += 1
      available += 8
    }
  }
}
