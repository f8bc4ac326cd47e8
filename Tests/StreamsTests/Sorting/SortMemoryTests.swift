import Glibc
import TestSupport
import Testing

@testable import Streams

/// Who gets how much of the memory that sorters share.
@Suite struct SortMemoryTests {
  /// Takes memory and writes nothing.
  private final class Taker: SortMember {
    private let memory: SortMemory
    var grantedBytes = 0 { didSet { memory.note(grantedBytes - oldValue) } }
    var lastExtension = 0
    private var left = 0
    var heldBytes: Int { max(left, grantedBytes) }
    private(set) var spills = 0
    private(set) var givenBack = 0

    init(_ memory: SortMemory) { self.memory = memory }

    func spill() {
      spills += 1
      left = heldBytes
      grantedBytes = 0
    }

    func giveBack() {
      givenBack += 1
      left = 0
    }
  }

  private func takers(_ count: Int, of memory: SortMemory) -> [Taker] {
    let takers = (0..<count).map { _ in Taker(memory) }
    for taker in takers { memory.join(taker) }
    return takers
  }

  @Test("I7: whoever asks, and for how much, all together never have more than there is", arguments: 0..<UInt64(12))
  func bound(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed &+ 5700)
    let memory = SortMemory(byteCount: 1 << [14, 18, 22][random.below(3)])
    let takers = takers(1 + random.below(70), of: memory)
    for _ in 0..<600 {
      let taker = takers[random.below(random.below(takers.count) + 1)]
      if random.below(200) == 0 { taker.spill() }
      try memory.extend(taker, by: random.below(50) == 0 ? random.below(memory.byteCount / 3) : 40)
      guard memory.heldBytes <= memory.byteCount, takers.allSatisfy({ $0.grantedBytes <= $0.heldBytes }) else {
        Issue.record("seed \(seed): \(memory.heldBytes) of \(memory.byteCount)")
        break
      }
    }
    try memory.makeRoom(memory.byteCount / 2)
    #expect(memory.heldBytes <= memory.byteCount - memory.byteCount / 2, "seed \(seed)")
    for taker in takers { memory.leave(taker) }
  }

  @Test("Sorters that fill at the same pace keep their memory from run to run", arguments: [1, 2, 3, 5, 8])
  func samePace(count: Int) throws {
    let memory = SortMemory(byteCount: 10 << 20)
    let takers = takers(count, of: memory)
    for _ in 0..<1200 / count {
      for taker in takers { try memory.extend(taker, by: 100) }
    }
    // At the beginning all are as large; once runs have begun at different times, each has its share.
    #expect(takers.allSatisfy { $0.spills > 5 })
    #expect(takers.reduce(0) { $0 + $1.givenBack } <= 2 * count)
    for taker in takers { memory.leave(taker) }
  }

  @Test("What a sorter keeps goes to others that need it before they write a run")
  func handedOver() throws {
    let memory = SortMemory(byteCount: 1 << 20)
    let takers = takers(2, of: memory)
    while takers[0].spills == 0 { try memory.extend(takers[0], by: 100) }
    #expect(takers[0].heldBytes > memory.byteCount / 2)
    while takers[1].heldBytes <= memory.byteCount / 2 { try memory.extend(takers[1], by: 100) }
    #expect(takers[0].heldBytes < memory.byteCount / 2 && takers[1].spills == 0)
    for taker in takers { memory.leave(taker) }
  }

  @Test("Many sorters use all memory: runs would be short otherwise")
  func many() throws {
    let memory = SortMemory(byteCount: 10 << 20)
    let takers = takers(150, of: memory)
    for taker in takers { try memory.extend(taker, by: 100) }
    #expect(takers.allSatisfy { $0.spills == 0 } && memory.grantedBytes > 9 << 20)
    for taker in takers { memory.leave(taker) }
  }

  @Test("A large sorter does not write short runs because of many that are done", arguments: [1, 20])
  func idle(count: Int) throws {
    let memory = SortMemory(byteCount: 10 << 20)
    let takers = takers(count + 1, of: memory)
    for taker in takers.dropFirst() {
      for _ in 0..<(4 << 20) / count / memory.piece { try memory.extend(taker, by: 100) }
    }
    var largest = 0
    for _ in 0..<400 {
      try memory.extend(takers[0], by: 100)
      largest = max(largest, takers[0].grantedBytes)
    }
    #expect(largest > memory.byteCount / 2)
    for taker in takers { memory.leave(taker) }
  }

  @Test("I7: a sorter has no more memory than it says, whatever the lengths of its keys were", arguments: 0..<UInt64(8))
  func resident(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed &+ 5800)
    let memory = SortMemory(byteCount: 4 << 20)
    let space = try KeySpace(memory: memory, path: "sort")
    let (page, range) = (Int(sysconf(Int32(_SC_PAGESIZE))), memory.largestShare + memory.largestKey)
    func residentBytes(_ base: UnsafeMutableRawPointer) -> Int {
      var pages = [UInt8](repeating: 0, count: (range + page - 1) / page)
      return mincore(base, range, &pages) == 0 ? pages.count { $0 & 1 == 1 } * page : .max
    }
    for _ in 0..<6 {
      let (length, share) = ([1, 30, 4000][random.below(3)], 1 << (16 + random.below(6)))
      let count = share / (length + 32)
      if random.below(2) == 0 { space.prepare(bytes: count * length, behind: 0, entries: count, behind: 0) }
      let scratch = try space.scratch(count)
      memset(space.keys, 1, count * length)
      for entries in [space.entries, scratch] { memset(entries, 1, count * 16) }
      let there = [space.keys, .init(space.entries), .init(scratch)].reduce(0) { $0 + residentBytes($1) }
      let said = count * (length + 32) + space.kept(beside: count * length, count)
      #expect(there >= count * length && there <= said + 3 * page, "seed \(seed)")
      space.leave(count * length, count)
      if random.below(4) == 0 {
        space.giveBack(behind: 0, 0)
        #expect(space.kept(beside: 0, 0) == 0 && residentBytes(space.keys) == 0, "seed \(seed)")
      }
    }
  }
}
