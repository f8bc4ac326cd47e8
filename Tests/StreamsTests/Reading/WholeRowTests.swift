import TestSupport
import Testing

@testable import Streams

/// The short look at a table's rows gives nothing that the long one does not give.
@Suite struct WholeRowTests {
  static let pageSize = 512

  /// Leaves with rows of one byte and of many, with an overflow chain, and with rowids of every length.
  private func database() throws -> [UInt8] {
    let database = try MemoryDatabase()
    try database.execute(
      """
      PRAGMA page_size = 512; CREATE TABLE t (a INTEGER PRIMARY KEY, b);
      INSERT INTO t VALUES (-9000000000000000000, 'x'), (-1, NULL), (0, 'zero'), (127, 1), (128, hex(zeroblob(60))),
        (16384, 'y'), (16385, hex(zeroblob(500))), (2097152, 3.5), (268435456, 'z'), (34359738368, 'w'),
        (4398046511104, zeroblob(150)), (562949953421312, 'v'), (72057594037927936, 7), (9000000000000000000, 'u');
      """)
    return try database.bytes()
  }

  private func expectSame(_ bytes: UnsafeRawBufferPointer, _ number: UInt32, _ snapshot: DatabaseSnapshot) -> Int {
    guard let page = try? TreePage(number: number, bytes: bytes, snapshot: snapshot), page.kind == .tableLeaf else {
      return 0
    }
    var found = 0
    for index in 0..<page.cellCount {
      guard let row = page.wholeRow(index, maximumLocal: snapshot.geometry.maximumTableLocal) else { continue }
      found += 1
      guard let cell = try? page.cell(index), cell.rowid == row.rowid, cell.overflow == 0,
        cell.payloadLength == row.end - row.payload, cell.place == row.begin..<row.end,
        cell.local.elementsEqual(page.payload(row))
      else {
        Issue.record("page \(number), cell \(index): \(row)")
        continue
      }
    }
    return found
  }

  @Test("Whatever byte of a leaf is another one, a row that is found is the row of the cell")
  func everyByte() throws {
    let bytes = try database()
    let snapshot = try MemoryFile(bytes).snapshot()
    var found = 0
    for number in 2...UInt32(bytes.count / Self.pageSize) {
      var page = Array(bytes[Int(number - 1) * Self.pageSize..<Int(number) * Self.pageSize])
      guard page[0] == 13 else { continue }
      found += page.withUnsafeBytes { expectSame($0, number, snapshot) }
      for place in page.indices {
        let before = page[place]
        for value in [0, 1, 2, 0x7f, 0x80, 0x81, 0xff, before ^ 1, before &+ 1] {
          page[place] = value
          _ = page.withUnsafeBytes { expectSame($0, number, snapshot) }
        }
        page[place] = before
      }
    }
    // All but those with a long rowid or a chain, and the last one on each page.
    #expect(found >= 6, "\(found)")
  }
}
