import GRDB
import Testing

@testable import Streams

/// The entries of an index against SQLite's order and against the way through keys of bytes.
@Suite struct IndexSorterTests {
  /// A made table with one index.
  struct Table {
    var columns: [SortColumn]
    var alias: Int?
    var rows: [(rowid: Int64, values: [Value])] = []
    /// Columns of reals.
    var holdsReals: Set<Int> = []

    /// `oddity` is how many rows in a thousand have something else than integers and NULL.
    init(_ random: inout SeededGenerator, rows count: Int, oddity: Int) {
      let width = 1 + random.below(4)
      alias = random.below(3) == 0 ? random.below(width) : nil
      columns = (0..<(1 + random.below(width))).map { _ in
        SortColumn(
          random.below(width), isDescending: random.below(2) == 0, collation: Collation.allCases[random.below(3)],
          holds: random.below(2) == 0 ? .reals : .integers)
      }
      holdsReals = Set(columns.filter { $0.holds == .reals }.map(\.column))
      var rowid = random.below(2) == 0 ? Int64(0) : Int64.min / 4
      let isOrdered = random.below(4) == 0
      for number in 0..<count {
        rowid += 1 + Int64(random.below(3))
        rows.append(
          (
            rowid,
            (0..<width).map { column in
              holdsReals.contains(column)
                ? Self.real(&random, oddity) : Self.value(&random, oddity, isOrdered ? number / 3 : nil)
            }
          ))
        if let alias { rows[number].values[alias] = .null }
      }
    }

    static func value(_ random: inout SeededGenerator, _ oddity: Int, _ order: Int?) -> Value {
      if random.below(1000) < oddity { return [.integer(.min), .real(0.5), .text("a"), .blob([1])][random.below(4)] }
      if let order { return .integer(Int64(order)) }
      switch random.below(6) {
      case 0: return .null
      case 1: return .integer([0, 1, -1, .max, .min + 1, 127, -128, 1 << 47][random.below(8)])
      case 2: return .integer(Int64(truncatingIfNeeded: random.next() | 1))
      default: return .integer(Int64(random.below(300)) - 50)
      }
    }

    /// Around the limit up to which a real equals every integer.
    static let odd: [Value] = [
      .real(-0.0), .real(5), .real(0x1p53), .integer(1 << 53 + 1), .integer(.min), .integer(.max), .text("a"),
    ]

    static func real(_ random: inout SeededGenerator, _ oddity: Int) -> Value {
      if random.below(1000) < oddity { return odd[random.below(odd.count)] }
      switch random.below(7) {
      case 0: return .null
      case 1: return .integer([0, 1, -1, 1 << 53, -1 << 53, 700_000_000][random.below(6)])
      case 2: return .real([.infinity, -.infinity, 0x1p53 + 2, -0x1p60, .leastNonzeroMagnitude, -0.5][random.below(6)])
      case 3: return .integer(Int64(random.below(300)) - 50)
      default: return .real(Double(Int64(random.below(1 << 40)) - 1 << 39) / 1024 + 1 / 4096)
      }
    }

    func add(to sorter: IndexSorter, page: Int = 700) throws {
      let keys = TableKeys([sorter])
      for start in stride(from: 0, to: rows.count, by: page) {
        let part = rows[start..<min(start + page, rows.count)]
        let records = part.map { row in
          let record = SortKeyTests.record(row.values)
          let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: record.count, alignment: 8)
          bytes.copyBytes(from: record)
          return bytes
        }
        defer { for record in records { record.deallocate() } }
        for (row, record) in zip(part, records) {
          #expect(try keys.add(rowid: row.rowid, record: UnsafeRawBufferPointer(record)))
        }
        #expect(try keys.flush() == nil)
      }
    }

    /// The records by way of keys of bytes, all in memory.
    var expected: [[UInt8]] {
      let encoder = RecordEncoder()
      let keys = rows.map { SortKeyTests.key($0.values, columns, rowid: $0.rowid, rowidColumn: alias) }
      return keys.sorted(by: SortKeyTests.precedes).map { key in
        #expect(key.withUnsafeBytes { SortKey.decode($0, columns: columns, into: encoder) })
        var record = [UInt8](repeating: 0, count: encoder.length)
        record.withUnsafeMutableBytes { encoder.write(to: $0.baseAddress!) }
        return record
      }
    }

