/// Keys that exist and keys that are referred to, a bit each, in sets: rows of one table that a reference may lead to.
///
/// A window of keys at a time, so that memory is bounded whatever the keys are. One thread fills one of these.
final class ProofKeys {
  /// What is looked at for every key, without counting references. It grows with the keys, within the window.
  private struct Bits {
    var existing = UnsafeMutablePointer<UInt64>.allocate(capacity: 0)
    var referred = UnsafeMutablePointer<UInt64>.allocate(capacity: 0)
    var words = 0
    /// References to keys that no row can have.
    var impossible: UInt64 = 0
    /// The largest key that is referred to.
    var highest: Int64 = 0

    mutating func grow(to needed: Int, most: Int) {
      let count = min(most, max(needed, 2 * words, 1 << 10))
      for list in [\Bits.existing, \Bits.referred] {
        let larger = UnsafeMutablePointer<UInt64>.allocate(capacity: count)
        larger.update(from: self[keyPath: list], count: words)
        (larger + words).initialize(repeating: 0, count: count - words)
        self[keyPath: list].deallocate()
        self[keyPath: list] = larger
      }
      words = count
    }
  }

  let window: Range<Int64>
  private let sets: UnsafeMutableBufferPointer<Bits>

  init(sets count: Int, window: Range<Int64>) {
    self.window = window
    sets = .allocate(capacity: count)
    for set in 0..<count { sets.initializeElement(at: set, to: Bits()) }
  }

  deinit {
    for set in sets {
      set.existing.deallocate()
      set.referred.deallocate()
    }
    sets.deallocate()
  }

  /// Where a key of the window has its bit.
  @inline(__always)
  private func place(_ key: Int64, in set: Int) -> (word: Int, bit: UInt64) {
    let bit = Int(key - window.lowerBound)
    if bit >> 6 >= sets[set].words { grow(set, to: bit >> 6 + 1) }
    return (bit >> 6, 1 << UInt64(bit & 63))
  }

  @inline(never)
  private func grow(_ set: Int, to words: Int) { sets[set].grow(to: words, most: window.count / 64 + 1) }

  @inline(__always)
  func exists(_ key: Int64, in set: Int) {
    guard window.contains(key) else { return }
    let (word, bit) = place(key, in: set)
    sets[set].existing[word] |= bit
  }

  @inline(__always)
  func refers(to key: Int64, in set: Int) {
    guard key >= 1 else { return sets[set].impossible &+= 1 }
    if key > sets[set].highest { sets[set].highest = key }
    guard window.contains(key) else { return }
    let (word, bit) = place(key, in: set)
    sets[set].referred[word] |= bit
  }

  /// Takes over what another thread saw.
  func add(_ other: ProofKeys) {
    for set in sets.indices {
      let theirs = other.sets[set]
      if theirs.words > sets[set].words { grow(set, to: theirs.words) }
      for word in 0..<theirs.words {
        sets[set].existing[word] |= theirs.existing[word]
        sets[set].referred[word] |= theirs.referred[word]
      }
      sets[set].impossible &+= theirs.impossible
      sets[set].highest = max(sets[set].highest, theirs.highest)
    }
  }

  /// Whether a reference leads to a key of the set that no row has. `largest` is the largest key of a row.
  func hasDangling(_ set: Int, largest: Int64) -> Bool {
    let bits = sets[set]
    return bits.impossible > 0 || bits.highest > largest
      || (0..<bits.words).contains { bits.referred[$0] & ~bits.existing[$0] != 0 }
  }
}
