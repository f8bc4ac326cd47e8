import Testing

@testable import Streams

/// Sorting in memory against the plain order of bytes and of words, where it is easy to get wrong.
@Suite struct KeySortTests {
  /// Kinds of keys that are told apart late, early, or not at all.
  enum Keys: CaseIterable {
    case random, sharedBeginning, prefixesOfOneAnother, equal, fewValues, oneByte

    func make(_ number: Int, _ random: inout SeededGenerator) -> [UInt8] {
      switch self {
      case .random: (0..<random.below(30)).map { _ in UInt8(random.below(256)) }
      case .sharedBeginning:
        Array("https://example.com/a/".utf8) + (0..<random.below(9)).map { _ in UInt8(random.below(4)) }
      case .prefixesOfOneAnother: [UInt8](repeating: 0, count: number % 700)
      case .equal: Array("the same, and longer than two words".utf8)
      case .fewValues: [UInt8](repeating: UInt8(random.below(3)), count: 20) + [UInt8(random.below(2))]
      case .oneByte: [UInt8(random.below(256))]
      }
    }
  }

  @Test("Keys of every kind come in plain order of bytes, none lost", arguments: Keys.allCases, [3, 30, 3000])
  func order(kind: Keys, count: Int) throws {
    var random = SeededGenerator(seed: 4400 &+ UInt64(count))
    let keys = (0..<count).map { kind.make($0, &random) }
    let sorter = ExternalSorter(memoryBytes: 1 << 24, path: "sort", fileSystem: ScratchFileSystem())
    for key in keys { try key.withUnsafeBytes { try sorter.add($0) } }
    var found: [[UInt8]] = []
    try sorter.drain { found.append([UInt8]($0)) }
    #expect(found == keys.sorted { $0.lexicographicallyPrecedes($1) })
  }

  @Test(
    "Words come in order where few or most entries share their first bits, in memory and from runs",
    arguments: 0..<UInt64(24))
  func words(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed &+ 4500)
    let (width, count) = (2 + random.below(4), [2, 50, 5000][random.below(3)])
    let kinds = (0..<width).map { _ in random.below(4) }
    var entries = (0..<count).map { number in
      kinds.map { kind -> UInt64 in
        switch kind {
        case 0: random.next()
        case 1: UInt64(random.below(2)) << 63
        // Nearly all share all bits but the last ones.
        case 2: random.below(50) == 0 ? random.next() : 1 << 62 | UInt64(random.below(1 << 11))
        default: UInt64(random.below(1 << 20))
        }
      } + [UInt64(seed % 2 == 0 ? number : random.below(count))]
    }
    let memory = SortMemory(byteCount: [1 << 13, 1 << 24][random.below(2)])
    let sorter = WordSorter(width: width + 1, memory: memory, path: "sort", fileSystem: ScratchFileSystem())
    for entry in entries {
      let room = try sorter.nextEntries(1)
      for (index, word) in entry.enumerated() { room[index] = word }
      sorter.finish(1)
    }
    var found: [[UInt64]] = []
    try sorter.drain { found.append(Array(UnsafeBufferPointer(start: $0, count: width + 1))) }
    entries.sort { $0.lexicographicallyPrecedes($1) }
    #expect(found == entries, "seed \(seed)")
  }
}
