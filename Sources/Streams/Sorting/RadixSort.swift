/// Sorts entries of a fixed number of 64-bit words by some of them, stably, from the last significant digit to the
/// first.
///
/// Only bits that differ among the entries cost a pass; eleven bits are one.
struct RadixSort {
  private static let digitBits = 11
  private static let buckets = 1 << digitBits

  /// Words of an entry.
  let width: Int
  private let counts: UnsafeMutablePointer<Int>

  init(width: Int) {
    self.width = width
    counts = .allocate(capacity: Self.buckets)
  }

  func deallocate() { counts.deallocate() }

  /// Sorts `count` entries by words from the last of `words` to the first; `differing` has for every word of an entry
  /// the bits in which entries may differ. Returns where the sorted entries are: in `entries` or in `scratch`, which is
  /// as large.
  func sort(
    _ entries: UnsafeMutablePointer<UInt64>, _ scratch: UnsafeMutablePointer<UInt64>, count: Int, words: Range<Int>,
    differing: UnsafePointer<UInt64>
  ) -> UnsafeMutablePointer<UInt64> {
    var (from, to) = (entries, scratch)
    for word in words.reversed() {
      var bits = differing[word]
      while bits != 0 {
        let shift = UInt64(bits.trailingZeroBitCount)
        pass(from, to, count: count, word: word, shift: shift)
        swap(&from, &to)
        bits &= ~(UInt64(Self.buckets - 1) << shift)
      }
    }
    return from
  }

  private func pass(
    _ from: UnsafeMutablePointer<UInt64>, _ to: UnsafeMutablePointer<UInt64>, count: Int, word: Int, shift: UInt64
  ) {
    let mask = UInt64(Self.buckets - 1)
    counts.update(repeating: 0, count: Self.buckets)
    var entry = from + word
    for _ in 0..<count {
      counts[Int(truncatingIfNeeded: entry.pointee &>> shift & mask)] &+= 1
      entry += width
    }
    var start = 0
    for bucket in 0..<Self.buckets { (counts[bucket], start) = (start, start &+ counts[bucket] &* width) }
    if width == 2 { return movePairs(from, to, count: count, word: word, shift: shift) }
    entry = from
    for _ in 0..<count {
      let bucket = Int(truncatingIfNeeded: entry[word] &>> shift & mask)
      let target = to + counts[bucket]
      for index in 0..<width { target[index] = entry[index] }
      counts[bucket] &+= width
      entry += width
    }
  }

  // The usual width, with a loop that the compiler unrolls.
  private func movePairs(
    _ from: UnsafeMutablePointer<UInt64>, _ to: UnsafeMutablePointer<UInt64>, count: Int, word: Int, shift: UInt64
  ) {
    let mask = UInt64(Self.buckets - 1)
    var entry = from
    for _ in 0..<count {
      let bucket = Int(truncatingIfNeeded: entry[word] &>> shift & mask)
      let target = to + counts[bucket]
      target[0] = entry[0]
      target[1] = entry[1]
      counts[bucket] &+= 2
      entry += 2
    }
  }
}
