/// Runs of byte strings that are merged.
///
/// No key is compared from its beginning. A run's head says how its key differs from the key that beat it last in the tree,
/// or from the one that was given last (``KeyHead``). What a run shares with the key before it is written in it.
final class KeyMerge: MergingRuns {
  private struct Place {
    let key: UnsafeMutableRawPointer
    let capacity: Int
    var length = 0
    var next: UnsafeRawPointer?
    var end: UnsafeRawPointer?
    var hasEnded = false
  }

  let heads: UnsafeMutablePointer<UInt64>
  private let count: Int
  private let blocks: [RunBlocks]
  private let places: UnsafeMutablePointer<Place>

  init(_ file: RunFile, _ runs: [KeyRun]) {
    count = runs.count
    blocks = runs.map { file.reader($0.run) }
    heads = .allocate(capacity: max(1, count))
    places = .allocate(capacity: max(1, count))
    for (index, run) in runs.enumerated() {
      let memory = UnsafeMutableRawPointer.allocate(byteCount: run.largestKey + KeyHead.readAhead, alignment: 8)
      (places + index).initialize(to: Place(key: memory, capacity: run.largestKey))
    }
  }

  deinit {
    for run in 0..<count { places[run].key.deallocate() }
    heads.deallocate()
    places.deallocate()
  }

  /// Calls `body` with every key of all runs in order.
  func merge(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {
    guard count > 0 else { return }
    for run in 0..<count {
      try advance(run)
      // Behind no key yet, all differ at their beginning.
      if !places[run].hasEnded { heads[run] = KeyHead.of(key(run), piece: 0) }
    }
    let tree = MergeTree(self, count: count)
    while !places[tree.winner].hasEnded {
      try body(key(tree.winner))
      try advance(tree.winner)
      tree.replay()
    }
  }

  @inline(__always)
  private func key(_ run: Int) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: places[run].key, count: places[run].length)
  }

  private func advance(_ run: Int) throws {
    if places[run].next == places[run].end {
      guard let block = try blocks[run].next(), let base = block.baseAddress else {
        places[run].hasEnded = true
        heads[run] = KeyHead.none
        return
      }
      (places[run].next, places[run].end) = (base, base + block.count)
    }
    guard let next = places[run].next, let end = places[run].end else { throw blocks[run].damaged() }
    let bytes = UnsafeRawBufferPointer(start: next, count: end - next)
    var position = 0
    guard let shared = Varint.read(bytes, at: &position), let rest = Varint.read(bytes, at: &position),
      shared <= UInt64(places[run].length), rest <= UInt64(bytes.count - position),
      shared + rest <= UInt64(places[run].capacity)
    else { throw blocks[run].damaged() }
    let (start, length, before) = (Int(shared), Int(rest), places[run].length)
    let added = UnsafeRawBufferPointer(start: next + position, count: length)
    // The first key of a run that continues another one does not say what it shares.
    let same = start > 0 ? start : commonPrefix(key(run), added)
    (places[run].key + start).copyMemory(from: next + position, byteCount: length)
    places[run].length = start + length
    places[run].next = next + position + length
    heads[run] = KeyHead.of(key(run), sharing: same, of: before)
  }

  func precedes(_ left: Int, _ right: Int) -> Bool {
    if places[left].hasEnded || places[right].hasEnded { return !places[left].hasEnded }
    let (one, other) = (key(left), key(right))
    // What is equal in their heads need not be looked at again.
    let known = min(KeyHead.known(heads[left]), one.count, other.count)
    let same =
      known
      + commonPrefix(
        UnsafeRawBufferPointer(rebasing: one[known...]), UnsafeRawBufferPointer(rebasing: other[known...]))
    let isFirst = same == one.count || same < other.count && one[same] < other[same]
    if isFirst {
      heads[right] = KeyHead.of(other, sharing: same, of: one.count)
    } else {
      heads[left] = KeyHead.of(one, sharing: same, of: other.count)
    }
    return isFirst
  }
}
