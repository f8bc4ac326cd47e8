/// Sorts entries of words in memory: by the first of the bits that differ, as far as that leaves little to do, and else by
/// all of them.
struct WordSort {
  /// Words of an entry.
  let width: Int
  /// The bits of the last word that have the rowid.
  let rowidBits: UInt64
  private let radix: RadixSort
  private let differing: UnsafeMutablePointer<UInt64>

  init(width: Int, rowidBits: UInt64) {
    (self.width, self.rowidBits, radix) = (width, rowidBits, RadixSort(width: width))
    differing = .allocate(capacity: width)
    differing.initialize(repeating: 0, count: width)
  }

  func deallocate() {
    radix.deallocate()
    differing.deallocate()
  }

  @inline(__always)
  static func precedes(_ left: UnsafePointer<UInt64>, right: UnsafePointer<UInt64>, width: Int) -> Bool {
    for index in 0..<width where left[index] != right[index] { return left[index] < right[index] }
    return false
  }

  /// Sorts entries, once, and returns where they lie then: in `scratch`, which is as large, or where they were.
  func sorted(
    _ entries: UnsafeMutablePointer<UInt64>, scratch: UnsafeMutablePointer<UInt64>, count: Int
  ) -> UnsafeMutablePointer<UInt64> {
    for index in 1..<count {
      for word in 0..<width { differing[word] |= entries[index * width + word] ^ entries[word] }
    }
    // Rowids mostly ascend as they come; then the sort, which is stable, leaves them so.
    let (last, rowids) = (width - 1, rowidBits)
    let ascends = (1..<count).allSatisfy {
      entries[($0 - 1) * width + last] & rowids <= entries[$0 * width + last] & rowids
    }
    let all = differing[last]
    if ascends { differing[last] &= ~rowids }
    if let leading = leadingBits(count) {
      let sorted = radix.sort(entries, scratch, count: count, differing: leading)
      if finish(sorted, count: count) { return sorted }
      differing[last] = all
      return radix.sort(sorted, sorted == entries ? scratch : entries, count: count, differing: differing)
    }
    return radix.sort(entries, scratch, count: count, differing: differing)
  }

  /// So many of the bits that differ, from the first on, that few entries have the same; nil when there are not many more.
  private func leadingBits(_ count: Int) -> [UInt64]? {
    var rest = count.bitWidth - count.leadingZeroBitCount + 12
    let bits = (0..<width).reduce(0) { $0 + differing[$1].nonzeroBitCount }
    guard bits > rest + RadixSort.digitBits else { return nil }
    var leading = [UInt64](repeating: 0, count: width)
    for word in 0..<width where rest > 0 {
      var bits = differing[word]
      while bits != 0, rest > 0 {
        let bit = UInt64(1) << UInt64(63 - bits.leadingZeroBitCount)
        leading[word] |= bit
        bits ^= bit
        rest -= 1
      }
    }
    return leading
  }

  /// Puts entries in order that are sorted by their first bits; false where too many of them have the same.
  private func finish(_ entries: UnsafeMutablePointer<UInt64>, count: Int) -> Bool {
    var moves = 0
    return withUnsafeTemporaryAllocation(of: UInt64.self, capacity: width) { held in
      guard let held = held.baseAddress else { return false }
      for index in 1..<count
      where Self.precedes(entries + index * width, right: entries + (index - 1) * width, width: width) {
        held.update(from: entries + index * width, count: width)
        var place = index
        repeat {
          (entries + place * width).update(from: entries + (place - 1) * width, count: width)
          place -= 1
          moves += 1
        } while place > 0 && Self.precedes(held, right: entries + (place - 1) * width, width: width)
        (entries + place * width).update(from: held, count: width)
        if moves > 2 * count { return false }
      }
      return true
    }
  }
}
