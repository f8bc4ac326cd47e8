import Testing

@testable import Streams

/// Counting NULLs by whole vectors gives what counting one by one gives.
@Suite("Counts of NULLs") struct NullTallyTests {
  @Test(
    "Records of 1 to 40 columns, short and long, in several groups: every sum is that of a plain count",
    arguments: 0..<8)
  func sums(_ part: UInt64) throws {
    var random = SeededGenerator(seed: 230 + part)
    for _ in 0..<10 {
      let (columns, groups) = (1 + random.below(40), 1 + random.below(3))
      let tally = NullTally(groups: groups, columns: columns)
      var plain = Array(repeating: Array(repeating: UInt64(0), count: columns + 1), count: groups)
      // More than fit into a byte.
      for _ in 0..<700 { try count(&random, columns, into: tally, &plain) }
      try expect(tally, plain)
      // What was taken is not there any more.
      try count(&random, columns, into: tally, &plain)
      tally.take { _, numbers in #expect(numbers[0] == 1) }
    }
  }

  private func count(
    _ random: inout SeededGenerator, _ columns: Int, into tally: NullTally, _ plain: inout [[UInt64]]
  ) throws {
    let (encoder, locator, group) = (RecordEncoder(), RecordLocator(columnCount: columns), random.below(plain.count))
    plain[group][0] += 1
    for column in 0..<columns {
      let isNull = random.below(3) == 0
      // A text of 100 bytes has a type of two bytes.
      encoder.append(isNull ? .null : random.below(9) == 0 ? .text(String(repeating: "x", count: 100)) : .integer(7))
      plain[group][column + 1] += isNull ? 1 : 0
    }
    var record = [UInt8](repeating: 0, count: encoder.length)
    record.withUnsafeMutableBytes { encoder.write(to: $0.baseAddress!) }
    try record.withUnsafeBytes { bytes in
      try #require(locator.locate(bytes))
      tally.add(locator, to: group)
    }
  }

  private func expect(_ tally: NullTally, _ plain: [[UInt64]]) throws {
    var seen = Array(repeating: [UInt64](), count: plain.count)
    tally.take { group, numbers in seen[group] = Array(numbers) }
    for (group, numbers) in plain.enumerated() where numbers[0] > 0 { #expect(seen[group] == numbers) }
  }
}
