/// Keys that exist and keys that are referred to, a bit each, in sets: rows of one table that a reference may lead to.
///
/// A window of keys at a time, so that memory is bounded whatever the keys are. One thread fills one of these.
final class ProofKeys {
  /// What is looked at for every key, without counting references.
  private struct Bits {
    var largest: Int64
    var existing: UnsafeMutablePointer<UInt64>
    var referred: UnsafeMutablePointer<UInt64>
    /// References to keys that no row can have.
    var impossible: UInt64 = 0
    var words: Int
  }

  let window: Range<Int64>
  private let sets: UnsafeMutableBufferPointer<Bits>

  /// `largest` are the largest keys that exist, by set.
  init(largest: [Int64], window: Range<Int64>) {
    self.window = window
    func empty(_ count: Int) -> UnsafeMutablePointer<UInt64> {
      let memory = UnsafeMutablePointer<UInt64>.allocate(capacity: count)
      memory.initialize(repeating: 0, count: count)
      return memory
    }
    sets = .allocate(capacity: largest.count)
    for (set, largest) in largest.enumerated() {
      let words = max(0, Int(min(max(0, largest) &+ 1, window.upperBound) - window.lowerBound)) / 64 + 1
      sets.initializeElement(
        at: set, to: Bits(largest: largest, existing: empty(words), referred: empty(words), words: words))
    }
  }

  deinit {
    for set in sets {
      set.existing.deallocate()
      set.referred.deallocate()
    }
    sets.deallocate()
  }

  @inline(__always)
  func exists(_ key: Int64, in set: Int) {
    guard window.contains(key), key <= sets[set].largest else { return }
    let bit = Int(key - window.lowerBound)
    sets[set].existing[bit >> 6] |= 1 << UInt64(bit & 63)
  }

  @inline(__always)
  func refers(to key: Int64, in set: Int) {
    guard key >= 1, key <= sets[set].largest else { return sets[set].impossible &+= 1 }
    guard window.contains(key) else { return }
    let bit = Int(key - window.lowerBound)
    sets[set].referred[bit >> 6] |= 1 << UInt64(bit & 63)
  }

  /// Takes over what another thread saw.
  func add(_ other: ProofKeys) {
    for set in sets.indices {
      for word in 0..<sets[set].words {
        sets[set].existing[word] |= other.sets[set].existing[word]
        sets[set].referred[word] |= other.sets[set].referred[word]
      }
      sets[set].impossible &+= other.sets[set].impossible
    }
  }

  /// Does a reference lead to a key of the set that no row has?
  func hasDangling(_ set: Int) -> Bool {
    let bits = sets[set]
    return bits.impossible > 0 || (0..<bits.words).contains { bits.referred[$0] & ~bits.existing[$0] != 0 }
  }
}
