/// A sorted run of byte strings, and the number of bytes at their beginning that all have in common.
struct KeyRun {
  var run: RunFile.Run
  var common: Int
}

/// Writes sorted keys as a run: of each its length in four bytes of the machine's order, then the key. None is cut by
/// the end of a block.
final class KeyRunWriter {
  private let file: RunFile
  private var block: UnsafeMutableRawBufferPointer
  @exclusivity(unchecked) private var filled = 0

  init(file: RunFile) {
    self.file = file
    block = .allocate(byteCount: RunFile.blockBytes, alignment: 8)
  }

  deinit { block.deallocate() }

  func append(_ key: UnsafeRawBufferPointer) throws {
    if filled + 4 + key.count > block.count {
      try flush()
      if 4 + key.count > block.count {
        block.deallocate()
        block = .allocate(byteCount: 4 + key.count, alignment: 8)
      }
    }
    guard let base = block.baseAddress else { return }
    base.storeBytes(of: UInt32(key.count), toByteOffset: filled, as: UInt32.self)
    if let from = key.baseAddress { (base + filled + 4).copyMemory(from: from, byteCount: key.count) }
    filled += 4 + key.count
    // A key that is larger than a usual block is a block of its own.
    if filled > RunFile.blockBytes { try flush() }
  }

  private func flush() throws {
    guard filled > 0 else { return }
    try file.append(UnsafeRawBufferPointer(rebasing: block[0..<filled]))
    filled = 0
  }

  func finish() throws -> RunFile.Run {
    try flush()
    return try file.finishRun()
  }
}

/// Runs of byte strings that are merged.
final class KeyRuns: MergingRuns {
  private struct Place {
    var key: UnsafeRawBufferPointer
    var next: UnsafeRawPointer?
    var end: UnsafeRawPointer?
    var hasEnded = false
  }

  let heads: UnsafeMutablePointer<UInt64>
  private let count: Int
  private let blocks: [RunBlocks]
  private let places: UnsafeMutablePointer<Place>
  private let input: UnsafeMutableRawBufferPointer
  /// Bytes at the beginning that all keys of all runs have in common.
  private(set) var common: Int

  init(_ file: RunFile, _ runs: [KeyRun]) throws {
    count = runs.count
    common = 0
    blocks = runs.map { file.reader($0.run) }
    heads = .allocate(capacity: max(1, count))
    places = .allocate(capacity: max(1, count))
    places.initialize(repeating: Place(key: UnsafeRawBufferPointer(start: nil, count: 0)), count: max(1, count))
    input = .allocate(byteCount: RunFile.headLength + (runs.map(\.run.largestBlock).max() ?? 0), alignment: 8)
    for run in 0..<count { try advance(run) }
    common = runs.map(\.common).min() ?? 0
    for run in 0..<count { common = min(common, commonPrefix(places[0].key, places[run].key)) }
    for run in 0..<count where !places[run].hasEnded { heads[run] = keyPrefix(places[run].key, from: common) }
  }

  deinit {
    heads.deallocate()
    places.deallocate()
    input.deallocate()
  }

  /// Calls `body` with every key of all runs in order.
  func merge(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {
    guard count > 0 else { return }
    let tree = MergeTree(self, count: count)
    while !places[tree.winner].hasEnded {
      try body(places[tree.winner].key)
      try advance(tree.winner)
      tree.replay()
    }
  }

  private func advance(_ run: Int) throws {
    if places[run].next == places[run].end {
      guard let block = try blocks[run].next(input), let base = block.baseAddress else {
        places[run].hasEnded = true
        heads[run] = .max
        return
      }
      (places[run].next, places[run].end) = (base, base + block.count)
    }
    guard let next = places[run].next, let end = places[run].end, end - next >= 4 else { throw blocks[run].damaged() }
    let length = Int(next.loadUnaligned(as: UInt32.self))
    guard length <= end - next - 4 else { throw blocks[run].damaged() }
    places[run].key = UnsafeRawBufferPointer(start: next + 4, count: length)
    places[run].next = next + 4 + length
    heads[run] = keyPrefix(places[run].key, from: common)
  }

  func precedes(_ left: Int, _ right: Int) -> Bool {
    if places[left].hasEnded || places[right].hasEnded { return !places[left].hasEnded }
    return compareKeys(places[left].key, places[right].key) < 0
  }
}
