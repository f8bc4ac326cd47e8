import Streams

/// Records of W1's shape, made up, the same in every run.
public final class MadeRecords: Sendable {
  /// The records, numbered from 1.
  public let page: RecordPage
  /// Bytes of all of them.
  public let byteCount: Int
  /// How many there are.
  public let count: Int

  /// Makes so many records of about 120 bytes.
  public init(count: Int) {
    let (page, encoder) = (RecordPage(), RecordEncoder())
    var numbers = Numbers(seed: 42)
    var bytes = 0
    for key in 1...Int64(count) {
      Self.fill(encoder, &numbers)
      bytes += encoder.length
      page.append(table: 0, rowid: key, encoder)
    }
    (self.page, self.count, byteCount) = (page, count, bytes)
  }

  private static func fill(_ encoder: RecordEncoder, _ numbers: inout Numbers) {
    encoder.reset()
    encoder.appendNull()
    encoder.append(Int64(1))
    encoder.append(Int64(1))
    encoder.append(Int64(numbers.next() >> 33))
    encoder.append(Int64(numbers.next() & 1))
    encoder.append(Int64(numbers.next() % 10_000))
    encoder.append(Int64(bitPattern: numbers.next()) >> 20)
    encoder.append(Double(numbers.next() >> 35) + 0.25)
    encoder.append(Double(numbers.next() >> 40) / 8 + 0.0625)
    for length in [14, 20, 24] {
      let text = [UInt8](repeating: UInt8(0x61 + numbers.next() % 26), count: length)
      text.withUnsafeBytes { encoder.append(type: SerialType.text(length: length), body: $0) }
    }
    let identifier = [numbers.next(), numbers.next()]
    identifier.withUnsafeBytes { encoder.append(type: SerialType.blob(length: 16), body: $0) }
  }
}

/// Numbers that look random (splitmix64).
public struct Numbers {
  private var state: UInt64

  /// Begins a sequence.
  public init(seed: UInt64) { state = seed }

  /// The next number.
  public mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ mixed >> 30) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
    return mixed ^ mixed >> 31
  }
}
