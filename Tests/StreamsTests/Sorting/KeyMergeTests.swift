import TestSupport
import Testing

@testable import Streams

/// Merging sorted runs of keys: heads say where a key differs from the one before it, so every way in which keys can
/// differ must lead to plain order of bytes.
@Suite(.endsWithin(minutes: 5)) struct KeyMergeTests {
  /// Writes keys in order as a run.
  private func write(_ keys: [[UInt8]], to file: RunFile) throws -> KeyRun {
    let writer = KeyRunWriter(file.begin())
    for key in keys.sorted(by: { $0.lexicographicallyPrecedes($1) }) { try key.withUnsafeBytes(writer.append) }
    return try writer.finish()
  }

  private func merged(_ runs: [[[UInt8]]]) throws -> [[UInt8]] {
    let file = try RunFile(path: "sort", fileSystem: ScratchFileSystem())
    return try merged(runs.filter { !$0.isEmpty }.map { try write($0, to: file) }, of: file)
  }

  private func merged(_ runs: [KeyRun], of file: RunFile) throws -> [[UInt8]] {
    var found: [[UInt8]] = []
    try KeyMerge(file, runs).merge { found.append([UInt8]($0)) }
    return found
  }

  private func expectOrder(_ runs: [[[UInt8]]], _ what: @autoclosure () -> String) throws {
    let expected = runs.flatMap { $0 }.sorted { $0.lexicographicallyPrecedes($1) }
    let found = try merged(runs)
    if found != expected { Issue.record("\(what()): \(runs)") }
  }

  /// Keys that end, or differ first, at a border of pieces and beside it, with zeros at their ends and without.
  private static let edges: [[UInt8]] = {
    let same = [UInt8](repeating: 7, count: 14)
    return [
      [], [0], [0, 0], Array(same[..<5]), Array(same[..<5]) + [0], Array(same[..<6]), Array(same[..<6]) + [0, 0],
      Array(same[..<6]) + [0, 0, 0, 0, 0, 0, 0, 1], Array(same[..<7]), Array(same[..<11]) + [255], same,
    ]
  }()

  @Test("Keys that differ at the borders of pieces come in order, in every distribution over two runs and over three")
  func everyDistribution() throws {
    for (runs, keys) in [(2, Self.edges), (3, Array(Self.edges.dropFirst(2).dropLast()))] {
      let count = (0..<keys.count).reduce(1) { count, _ in count * runs }
      for number in 0..<count {
        var (rest, parts) = (number, [[[UInt8]]](repeating: [], count: runs))
        for key in keys {
          parts[rest % runs].append(key)
          rest /= runs
        }
        try expectOrder(parts, "distribution \(number) over \(runs)")
      }
    }
  }

  @Test("Keys of few different bytes, many of them equal, come in order from many runs", arguments: 0..<UInt64(60))
  func alike(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed &+ 5600)
    let (bytes, longest) = ([[0, 1], [0, 255], [65, 66, 67]] as [[UInt8]], [3, 9, 30])
    let (letters, most) = (bytes[random.below(3)], longest[random.below(3)])
    let prefix = [UInt8](repeating: 9, count: random.below(14))
    let runs = (0..<1 + random.below(40)).map { _ in
      (0..<random.below(30)).map { _ in
        prefix + (0..<random.below(most + 1)).map { _ in letters[random.below(letters.count)] }
      }
    }
    try expectOrder(runs, "seed \(seed)")
  }

  @Test("A run that continues another one is merged as one")
  func continued() throws {
    let keys = (0..<40).map { [UInt8](repeating: 5, count: 20) + [UInt8($0)] }
    let file = try RunFile(path: "sort", fileSystem: ScratchFileSystem())
    let even = keys.enumerated().filter { $0.offset % 2 == 0 }.map(\.element)
    let odd = keys.enumerated().filter { $0.offset % 2 == 1 }.map(\.element)
    let joined = try write(Array(even[..<7]), to: file).continued(by: write(Array(even[7...]), to: file))
    #expect(try merged([joined, write(odd, to: file)], of: file) == keys)
  }

  @Test("Keys that differ behind the last piece that is counted come in order")
  func far() throws {
    let same = [UInt8](repeating: 3, count: 6 * 0xfffe - 2)
    let ends: [[UInt8]] = [
      [], [0], [1], [3, 3], [3, 3, 0], [3, 3, 1], [3, 3, 3, 3, 3, 3, 3, 3, 9], [3, 3, 3, 3, 3, 3, 3, 4],
    ]
    for shift in 0..<ends.count {
      let turned = Array(ends[shift...] + ends[..<shift])
      let runs = [0..<3, 3..<5, 5..<8].map { turned[$0].map { same + $0 } } + [[[1], [3], [4]]]
      let expected = runs.flatMap { $0 }.sorted { $0.lexicographicallyPrecedes($1) }
      #expect(try merged(runs) == expected, "turned by \(shift)")
    }
  }
}
