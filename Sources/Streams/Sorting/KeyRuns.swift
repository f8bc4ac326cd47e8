import Glibc

/// A sorted run of byte strings.
struct KeyRun {
  var run: RunFile.Run
  /// Bytes of the longest key.
  var largestKey: Int
  /// Bytes at their beginning that all keys have in common.
  var common: Int
}

extension KeyRun {
  /// Together with a run that follows in the file. `shared` bytes begin the last key as they do the next one.
  func continued(by next: KeyRun, sharing shared: Int) -> KeyRun {
    KeyRun(
      run: RunFile.Run(
        start: run.start, end: next.run.end, largestBlock: max(run.largestBlock, next.run.largestBlock)),
      largestKey: max(largestKey, next.largestKey), common: min(common, next.common, shared))
  }

  private static let most = 1 << 31

  /// Whether a run may have such numbers: memory is taken for them.
  var isPossible: Bool {
    run.start <= run.end && 0...Self.most ~= run.largestBlock && 0...Self.most ~= largestKey
      && 0...largestKey ~= common
  }
}

/// Writes sorted keys as a run: of each the number of bytes that it shares with the beginning of the key before it, the
/// number of those that follow, both as varints, and these. None is cut by the end of a block.
final class KeyRunWriter {
  private static let largestHead = 2 * Varint.maximumLength

  /// Bytes in the file of so many keys of so many bytes, at most: each block has a head, and one key or more.
  static func room(keys: Int, bytes: Int) -> Int { bytes + keys * (largestHead + RunFile.headLength) }

  private let output: RunOutput
  private var block: UnsafeMutableRawBufferPointer
  @exclusivity(unchecked) private var filled = 0
  @exclusivity(unchecked) private var previous: UnsafeMutableRawBufferPointer
  @exclusivity(unchecked) private var previousLength = 0
  @exclusivity(unchecked) private var largestKey = 0
  @exclusivity(unchecked) private var common = -1

  init(_ output: RunOutput) {
    self.output = output
    block = .allocate(byteCount: RunFile.blockBytes, alignment: 8)
    previous = .allocate(byteCount: 256, alignment: 8)
  }

  deinit {
    block.deallocate()
    previous.deallocate()
  }

  func append(_ key: UnsafeRawBufferPointer) throws {
    let shared = commonPrefix(UnsafeRawBufferPointer(rebasing: previous[0..<previousLength]), key)
    let rest = key.count - shared
    if filled + Self.largestHead + rest > block.count { try makeRoom(Self.largestHead + rest) }
    guard let base = block.baseAddress, let from = key.baseAddress else { return }
    filled += Varint.write(UInt64(shared), to: base + filled)
    filled += Varint.write(UInt64(rest), to: base + filled)
    (base + filled).copyMemory(from: from + shared, byteCount: rest)
    filled += rest
    remember(key, from: shared)
    // A key that is larger than a usual block is a block of its own.
    if filled > RunFile.blockBytes { try flush() }
  }

  private func makeRoom(_ needed: Int) throws {
    try flush()
    guard needed > block.count else { return }
    block.deallocate()
    block = .allocate(byteCount: needed, alignment: 8)
  }

  private func remember(_ key: UnsafeRawBufferPointer, from shared: Int) {
    largestKey = max(largestKey, key.count)
    common = common < 0 ? key.count : min(common, shared)
    if key.count > previous.count {
      let larger = UnsafeMutableRawBufferPointer.allocate(byteCount: max(key.count, 2 * previous.count), alignment: 8)
      larger.copyMemory(from: UnsafeRawBufferPointer(rebasing: previous[0..<shared]))
      previous.deallocate()
      previous = larger
    }
    if let to = previous.baseAddress, let from = key.baseAddress {
      (to + shared).copyMemory(from: from + shared, byteCount: key.count - shared)
    }
    previousLength = key.count
  }

  private func flush() throws {
    guard filled > 0 else { return }
    try output.append(UnsafeRawBufferPointer(rebasing: block[0..<filled]))
    filled = 0
  }

  func finish() throws -> KeyRun {
    try flush()
    return KeyRun(run: try output.finish(), largestKey: largestKey, common: max(0, common))
  }
}

/// Runs of byte strings that are merged.
final class KeyRuns: MergingRuns {
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
  /// Bytes at the beginning that all keys have in common; heads are what follows.
  @exclusivity(unchecked) private var common: Int

  init(_ file: RunFile, _ runs: [KeyRun]) {
    (count, common) = (runs.count, runs.map(\.common).min() ?? 0)
    blocks = runs.map { file.reader($0.run) }
    heads = .allocate(capacity: max(1, count))
    places = .allocate(capacity: max(1, count))
    for (index, run) in runs.enumerated() {
      let capacity = max(8, run.largestKey)
      (places + index).initialize(to: Place(key: .allocate(byteCount: capacity, alignment: 8), capacity: capacity))
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
    for run in 0..<count { try advance(run) }
    for run in 0..<count { common = min(common, commonPrefix(key(0), key(run))) }
    for run in 0..<count where !places[run].hasEnded { heads[run] = keyPrefix(key(run), from: common) }
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
        heads[run] = .max
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
    let (start, length) = (Int(shared), Int(rest))
    (places[run].key + start).copyMemory(from: next + position, byteCount: length)
    places[run].length = start + length
    places[run].next = next + position + length
    if start < common + 8 { heads[run] = keyPrefix(key(run), from: common) }
  }

  func precedes(_ left: Int, _ right: Int) -> Bool {
    if places[left].hasEnded || places[right].hasEnded { return !places[left].hasEnded }
    return compareKeys(key(left), key(right)) < 0
  }
}
