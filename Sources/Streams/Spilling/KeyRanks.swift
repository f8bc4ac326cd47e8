/// A bit for each place of a sequence, and how many are set before it.
final class KeyRanks {
  private static let wordsPerCount = 8
  private let words: UnsafeMutableBufferPointer<UInt64>
  /// Bits that are set before every eighth word.
  private let counts: UnsafeMutableBufferPointer<UInt32>

  /// Bytes for a number of places.
  static func bytes(count: Int) -> Int { count / 8 + count / 128 + 16 }

  init(count: Int) {
    words = .allocate(capacity: count / 64 + 1)
    words.initialize(repeating: 0)
    counts = .allocate(capacity: words.count / Self.wordsPerCount + 1)
    counts.initialize(repeating: 0)
  }

  deinit {
    words.deallocate()
    counts.deallocate()
  }

  func set(_ place: UInt32) { words[Int(place >> 6)] |= 1 << UInt64(place & 63) }

  /// Counts once all bits are set.
  func count() {
    var sum = 0
    for place in words.indices {
      if place % Self.wordsPerCount == 0 { counts[place / Self.wordsPerCount] = UInt32(truncatingIfNeeded: sum) }
      sum += words[place].nonzeroBitCount
    }
  }

  /// How many bits are set before a place.
  @inline(__always)
  func rank(_ place: UInt32) -> Int64 {
    let word = Int(place >> 6)
    var sum = Int(counts[word / Self.wordsPerCount])
    for before in word / Self.wordsPerCount * Self.wordsPerCount..<word { sum += words[before].nonzeroBitCount }
    let below = words[word] & (1 << UInt64(place & 63) &- 1)
    return Int64(sum + below.nonzeroBitCount)
  }
}
