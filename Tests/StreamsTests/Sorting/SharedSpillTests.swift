import Foundation
import TestSupport
import Testing

@testable import Streams

/// Runs that several threads sort parts of: the same order as on one thread.
@Suite(.endsWithin(minutes: 5)) struct SharedSpillTests {
  private static let count = 60_000
  /// A file without a name in that folder.
  private static let path = FileManager.default.temporaryDirectory.appendingPathComponent("sort").path

  /// A memory that is too small for all, whose runs have parts.
  private func memory(_ crew: Crew, bytes: Int = 1 << 20) -> SortMemory {
    let memory = SortMemory(byteCount: bytes)
    memory.crew = crew
    return memory
  }

  @Test("Large runs have a part for each thread, four at most; small ones have one", arguments: 0...5)
  func parts(helpers: Int) throws {
    let memory = memory(try Crew(helpers: helpers))
    #expect(memory.parts(of: 1 << 14).count == min(4, helpers + 1))
    #expect(memory.parts(of: 1 << 13 - 1) == [0..<(1 << 13 - 1)])
    for count in [0, 1, 1 << 14, 99_999] {
      let parts = memory.parts(of: count)
      #expect(parts.first?.lowerBound == 0 && parts.last?.upperBound == count)
      #expect(zip(parts, parts.dropFirst()).allSatisfy { $0.upperBound == $1.lowerBound })
    }
  }

  @Test("Keys come in order from parts of runs, none lost", arguments: 0...4, [0, 1, 20])
  func keys(helpers: Int, longest: Int) throws {
    var random = SeededGenerator(seed: 4700 &+ UInt64(helpers * 31 + longest))
    let keys = (0..<Self.count).map { _ in
      Array("key".utf8) + (0..<random.below(longest + 1)).map { _ in UInt8(random.below(256)) }
    }
    let sorter = ExternalSorter(
      memory: memory(try Crew(helpers: helpers)), path: Self.path, fileSystem: LocalFileSystem())
    for key in keys { try key.withUnsafeBytes { try sorter.add($0) } }
    #expect(!sorter.isInMemory)
    var found: [[UInt8]] = []
    try sorter.drain { found.append([UInt8]($0)) }
    #expect(found == keys.sorted { $0.lexicographicallyPrecedes($1) })
  }

  @Test("Words come in order from parts of runs, also where every run begins after the one before", arguments: 0...4)
  func words(helpers: Int) throws {
    var random = SeededGenerator(seed: 4800 &+ UInt64(helpers))
    for block in [1, 1000, Self.count] {
      let words = (0..<Self.count).map { UInt64($0 / block * block) << 8 | UInt64(random.below(1 << 8)) }
      let sorter = WordSorter(
        width: 2, memory: memory(try Crew(helpers: helpers)), path: Self.path, fileSystem: LocalFileSystem())
      for (number, word) in words.enumerated() {
        let room = try sorter.nextEntries(1)
        (room[0], room[1]) = (word, UInt64(number))
        sorter.finish(1)
      }
      var found: [[UInt64]] = []
      try sorter.drain { found.append([$0[0], $0[1]]) }
      let all = words.enumerated().map { [$1, UInt64($0)] }
      #expect(found == all.sorted { $0.lexicographicallyPrecedes($1) }, "blocks of \(block)")
    }
  }

  @Test("A disk that is full while parts are written ends the sort with its error", arguments: 1...3, [0, 400_000])
  func failure(helpers: Int, room: UInt64) throws {
    let sorter = ExternalSorter(
      memory: memory(try Crew(helpers: helpers)), path: "sort", fileSystem: ScratchFileSystem(room: room))
    var random = SeededGenerator(seed: 4900)
    #expect(throws: ScratchFileSystem.Full.self) {
      for _ in 0..<Self.count {
        try withUnsafeBytes(of: random.next()) { try sorter.add($0) }
      }
    }
  }
}
