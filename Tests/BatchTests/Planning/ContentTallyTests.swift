import Testing

@testable import Migrations
@testable import Streams

@Suite("What is counted of a version, in checkpoints")
struct ContentTallyTests {
  private static func tally() -> ContentTally {
    var tally = ContentTally()
    ([5, 0, 2] as [UInt64]).withUnsafeBufferPointer { tally.add(1, $0) }
    ([2, 0, 1] as [UInt64]).withUnsafeBufferPointer { tally.add(leftOut: 1, $0) }
    ([1, 0, 1] as [UInt64]).withUnsafeBufferPointer { tally.add(rejected: 1, $0) }
    tally.add(links: 7, of: 0)
    tally.add(carriedLinks: 3, of: 0)
    tally.add(cleared: 4, at: KeyPlace(table: 1, column: 2, number: 1))
    return tally
  }

  @Test("A tally is read as it was written; one of an earlier version counts all that was not carried as left out")
  func rest() throws {
    let tally = Self.tally()
    var writer = ByteWriter()
    tally.encode(into: &writer)
    let length = writer.bytes.count
    tally.encodeRest(into: &writer)
    var reader = ByteReader(writer.bytes, subject: "state")
    var found = try ContentTally(from: &reader)
    try found.readRest(from: &reader)
    #expect(found == tally && reader.remaining == 0)
    var earlier = ByteReader(Array(writer.bytes[..<length]), subject: "state")
    var old = try ContentTally(from: &earlier)
    #expect(earlier.remaining == 0 && old.leftOut.objects(1) == 3 && old.rejected.objects == 0)
    #expect(old.leftOut.values(1, column: 0) == 0)
    // Such a run goes on: of its later rows more is known.
    old.add(tally)
    #expect(
      old.leftOut.objects(1) == 5 && old.leftOut.values(1, column: 0) == 2 && old.leftOut.values(1, column: 1) == 1)
  }
}
