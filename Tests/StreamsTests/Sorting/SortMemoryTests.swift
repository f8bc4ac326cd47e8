import TestSupport
import Testing

@testable import Streams

/// Who gets how much of the memory that sorters share.
@Suite struct SortMemoryTests {
  /// Takes memory and writes nothing.
  private final class Taker: SortMember {
    var grantedBytes = 0
    var heldBytes = 0
    var spills = 0
    var givenBack = 0

    func spill() {
      spills += 1
      grantedBytes = 0
    }

    func giveBack() {
      givenBack += 1
      heldBytes = grantedBytes
    }
  }

  private func takers(_ count: Int, of memory: SortMemory) -> [Taker] {
    let takers = (0..<count).map { _ in Taker() }
    for taker in takers { memory.join(taker) }
    return takers
  }

  @Test("I7: whoever asks, and for how much, all together never have more than there is", arguments: 0..<UInt64(12))
  func bound(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed &+ 5700)
    let memory = SortMemory(byteCount: 1 << [14, 18, 22][random.below(3)])
    let takers = takers(1 + random.below(70), of: memory)
    for _ in 0..<1500 {
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
    for _ in 0..<2000 {
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
}