    /// The rowids in SQLite's order.
    func rowidsOfSQLite() throws -> [Int64] {
      guard let width = rows.first?.values.count else { return [] }
      return try DatabaseQueue().write { db in
        let names = (0..<width).map { "c\($0)\($0 == alias ? " INTEGER PRIMARY KEY" : "")" }
        try db.execute(sql: "CREATE TABLE t (\(names.joined(separator: ", ")))")
        let marks = Array(repeating: "?", count: width).joined(separator: ", ")
        let list = (0..<width).map { "c\($0)" }.joined(separator: ", ")
        let statement = try db.makeStatement(
          sql: alias == nil
            ? "INSERT INTO t (rowid, \(list)) VALUES (?, \(marks))" : "INSERT INTO t (\(list)) VALUES (\(marks))")
        for row in rows {
          var values = row.values.map(\.databaseValue)
          if let alias {
            values[alias] = row.rowid.databaseValue
          } else {
            values.insert(row.rowid.databaseValue, at: 0)
          }
          try statement.execute(arguments: StatementArguments(values))
        }
        let order = columns.map { "c\($0.column) COLLATE \($0.collation.rawValue)\($0.isDescending ? " DESC" : "")" }
        return try Int64.fetchAll(db, sql: "SELECT rowid FROM t ORDER BY \(order.joined(separator: ", ")), rowid")
      }
    }
  }

  static func sorter(
    _ table: Table, _ memory: SortMemory, _ disk: ScratchFileSystem = ScratchFileSystem(), isUnique: Bool = false
  )
    -> IndexSorter
  {
    IndexSorter(
      columns: table.columns, rowidColumn: table.alias, isUnique: isUnique, memory: memory, path: "sort",
      fileSystem: disk)
  }

  static func records(
    _ sorter: IndexSorter, onEqual: (Int64, Int64) throws -> Void = { _, _ in }, watch: () -> Void = {}
  ) throws -> [[UInt8]] {
    var found: [[UInt8]] = []
    func take(_ cells: IndexCells) {
      var position = 0
      while position < cells.bytes.count {
        guard let length = Varint.read(cells.bytes, at: &position) else { return }
        found.append([UInt8](cells.bytes[position..<(position + Int(length))]))
        position += Int(length)
      }
      cells.reset()
    }
    take(
      try sorter.drain(
        into: IndexCells(), onEqual: onEqual,
        onFull: {
          take($0)
          watch()
          return $0
        }))
    return found
  }

  @Test(
    "Words and keys of bytes give the same records, in SQLite's order, with much memory and with little",
    arguments: 0..<UInt64(40))
  func order(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed &+ 4000)
    let table = Table(&random, rows: [0, 1, 40, 1200][Int(seed % 4)], oddity: [0, 0, 2, 200][random.below(4)])
    let memory = SortMemory(byteCount: [1 << 12, 1 << 14, 1 << 20][random.below(3)])
    let sorter = Self.sorter(table, memory)
    try table.add(to: sorter)
    let found = try Self.records(sorter)
    #expect(found == table.expected, "seed \(seed), \(table.columns), rowid in \(String(describing: table.alias))")
    let decoder = RecordDecoder()
    let rowids = found.map { record in
      record.withUnsafeBytes { decoder.decode($0) ? decoder.integer(decoder.columnCount - 1) : nil }
    }
    #expect(try rowids == table.rowidsOfSQLite(), "seed \(seed)")
    #expect(memory.grantedBytes == 0)
  }

  @Test(
    "An odd value after many rows of NULL turns all entries into keys, also where keys need the memory that words had")
  func lateOddity() throws {
    var random = SeededGenerator(seed: 4050)
    for rows in stride(from: 400, through: 4000, by: 200) {
      for descending in [false, true] {
        var table = Table(&random, rows: 0, oddity: 0)
        (table.alias, table.columns) = (nil, [SortColumn(0, isDescending: descending)])
        table.rows = (1...rows).map { (Int64($0), [.null]) } + [(Int64(rows + 1), [.text("late")])]
        let sorter = Self.sorter(table, SortMemory(byteCount: 1 << 16))
        try table.add(to: sorter)
        #expect(try Self.records(sorter) == table.expected, "\(rows) rows, descending: \(descending)")
      }
    }
  }

  @Test("I7: many sorters stay within the memory that they share, and give every entry", arguments: 0..<UInt64(3))
  func sharing(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed &+ 4100)
    let memory = SortMemory(byteCount: 1 << 16)
    let tables = (0..<8).map { Table(&random, rows: 400 * ($0 + 1), oddity: $0 % 3 == 0 ? 5 : 0) }
    let sorters = tables.map { Self.sorter($0, memory) }
    for (table, sorter) in zip(tables, sorters) {
      try table.add(to: sorter, page: 100)
      #expect(memory.heldBytes <= memory.byteCount, "seed \(seed)")
    }
    for (table, sorter) in zip(tables, sorters) {
      var most = 0
      let found = try Self.records(sorter, watch: { most = max(most, memory.heldBytes) })
      #expect(found == table.expected, "seed \(seed)")
      #expect(most <= memory.byteCount)
    }
    #expect(memory.heldBytes == 0)
  }

  @Test("Equal entries of a unique index are told with both rowids; NULL equals nothing", arguments: [0, 3])
  func unique(oddity: Int) throws {
    var random = SeededGenerator(seed: 4200)
    for descending in [false, true] {
      var table = Table(&random, rows: 0, oddity: 0)
      table.alias = nil
      table.columns = [SortColumn(0), SortColumn(1, isDescending: descending)]
      for row in 0..<2000 {
        table.rows.append((Int64(row), [.integer(Int64(row % 997)), row % 7 == 0 ? .null : .integer(5)]))
      }
      if oddity > 0 { table.rows.append((5000, [.text("a"), .integer(1)])) }
      let sorter = Self.sorter(table, SortMemory(byteCount: 1 << 12), isUnique: true)
      try table.add(to: sorter)
      var told: [Int64: Int64] = [:]
      _ = try Self.records(sorter) { told[$0] = $1 }
      var expected: [Int64: Int64] = [:]
      for value in 0..<997 {
        let rows = [value, value + 997, value + 1994].filter { $0 < 2000 && $0 % 7 != 0 }.map { Int64($0) }
        for (left, right) in zip(rows, rows.dropFirst()) { expected[left] = right }
      }
      #expect(told == expected)
    }
  }

  @Test(
    "A scratch file that reads wrongly ends in an error or in other keys, never in a trap", arguments: 0..<UInt64(40))
  func damage(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed &+ 4300)
    let table = Table(&random, rows: 1500, oddity: seed % 2 == 0 ? 0 : 20)
    let sorter = Self.sorter(table, SortMemory(byteCount: 1 << 13), ScratchFileSystem(flipping: seed))
    do {
      try table.add(to: sorter)
      _ = try Self.records(sorter)
    } catch let error as StreamsError {
      #expect(error.code == .inputOutput, "seed \(seed): \(error)")
    }
  }
}
