import Foundation
import GRDB
import Testing

@testable import Streams

/// The order of sort keys against SQLite's own order of the same values.
@Suite struct SortKeyTests {
  static let edges: [Value] = {
    let two53 = Int64(1) << 53
    var values: [Value] = [
      .null, .real(0.5), .real(-0.5), .real(.infinity), .real(-.infinity), .real(.leastNonzeroMagnitude), .real(1e300),
    ]
    for center: Int64 in [0, two53, -two53, 1 << 62, -(1 << 62), .max - 2, .min + 2] {
      for step in Int64(-2)...2 {
        values.append(.integer(center + step))
        values.append(.real(Double(center + step)))
      }
    }
    values += [.real(0x1p63), .real(-0x1p63), .real(0x1p63.nextDown), .integer(1_000_000_000_000_001)]
    values += ["", "a", "a\0", "a\0b", "\0", "\0\0", "ab", "é", "Z"].map { Value.text($0) }
    values += ["A", "a ", "a  ", " ", "A\0B", "a\0c", "A\0", "_", "aB", "Ab", "ab ", "a\0 "].map { Value.text($0) }
    values += [[], [0], [0, 0], [0, 255], [255], [255, 0], [1], [0, 1]].map { Value.blob($0) }
    return values
  }()

  static func value(_ random: inout SeededGenerator) -> Value {
    if random.below(2) == 0 { return edges[random.below(edges.count)] }
    switch random.below(4) {
    case 0:
      // Integers and doubles that meet beyond the doubles' precision.
      let integer = Int64(bitPattern: random.next()) >> Int64(random.below(12))
      return random.below(2) == 0 ? .integer(integer) : .real(Double(integer))
    case 1:
      return .text(
        String(
          decoding: (0..<random.below(4)).map { _ in [0, 1, 0x20, 0x41, 0x5f, 0x61][random.below(6)] }, as: UTF8.self))
    case 2: return .blob((0..<random.below(4)).map { _ in [0, 1, 0xfe, 0xff][random.below(4)] })
    default: return random.value(longest: 12)
    }
  }

  static func columns(_ random: inout SeededGenerator, _ count: Int) -> [SortColumn] {
    (0..<count).map {
      SortColumn($0, isDescending: random.below(2) == 0, collation: Collation.allCases[max(0, random.below(5) - 2)])
    }
  }

  static func record(_ values: [Value]) -> [UInt8] {
    let encoder = RecordEncoder()
    for value in values { encoder.append(value) }
    var bytes = [UInt8](repeating: 0, count: encoder.length)
    bytes.withUnsafeMutableBytes { encoder.write(to: $0.baseAddress!) }
    return bytes
  }

  static func key(_ values: [Value], _ columns: [SortColumn], rowid: Int64, rowidColumn: Int? = nil) -> [UInt8] {
    let decoder = RecordDecoder()
    var key: [UInt8] = []
    record(values).withUnsafeBytes {
      #expect(decoder.decode($0))
      #expect(SortKey.encode(columns: columns, of: decoder, rowidColumn: rowidColumn, rowid: rowid, to: &key))
    }
    return key
  }

  static func precedes(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    left.withUnsafeBytes { left in right.withUnsafeBytes { compareKeys(left, $0) < 0 } }
  }

  /// A text is bound as a blob, because a bound text ends at its first NUL.
  static func insert(_ row: [Value], _ db: Database) throws {
    var (marks, arguments): ([String], [DatabaseValue]) = ([], [])
    for value in row {
      if case .text(let text) = value {
        marks.append("CAST(? AS TEXT)")
        arguments.append(Data(text.utf8).databaseValue)
      } else {
        marks.append("?")
        arguments.append(value.databaseValue)
      }
    }
    let list = marks.joined(separator: ", ")
    try db.execute(sql: "INSERT INTO t VALUES (\(list))", arguments: StatementArguments(arguments))
  }

