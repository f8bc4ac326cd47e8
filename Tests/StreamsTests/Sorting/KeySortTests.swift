import Foundation
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

  @Test("A sorter that keeps its file goes on from its runs: what was written to it since does not count")
  func continued() throws {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent("sort-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: path) }
    var random = SeededGenerator(seed: 4600)
    // In order at first, so that one run continues another; then the same from the beginning, and in any order.
    let ordered = (0..<4000).map { withUnsafeBytes(of: UInt64($0).bigEndian) { [UInt8]($0) } }
    let keys = ordered + ordered + (0..<2000).map { _ in Keys.fewValues.make(0, &random) }
    func sorter() -> ExternalSorter {
      ExternalSorter(memoryBytes: 1 << 15, path: path, fileSystem: LocalFileSystem(), keepsFile: true)
    }
    for cut in [0, 1, 3999, 5000, 9000, keys.count] {
      var state = ByteWriter()
      let first = sorter()
      for key in keys[..<cut] { try key.withUnsafeBytes { try first.add($0) } }
      try first.encode(into: &state)
      try first.sync()
      for key in keys[cut...] { try key.withUnsafeBytes { try first.add($0) } }
      var (reader, all, found) = (ByteReader(state.bytes, subject: "runs"), [[UInt8]](), [[UInt8]]())
      try first.drain { all.append([UInt8]($0)) }
      let second = sorter()
      try second.restore(from: &reader)
      try reader.finish()
      for key in keys[cut...] { try key.withUnsafeBytes { try second.add($0) } }
      try second.drain { found.append([UInt8]($0)) }
      #expect(found == all && all == keys.sorted { $0.lexicographicallyPrecedes($1) }, "\(cut)")
    }
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
