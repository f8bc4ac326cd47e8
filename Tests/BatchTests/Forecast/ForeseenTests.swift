import Testing

@testable import MigrationJobs

/// How many objects a policy will make is told from two halves of a sample.
@Suite("Numbers that are foreseen")
struct ForeseenTests {
  @Test(
    "An object for every row grows with the rows; one for every value ends where the values do",
    arguments: [UInt64(5), 6, 7])
  func growth(seed: UInt64) {
    print("seed \(seed)")
    var random = SeededRandom(seed)
    func half(_ rows: Double, _ made: Double) -> Foreseen.Half { Foreseen.Half(rows: rows, made: made) }
    #expect(Foreseen(half(500, 500), half(500, 500), all: 20_000).likely == 20_000)
    #expect(Foreseen(half(500, 500), half(500, 490), all: 1000) == Foreseen(990))
    // Parts of a sample are rarely halves.
    #expect(Foreseen(half(2048, 2048), half(1024, 1024), all: 61_440).likely == 61_440)
    #expect(Foreseen(half(0, 0), half(600, 600), all: 6000).likely == 6000)
    #expect(Foreseen(half(600, 0), half(600, 10), all: 12_000).likely == 100)
    #expect(Foreseen(half(1, 1e300), half(1, 0), all: 1e300).most < .max)
    for values in [1000, 20_000, 100_000] {
      // 50,000 rows of 1,000,000.
      var found: Set<Int> = []
      var halves: [Double] = []
      for rows in [30_000, 20_000] {
        let before = found.count
        for _ in 0..<rows { found.insert(Int.random(in: 0..<values, using: &random)) }
        halves.append(Double(found.count - before))
      }
      let foreseen = Foreseen(half(30_000, halves[0]), half(20_000, halves[1]), all: 1_000_000)
      #expect(foreseen.least == UInt64(found.count))
      #expect(foreseen.most == UInt64(found.count) * 20)
      #expect(abs(Double(foreseen.likely) / Double(values) - 1) < 0.05, "\(values): \(foreseen)")
    }
  }
}
