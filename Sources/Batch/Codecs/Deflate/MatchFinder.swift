/// Finds what a deflate stream need not repeat: earlier occurrences of the next bytes, by chains of equal hashes of
/// three bytes. The result depends on the bytes alone.
struct MatchFinder {
  struct Match {
    var length: Int
    var distance: Int
  }

  private static let longestChain = 128
  private static let hashBits = 15

  private let bytes: [UInt8]
  /// The last position of each hash, and before each position of the window the one before it; -1 for none.
  private var heads = [Int](repeating: -1, count: 1 << MatchFinder.hashBits)
  private var previous = [Int](repeating: -1, count: DeflateFormat.windowSize)

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// Makes the bytes at a position known to later ones. Each position once, in order.
  mutating func insert(_ position: Int) {
    guard position + DeflateFormat.shortestMatch <= bytes.count else { return }
    let hash = hash(position)
    previous[position % DeflateFormat.windowSize] = heads[hash]
    heads[hash] = position
  }

  /// The longest match, the nearest of several, among positions that were inserted before.
  func longest(at position: Int) -> Match? {
    let most = min(DeflateFormat.longestMatch, bytes.count - position)
    guard most >= DeflateFormat.shortestMatch else { return nil }
    var best: Match?
    var candidate = heads[hash(position)]
    var steps = 0
    while candidate >= 0, position - candidate <= DeflateFormat.windowSize, steps < Self.longestChain {
      let length = common(candidate, right: position, most: most)
      if length > best?.length ?? (DeflateFormat.shortestMatch - 1) {
        best = Match(length: length, distance: position - candidate)
        if length == most { break }
      }
      let next = previous[candidate % DeflateFormat.windowSize]
      // A place of the window may have been taken by a later position.
      guard next < candidate else { break }
      candidate = next
      steps += 1
    }
    return best
  }

  private func common(_ left: Int, right: Int, most: Int) -> Int {
    var length = 0
    while length < most, bytes[left + length] == bytes[right + length] { length += 1 }
    return length
  }

  private func hash(_ position: Int) -> Int {
    let three = UInt32(bytes[position]) | UInt32(bytes[position + 1]) << 8 | UInt32(bytes[position + 2]) << 16
    return Int((three &* 0x9E37_79B1) >> UInt32(32 - Self.hashBits))
  }
}
