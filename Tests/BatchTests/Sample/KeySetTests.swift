import Testing

@testable import StoreSamples

@Suite("Sets of keys")
struct KeySetTests {
  private struct Random {
    var state: UInt64
    mutating func next(_ bound: Int64) -> Int64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int64((state >> 33) % UInt64(bound))
    }
  }

  @Test(
    "A set has the keys that were added and not removed, in order: few, many, close together and far apart",
    arguments: [10, 5000, 70_000, 10_000_000, Int64(1) << 30])
  func same(bound: Int64) {
    let (keys, seed) = (KeySet(), UInt64(bound))
    var (random, wanted, wrong) = (Random(state: seed), Set<Int64>(), 0)
    for round in 0..<30_000 {
      let key = random.next(bound) - (round % 7 == 0 ? bound / 2 : 0)
      if round % 5 == 4 {
        keys.remove(key)
        wanted.remove(key)
      } else {
        let isNew = wanted.insert(key).inserted
        if keys.insert(key) != isNew { wrong += 1 }
      }
    }
    var found: [Int64] = []
    keys.forEach { found.append($0) }
    #expect(found == wanted.sorted() && keys.count == UInt64(wanted.count))
    for key in wanted where !keys.contains(key) { wrong += 1 }
    for _ in 0..<10_000 {
      let key = random.next(bound)
      if keys.contains(key) != wanted.contains(key) { wrong += 1 }
    }
    #expect(wrong == 0)
  }

  @Test("A million keys in a row take less than a bit and a half each, every hundredth of them a few bytes")
  func size() {
    let (dense, sparse) = (KeySet(), KeySet())
    for key in 1...1_000_000 as ClosedRange<Int64> { dense.insert(key) }
    for key in 1...100_000 as ClosedRange<Int64> { sparse.insert(key * 100) }
    #expect(dense.byteCount < 190_000 && sparse.byteCount < 500_000)
  }
}
