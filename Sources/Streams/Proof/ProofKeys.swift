/// Keys that exist and keys that are referred to, a bit each, in sets: rows of one table that a reference may lead to.
///
/// A window of keys at a time, so that memory is bounded whatever the keys are. One thread fills one of these.
final class ProofKeys {
  private let largest: [Int64]
  let window: Range<Int64>
  private let words: [Int]
  private let existing: [UnsafeMutablePointer<UInt64>]
  private let referred: [UnsafeMutablePointer<UInt64>]
  /// References to keys that no row can have, by set.
  private var impossible: [UInt64]

  /// `largest` are the largest keys that exist, by set.
  init(largest: [Int64], window: Range<Int64>) {
    (self.largest, self.window) = (largest, window)
    words = largest.map { max(0, Int(min($0 &+ 1, window.upperBound) - window.lowerBound)) / 64 + 1 }
    func empty(_ count: Int) -> UnsafeMutablePointer<UInt64> {
      let memory = UnsafeMutablePointer<UInt64>.allocate(capacity: count)
      memory.initialize(repeating: 0, count: count)
      return memory
    }
    existing = words.map(empty)
    referred = words.map(empty)
    impossible = Array(repeating: 0, count: largest.count)
  }

  deinit { for memory in existing + referred { memory.deallocate() } }

  @inline(__always)
  func exists(_ key: Int64, in set: Int) {
    guard window.contains(key), key <= largest[set] else { return }
    let bit = Int(key - window.lowerBound)
    existing[set][bit >> 6] |= 1 << UInt64(bit & 63)
  }

  @inline(__always)
  func refers(to key: Int64, in set: Int) {
    guard key >= 1, key <= largest[set] else { return impossible[set] &+= 1 }
    guard window.contains(key) else { return }
    let bit = Int(key - window.lowerBound)
    referred[set][bit >> 6] |= 1 << UInt64(bit & 63)
  }

  /// Takes over what another thread saw.
  func add(_ other: ProofKeys) {
    for set in words.indices {
      for word in 0..<words[set] {
        existing[set][word] |= other.existing[set][word]
        referred[set][word] |= other.referred[set][word]
      }
      impossible[set] &+= other.impossible[set]
    }
  }

  /// Does a reference lead to a key of the set that no row has?
  func hasDangling(_ set: Int) -> Bool {
    impossible[set] > 0 || (0..<words[set]).contains { referred[set][$0] & ~existing[set][$0] != 0 }
  }
}
