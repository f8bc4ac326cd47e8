import Testing

@testable import Streams

@Suite("Records of the second decoder")
struct ProofRecordTests {
  private static let sizes = [0, 1, 2, 3, 4, 6, 8, 8, 0, 0]

  /// What the rule of the file format says of one type; nil for one that is none.
  private static func length(_ type: UInt64) -> Int? {
    type < 10 ? sizes[Int(type)] : type < 12 ? nil : Int((type - 12) / 2)
  }

  /// A number below 16384 as SQLite writes it.
  private static func varint(_ number: Int) -> [UInt8] {
    number < 0x80 ? [UInt8(number)] : [UInt8(number >> 7) | 0x80, UInt8(number & 0x7f)]
  }

  @Test("Eight types at once have the length and the NULLs that each alone has")
  func eight() {
    var random = SeededGenerator(seed: 31)
    for round in 0..<20_000 {
      let most = [10, 12, 14, 128, 256][round % 5]
      let types = (0..<8).map { _ in UInt64(random.below(most)) }
      let word = types.enumerated().reduce(UInt64(0)) { $0 | $1.element << UInt64(8 * $1.offset) }
      let lengths = types.map { $0 < 128 ? Self.length($0) : nil }
      let found = ProofRecord.lengthOfEight(word)
      guard !lengths.contains(where: { $0 == nil }) else {
        #expect(found == nil, "\(types)")
        continue
      }
      #expect(found?.length == lengths.reduce(0) { $0 + ($1 ?? 0) }, "\(types)")
      #expect(
        found?.nulls == types.enumerated().reduce(0) { $0 | ($1.element == 0 ? 1 << UInt64($1.offset) : 0) }, "\(types)"
      )
    }
  }

  @Test("A record of which some columns are wanted is the same as one of which all are, and damage is seen in both")
  func known() {
    var random = SeededGenerator(seed: 32)
    for round in 0..<4_000 {
      let count = random.below(round % 7 == 0 ? 150 : 24)
      let types = (0..<count).map { _ in UInt64(random.below([10, 60, 300][round % 3])) }
      let damage = random.below(4) == 0
      let lengths = types.map { Self.length($0) }
      let isWhole = !lengths.contains { $0 == nil }
      let head = types.flatMap { Self.varint(Int($0)) }
      let body = lengths.reduce(0) { $0 + ($1 ?? 0) } + (damage ? 1 : 0)
      let headLength = head.count + (head.count + 1 < 0x80 ? 1 : 2)
      let bytes = Self.varint(headLength) + head + (0..<body).map { _ in UInt8(random.below(256)) }
      let (all, some) = (ProofRecord(columns: count), ProofRecord(columns: count, known: random.below(count + 1)))
      let (first, second) = bytes.withUnsafeBytes {
        (all.decode($0, length: $0.count), some.decode($0, length: $0.count))
      }
      #expect(first == (isWhole && !damage) && second == first, "round \(round)")
      guard first else { continue }
      #expect(all.count == count && some.count == count && all.nulls == some.nulls, "round \(round)")
      for (column, type) in types.enumerated() { #expect(all.isNull(column) == (type == 0), "round \(round)") }
    }
  }
}