  @Test("The order of keys is the order of SQLite, also where integers and doubles meet", arguments: 0..<UInt64(16))
  func order(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed &+ 500)
    let columns = Self.columns(&random, 1 + random.below(3))
    let rows = (0..<250).map { _ in columns.map { _ in Self.value(&random) } }
    let queue = try DatabaseQueue()
    let expected = try queue.write { db in
      try db.execute(sql: "CREATE TABLE t (\(columns.map { "c\($0.column)" }.joined(separator: ", ")))")
      for row in rows { try Self.insert(row, db) }
      let order = columns.map { "c\($0.column) COLLATE \($0.collation.rawValue)\($0.isDescending ? " DESC" : "")" }
        .joined(
          separator: ", ")
      return try Int64.fetchAll(db, sql: "SELECT rowid FROM t ORDER BY \(order), rowid")
    }
    let keys = rows.indices.map { Self.key(rows[$0], columns, rowid: Int64($0 + 1)) }
    let found = rows.indices.sorted { SortKeyTests.precedes(keys[$0], keys[$1]) }.map { Int64($0 + 1) }
    for (own, wanted) in zip(found, expected) where own != wanted {
      Issue.record("seed \(seed), \(columns): \(rows[Int(own) - 1]) stands where \(rows[Int(wanted) - 1]) belongs")
      return
    }
  }

  @Test("A key gives back the index record it was made of, byte for byte", arguments: 0..<UInt64(8))
  func decoding(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed &+ 600)
    let columns = Self.columns(&random, 1 + random.below(4))
    let encoder = RecordEncoder()
    for _ in 0..<200 {
      let values = columns.map { _ in Self.value(&random) }
      let rowid = Int64(bitPattern: random.next()) >> Int64(random.below(64))
      let key = Self.key(values, columns, rowid: rowid)
      try key.withUnsafeBytes { bytes in
        try #require(SortKey.decode(bytes, columns: columns, into: encoder))
        #expect(SortKey.hasNull(bytes, columns: columns) == values.contains(.null))
      }
      var found = [UInt8](repeating: 0, count: encoder.length)
      found.withUnsafeMutableBytes { encoder.write(to: $0.baseAddress!) }
      #expect(found == Self.record(values + [.integer(rowid)]), "seed \(seed): \(values)")
    }
  }

  @Test("Cells get the index record that a key was made of, byte for byte, for every edge in every kind of column")
  func cells() {
    for (isDescending, collation) in [false, true].flatMap({ way in Collation.allCases.map { (way, $0) } }) {
      let columns = [
        SortColumn(0), SortColumn(1, isDescending: isDescending, collation: collation),
        SortColumn(2, isDescending: true),
      ]
      let record = KeyRecord(columns)
      for (number, value) in Self.edges.enumerated() {
        let values = [value, Self.edges[(number * 7 + 3) % Self.edges.count], value]
        let expected = Self.record(values + [.integer(-5)])
        let cells = IndexCells()
        Self.key(values, columns, rowid: -5).withUnsafeBytes { #expect(record.append($0, to: cells)) }
        #expect(Array(cells.bytes) == [UInt8(expected.count)] + expected, "\(columns): \(values)")
      }
    }
  }

  @Test("Entries of a unique index are equal where SQLite says so; NULL equals nothing", arguments: Collation.allCases)
  func equalKeys(collation: Collation) throws {
    let same = try DatabaseQueue().write { db in
      try db.execute(sql: "CREATE TABLE t (v)")
      for value in Self.edges { try Self.insert([value], db) }
      return try Row.fetchAll(
        db, sql: "SELECT a.rowid, b.rowid FROM t a, t b WHERE a.v = b.v COLLATE \(collation.rawValue)"
      ).map { [$0[0] as Int64, $0[1]] }
    }
    let columns = [SortColumn(0, isDescending: collation == .trimmingRight, collation: collation)]
    let keys = Self.edges.enumerated().map { Self.key([$1], columns, rowid: Int64($0 + 1)) }
    var found: [[Int64]] = []
    for left in keys {
      for right in keys {
        let equals = EqualKeys(columns)
        #expect(left.withUnsafeBytes { equals.next($0) } == nil)
        if let (first, second) = right.withUnsafeBytes({ equals.next($0) }) { found.append([first, second]) }
      }
    }
    #expect(Set(found) == Set(same))
  }

  @Test("Keys that are cut or changed decode to something or are refused, never trap")
  func damagedKeys() {
    var random = SeededGenerator(seed: 700)
    let encoder = RecordEncoder()
    for _ in 0..<2000 {
      let columns = Self.columns(&random, 1 + random.below(3))
      var key = Self.key(columns.map { _ in Self.value(&random) }, columns, rowid: 5)
      if random.below(2) == 0 { key.removeLast(1 + random.below(key.count)) }
      for _ in 0..<random.below(3) where !key.isEmpty {
        key[random.below(key.count)] = UInt8(truncatingIfNeeded: random.next())
      }
      key.withUnsafeBytes {
        _ = SortKey.decode($0, columns: columns, into: encoder)
        _ = SortKey.hasNull($0, columns: columns)
        _ = KeyRecord(columns).append($0, to: IndexCells())
        _ = EqualKeys(columns).next($0)
      }
    }
  }

  @Test("I7: what does not fit into memory is sorted through runs on disk", arguments: 0..<UInt64(3))
  func externalSort(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed &+ 800)
    let folder = try FilesTestFolder()
    let path = folder.file("sort")
    let sorter = ExternalSorter(memoryBytes: 1 << 12, path: path, fileSystem: LocalFileSystem())
    for round in 0..<2 {
      let keys = (0..<(round == 0 ? 6000 : 20)).map { _ in
        let length = random.below(50) == 0 ? 1 + random.below(30_000) : 1 + random.below(20)
        return (0..<length).map { _ in UInt8(random.below(3)) }
      }
      for key in keys { try key.withUnsafeBytes { try sorter.add($0) } }
      #expect(try LocalFileSystem().status(path) == nil, "a scratch file has no name")
      var found: [[UInt8]] = []
      try sorter.drain { found.append([UInt8]($0)) }
      #expect(found == keys.sorted { $0.lexicographicallyPrecedes($1) }, "seed \(seed)")
      #expect(try LocalFileSystem().status(path) == nil)
    }
    let tooLarge = [UInt8](repeating: 1, count: 40_000)
    let error = #expect(throws: StreamsError.self) { try tooLarge.withUnsafeBytes { try sorter.add($0) } }
    #expect(error?.code == .tooLarge)
  }
}
