import Foundation
import TestSupport
import Testing

@testable import Streams

/// Runs that several threads sort parts of: the same order as on one thread.
@Suite(.endsWithin(minutes: 5)) struct SharedSpillTests {
  private static let count = 150_000
  /// A file without a name in that folder.
  private static let path = FileManager.default.temporaryDirectory.appendingPathComponent("sort").path

  /// A memory that is too small for all, whose runs have parts.
  private func memory(_ crew: Crew?, bytes: Int = 9 << 18) -> SortMemory {
    let memory = SortMemory(byteCount: bytes)
    memory.crew = crew
    return memory
  }

  @Test("Large runs have a part for each thread, four at most", arguments: 0...5)
  func parts(helpers: Int) throws {
    let memory = memory(try Crew(helpers: helpers))
    func parts(_ count: Int, runs: Int = 0) -> [Range<Int>] {
      memory.parts(of: count, runs: runs) { _, _ in false }
    }
    #expect(parts(1 << 14).count == min(4, helpers + 1))
    for count in [0, 1, 1 << 14, 99_999] {
      let parts = parts(count)
      #expect(parts.first?.lowerBound == 0 && parts.last?.upperBound == count)
      #expect(zip(parts, parts.dropFirst()).allSatisfy { $0.upperBound == $1.lowerBound })
    }
  }

  @Test("Small runs, those in order, many of them and those of a small memory are not parted")
  func whole() throws {
    let (crew, count) = (try Crew(helpers: 3), 1 << 14)
    let memory = memory(crew)
    func isParted(_ memory: SortMemory, _ count: Int, runs: Int = 0, ascends: Bool = false) -> Bool {
      memory.parts(of: count, runs: runs) { _, _ in ascends }.count > 1
    }
    #expect(isParted(memory, count))
    #expect(!isParted(memory, 1 << 13 - 1))
    #expect(!isParted(memory, count, ascends: true))
    let most = memory.fanIn(RunFile.blockBytes) * 3 / 4
    #expect(isParted(memory, count, runs: most - 1) && !isParted(memory, count, runs: most))
    #expect(memory.parts(of: count, runs: most - 1, block: 1 << 14) { _, _ in false }.count == 1)
    #expect(!isParted(self.memory(crew, bytes: 2 << 20), count) && !isParted(self.memory(nil), count))
  }

  @Test("Where more runs are than can be merged at once, no more are merged before than it takes", arguments: 2...9)
  func merged(fanIn: Int) {
    for count in fanIn + 1...100 {
      var (rest, merged) = (count, 0)
      while rest > fanIn {
        let some = SortMemory.merged(of: rest, fanIn: fanIn)
        #expect(some.lowerBound == 0 && 2...fanIn ~= some.count)
        merged += some.count
        rest -= some.count - 1
      }
      // Each merge takes away all of its runs but one.
      #expect(rest == fanIn && merged <= count - fanIn + (count - fanIn + fanIn - 2) / (fanIn - 1))
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
    #expect(sorter.runCount >= (longest == 0 ? 1 : min(4, helpers + 1)))
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

  @Test("What shares nothing with its neighbours has room in its part of the file", arguments: 1...3)
  func longest(width: Int) throws {
    var random = SeededGenerator(seed: 4850 &+ UInt64(width))
    let crew = try Crew(helpers: 3)
    let words = WordSorter(width: width, memory: memory(crew), path: Self.path, fileSystem: LocalFileSystem())
    let keys = ExternalSorter(memory: memory(crew), path: Self.path, fileSystem: LocalFileSystem())
    var all: [[UInt64]] = []
    for _ in 0..<Self.count {
      // Differences to the one before take ten bytes each.
      let entry = (0..<width).map { _ in random.next() }
      all.append(entry)
      let room = try words.nextEntries(1)
      for (index, word) in entry.enumerated() { room[index] = word }
      words.finish(1)
      try withUnsafeBytes(of: random.next()) { try keys.add(UnsafeRawBufferPointer(rebasing: $0[..<width])) }
    }
    #expect(words.runCount >= 4 && keys.runCount >= 4)
    var (found, count, last) = ([[UInt64]](), 0, [UInt8]())
    try words.drain { found.append(Array(UnsafeBufferPointer(start: $0, count: width))) }
    #expect(found == all.sorted { $0.lexicographicallyPrecedes($1) })
    try keys.drain { key in
      #expect(!key.lexicographicallyPrecedes(last))
      (last, count) = ([UInt8](key), count + 1)
    }
    #expect(count == Self.count)
  }

  @Test("Rows that are nearly in order stay as few runs as without helpers")
  func nearlyInOrder() throws {
    var runs: [Int] = []
    for helpers in [0, 3] {
      let sorter = WordSorter(
        width: 1, memory: memory(try Crew(helpers: helpers)), path: Self.path, fileSystem: LocalFileSystem())
      for number in 0..<(4 * Self.count) {
        try sorter.nextEntries(1)[0] = UInt64(number ^ 1)
        sorter.finish(1)
      }
      runs.append(sorter.runCount)
      var next: UInt64 = 0
      try sorter.drain {
        #expect($0.pointee == next)
        next += 1
      }
    }
    #expect(runs[0] > 0 && runs[0] == runs[1])
  }

  @Test("A disk that is full while parts are written ends the sort with its error", arguments: 1...3, [0, 600_000])
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
