/// Sorts entries of a fixed number of 64-bit words by some of them, stably, from the last significant digit to the
/// first.
///
/// Only bits that differ among the entries cost a pass; eleven bits are one.
struct RadixSort {
  static let digitBits = 11
  private static let buckets = 1 << digitBits

  /// Words of an entry.
  let width: Int
  private let counts: UnsafeMutablePointer<Int>

  init(width: Int) {
    self.width = width
    counts = .allocate(capacity: Self.buckets)
  }

  func deallocate() { counts.deallocate() }

  /// Sorts `count` entries by some bits of their words, of which `differing` has those for every word of an entry.
  /// Returns where the sorted entries are: in `entries` or in `scratch`, which is as large.
  func sort(
    _ entries: UnsafeMutablePointer<UInt64>, _ scratch: UnsafeMutablePointer<UInt64>, count: Int,
    differing: UnsafePointer<UInt64>
  ) -> UnsafeMutablePointer<UInt64> {
    var (from, to) = (entries, scratch)
    for word in (0..<width).reversed() {
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
    for bucket in 0..<Self.buckets { (counts[bucket], start) = (start, start &+ counts[bucket]) }
    switch width {
    case 1: move(UInt64.self, from, to, count: count, word: word, shift: shift)
    case 2: move((UInt64, UInt64).self, from, to, count: count, word: word, shift: shift)
    case 3: move((UInt64, UInt64, UInt64).self, from, to, count: count, word: word, shift: shift)
    case 4: move((UInt64, UInt64, UInt64, UInt64).self, from, to, count: count, word: word, shift: shift)
    default: move(from, to, count: count, word: word, shift: shift)
    }
  }

  private func move(
    _ from: UnsafeMutablePointer<UInt64>, _ to: UnsafeMutablePointer<UInt64>, count: Int, word: Int, shift: UInt64
  ) {
    let mask = UInt64(Self.buckets - 1)
    var entry = from
    for _ in 0..<count {
      let bucket = Int(truncatingIfNeeded: entry[word] &>> shift & mask)
      (to + counts[bucket] * width).update(from: entry, count: width)
      counts[bucket] &+= 1
      entry += width
    }
  }

  // The usual widths: an entry is moved in one piece.
  @inline(__always)
  private func move<Entry>(
    _: Entry.Type, _ from: UnsafeMutablePointer<UInt64>, _ to: UnsafeMutablePointer<UInt64>, count: Int, word: Int,
    shift: UInt64
  ) {
    let mask = UInt64(Self.buckets - 1)
    let source = UnsafeRawPointer(from).assumingMemoryBound(to: Entry.self)
    let target = UnsafeMutableRawPointer(to).assumingMemoryBound(to: Entry.self)
    var key = from + word
    for index in 0..<count {
      let bucket = Int(truncatingIfNeeded: key.pointee &>> shift & mask)
      target[counts[bucket]] = source[index]
      counts[bucket] &+= 1
      key += width
    }
  }
}
