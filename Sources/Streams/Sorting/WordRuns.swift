/// Writes sorted entries of words as a run: of each word the difference to the same word of the entry before, as a
/// signed number of seven bits a byte, the lowest first.
final class WordRunWriter {
  /// Bytes in the file of so many entries, at most: each block has a head, and one entry or more.
  static func room(entries: Int, width: Int) -> Int { entries * (width * longestWord + RunFile.headLength) }

  private let output: RunOutput
  private let width: Int
  private let block: UnsafeMutableRawPointer
  private let previous: UnsafeMutablePointer<UInt64>
  @exclusivity(unchecked) private var filled = 0
  private static let longestWord = 10

  init(_ output: RunOutput, width: Int) {
    (self.output, self.width) = (output, width)
    block = .allocate(byteCount: RunFile.blockBytes, alignment: 8)
    previous = .allocate(capacity: width)
    previous.initialize(repeating: 0, count: width)
  }

  deinit {
    block.deallocate()
    previous.deallocate()
  }

  @inline(__always)
  func append(_ entry: UnsafePointer<UInt64>) throws {
    if filled + width * Self.longestWord > RunFile.blockBytes { try flush() }
    var filled = filled
    for word in 0..<width {
      let difference = Int64(bitPattern: entry[word] &- previous[word])
      previous[word] = entry[word]
      var rest = UInt64(bitPattern: difference &<< 1 ^ difference &>> 63)
      while rest > 0x7f {
        block.storeBytes(of: UInt8(truncatingIfNeeded: rest) | 0x80, toByteOffset: filled, as: UInt8.self)
        rest &>>= 7
        filled += 1
      }
      block.storeBytes(of: UInt8(truncatingIfNeeded: rest), toByteOffset: filled, as: UInt8.self)
      filled += 1
    }
    self.filled = filled
  }

  private func flush() throws {
    guard filled > 0 else { return }
    try output.append(UnsafeRawBufferPointer(start: block, count: filled))
    filled = 0
  }

  func finish() throws -> RunFile.Run {
    try flush()
    return try output.finish()
  }
}

/// Runs of words that are merged.
final class WordRuns: MergingRuns {
  private struct Place {
    var next: UnsafeRawPointer
    var end: UnsafeRawPointer
    var hasEnded = false
  }

  let heads: UnsafeMutablePointer<UInt64>
  private let width: Int
  private let count: Int
  private let blocks: [RunBlocks]
  private let places: UnsafeMutablePointer<Place>
  private let words: UnsafeMutablePointer<UInt64>

  init(_ file: RunFile, _ runs: [RunFile.Run], width: Int) {
    (self.width, count) = (width, runs.count)
    blocks = runs.map { file.reader($0) }
    heads = .allocate(capacity: max(1, count))
    words = .allocate(capacity: max(1, count * width))
    words.initialize(repeating: 0, count: count * width)
    places = .allocate(capacity: max(1, count))
    places.initialize(
      repeating: Place(next: UnsafeRawPointer(words), end: UnsafeRawPointer(words)), count: max(1, count))
  }

  deinit {
    heads.deallocate()
    words.deallocate()
    places.deallocate()
  }

  /// Calls `body` with every entry of all runs in order.
  func merge(_ body: (UnsafePointer<UInt64>) throws -> Void) throws {
    guard count > 0 else { return }
    for run in 0..<count { try advance(run) }
    let tree = MergeTree(self, count: count)
    while !places[tree.winner].hasEnded {
      try body(words + tree.winner * width)
      try advance(tree.winner)
      tree.replay()
    }
  }

  /// The same for runs each of which begins after the one before.
  func append(_ body: (UnsafePointer<UInt64>) throws -> Void) throws {
    for run in 0..<count {
      try advance(run)
      while !places[run].hasEnded {
        try body(words + run * width)
        try advance(run)
      }
    }
  }

  @inline(__always)
  private func advance(_ run: Int) throws {
    var next = places[run].next
    if next == places[run].end {
      guard try refill(run) else { return }
      next = places[run].next
    }
    let (end, entry) = (places[run].end, words + run * width)
    for word in 0..<width {
      var (number, shift) = (UInt64(0), UInt64(0))
      while true {
        guard next < end, shift < 64 else { throw blocks[run].damaged() }
        let byte = next.load(as: UInt8.self)
        next += 1
        number |= UInt64(byte & 0x7f) &<< shift
        shift &+= 7
        if byte < 0x80 { break }
      }
      entry[word] &+= number &>> 1 ^ (0 &- (number & 1))
    }
    places[run].next = next
    heads[run] = entry[0]
  }

  private func refill(_ run: Int) throws -> Bool {
    guard let block = try blocks[run].next(), let base = block.baseAddress else {
      places[run].hasEnded = true
      heads[run] = .max
      return false
    }
    (places[run].next, places[run].end) = (base, base + block.count)
    return true
  }

  func precedes(_ left: Int, _ right: Int) -> Bool {
    if places[left].hasEnded || places[right].hasEnded { return !places[left].hasEnded }
    return WordSort.precedes(words + left * width, right: words + right * width, width: width)
  }
}
