import Testing

@testable import Streams

/// Entries of one word: what fits comes back, sorts as it does in all its words, and what does not fit is seen.
@Suite struct EntryPackingTests {
  static let limit: Int64 = 1 << 31
  /// Nil is NULL. The first and the last one do not fit.
  static let values: [Int64?] = [-limit, nil, 1 - limit, -2, -1, 0, 1, 127, limit - 1, limit]
  static let rowids: [Int64] = [-1, 0, 1, 2, 1 << 31, 1 << 32 - 1, 1 << 32]

  @Test(
    "Every value and rowid at the edges comes back, or does not fit; the order is the same", arguments: [false, true])
  func edges(isDescending: Bool) throws {
    let packing = try #require(EntryPacking([SortColumn(0, isDescending: isDescending)]))
    let mask: UInt64 = isDescending ? .max : 0
    var entries: [(packed: UInt64, words: [UInt64])] = []
    for value in Self.values {
      for rowid in Self.rowids {
        let word = value.map { NumberColumns.word($0) } ?? NumberColumns.null
        let fits = value.map { (1 - Self.limit..<Self.limit).contains($0) } ?? true
        guard let packed = packing.pack(word, rowid: rowid) else {
          #expect(!fits || rowid < 0 || rowid >= 1 << 32, "\(String(describing: value)), rowid \(rowid)")
          continue
        }
        #expect(fits && rowid >= 0 && rowid < 1 << 32, "\(String(describing: value)), rowid \(rowid)")
        var words: [UInt64] = [7, 7]
        packing.unpack(packed, into: &words)
        #expect(words == [word ^ mask, NumberColumns.word(rowid)], "\(String(describing: value)), rowid \(rowid)")
        entries.append((packed, words))
      }
    }
    #expect(entries.count == 8 * 5)
    #expect(
      entries.sorted { $0.packed < $1.packed }.map(\.words)
        == entries.map(\.words).sorted { $0.lexicographicallyPrecedes($1) })
  }

  @Test("Only one column of integers is packed")
  func columns() {
    #expect(EntryPacking([SortColumn(0), SortColumn(1)]) == nil)
    #expect(EntryPacking([SortColumn(0, holds: .reals)]) == nil)
    #expect(EntryPacking([SortColumn(0, holds: .others)]) == nil)
  }

  @Test(
    "A row that does not fit changes all entries, whether they are in memory, in runs or both",
    arguments: [Value.integer(1 << 31), .integer(-1 << 31), .real(0.5), .text("late"), .integer(.min)])
  func late(odd: Value) throws {
    var random = SeededGenerator(seed: 4060)
    for (position, bytes) in [(0, 1 << 16), (1, 1 << 16), (700, 1 << 20), (2500, 1 << 14), (4999, 1 << 16)] {
      for isDescending in [false, true] {
        var table = IndexSorterTests.Table(&random, rows: 0, oddity: 0)
        (table.alias, table.columns, table.holdsReals) = (nil, [SortColumn(0, isDescending: isDescending)], [])
        table.rows = (0..<5000).map { row in
          let usual = random.below(9) == 0 ? Value.null : .integer(Int64(random.below(400)) - 9)
          return (Int64(row) + 1, [row == position ? odd : usual])
        }
        let memory = SortMemory(byteCount: bytes)
        let sorter = IndexSorterTests.sorter(table, memory)
        try table.add(to: sorter)
        #expect(try IndexSorterTests.records(sorter) == table.expected, "row \(position), \(bytes) bytes, seed 4060")
        #expect(memory.grantedBytes == 0)
      }
    }
  }

  @Test("Equal values of a unique index are told, in memory and in runs; NULLs are not", arguments: [1 << 13, 1 << 20])
  func unique(bytes: Int) throws {
    var random = SeededGenerator(seed: 4080)
    var table = IndexSorterTests.Table(&random, rows: 0, oddity: 0)
    (table.alias, table.columns, table.holdsReals) = (nil, [SortColumn(0, isDescending: true)], [])
    table.rows = (1...3000).map { (row: Int64) -> (rowid: Int64, values: [Value]) in
      if row % 7 == 0 { return (row, [.null]) }
      return (row, [.integer(row == 2999 ? 5 : row)])
    }
    let sorter = IndexSorterTests.sorter(table, SortMemory(byteCount: bytes), isUnique: true)
    try table.add(to: sorter)
    var equal: [[Int64]] = []
    #expect(try IndexSorterTests.records(sorter) { equal.append([$0, $1]) } == table.expected)
    #expect(equal == [[5, 2999]])
  }

  @Test("A range of addresses that was used before is as good as a new one, and of another size it is not taken")
  func ranges() throws {
    for bytes in [1 << 16, 1 << 16, 1 << 18, 1 << 16] {
      var random = SeededGenerator(seed: 4090)
      let memory = SortMemory(byteCount: bytes)
      for rows in [40, 3, 100] {
        let table = IndexSorterTests.Table(&random, rows: rows, oddity: 20)
        let sorter = IndexSorterTests.sorter(table, memory)
        try table.add(to: sorter)
        #expect(try IndexSorterTests.records(sorter) == table.expected, "\(rows) rows, \(bytes) bytes, seed 4090")
      }
      let range = try memory.range(path: "sort")
      #expect(range.byteCount == memory.largestShare + memory.largestKey)
    }
  }

  @Test("Rowids that do not ascend, or have more than 32 bits, sort as all do", arguments: [0, 4_294_964_796 as Int64])
  func rowids(first: Int64) throws {
    var random = SeededGenerator(seed: 4070)
    var table = IndexSorterTests.Table(&random, rows: 0, oddity: 0)
    (table.alias, table.columns, table.holdsReals) = (nil, [SortColumn(0)], [])
    table.rows = (0..<5000).map { (first + Int64($0) + 1, [.integer(Int64(random.below(50)))]) }
    if first == 0 { table.rows.reverse() }
    let sorter = IndexSorterTests.sorter(table, SortMemory(byteCount: 1 << 15))
    try table.add(to: sorter)
    #expect(try IndexSorterTests.records(sorter) == table.expected, "seed 4070")
  }
}
