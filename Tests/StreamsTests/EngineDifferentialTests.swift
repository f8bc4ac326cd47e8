import Foundation
import GRDB
import Testing

@testable import Streams

/// Files built by the engine against SQLite's own reading of them: rows, indexes, structure, and later changes by SQLite.
@Suite struct EngineDifferentialTests {
  struct Row {
    var rowid: Int64
    var values: [Value]
  }

  static func rows(_ random: inout SeededGenerator, columns: Int, pageSize: Int) -> [Row] {
    let count = [0, 1, 2, 5, 40, 300, 1500][random.below(7)]
    let longest = random.below(4) == 0 ? pageSize * 3 : 40
    var rowid: Int64 = random.below(3) == 0 ? -1000 : 0
    return (0..<count).map { _ in
      rowid += Int64(1 + random.below(random.below(5) == 0 ? 1_000_000 : 3))
      return Row(rowid: rowid, values: (0..<columns).map { _ in random.value(longest: count > 300 ? 40 : longest) })
    }
  }

  static func build(_ tables: [[Row]], columns: Int, pageSize: Int, autoVacuum: Int, path: String, order: inout SeededGenerator)
    throws
  {
    var schema: [DatabaseBuilder.SchemaEntry] = []
    let list = (0..<columns).map { "c\($0)" }.joined(separator: ", ")
    for index in tables.indices {
      schema.append(.init(type: "table", name: "t\(index)", tableName: "t\(index)", sql: "CREATE TABLE t\(index) (\(list))"))
      schema.append(
        .init(type: "index", name: "i\(index)", tableName: "t\(index)", sql: "CREATE INDEX i\(index) ON t\(index) (c1 DESC, c0)"))
    }
    let file = try LocalFileSystem().open(path, .create)
    defer { file.close() }
    let header = DatabaseHeader(pageSize: pageSize, autoVacuum: autoVacuum, version: .rollback)
    let database = try DatabaseBuilder(file: file, header: header, schema: schema)
    let builders = tables.indices.map { TableBuilder(root: database.root(of: "t\($0)")!, writer: database.writer) }
    var positions = tables.map { _ in 0 }
    let encoder = RecordEncoder()
    while let table = tables.indices.filter({ positions[$0] < tables[$0].count }).randomElement(using: &order) {
      let row = tables[table][positions[table]]
      positions[table] += 1
      encoder.reset()
      for value in row.values { encoder.append(value) }
      var bytes = [UInt8](repeating: 0, count: encoder.length)
      try bytes.withUnsafeMutableBytes {
        encoder.write(to: $0.baseAddress!)
        try builders[table].append(rowid: row.rowid, record: UnsafeRawBufferPointer($0))
      }
    }
    for builder in builders { try builder.finish() }
    for index in tables.indices {
      try buildIndex(tables[index], root: database.root(of: "i\(index)")!, database, scratch: path + ".sort")
    }
    try database.finish()
  }

  static func buildIndex(_ rows: [Row], root: UInt32, _ database: DatabaseBuilder, scratch: String) throws {
    let sorter = ExternalSorter(memoryBytes: 1 << 20, path: scratch, fileSystem: LocalFileSystem())
    let columns = [SortColumn(1, isDescending: true), SortColumn(0)]
    let (encoder, decoder) = (RecordEncoder(), RecordDecoder())
    for row in rows {
      encoder.reset()
      for value in row.values { encoder.append(value) }
      var bytes = [UInt8](repeating: 0, count: encoder.length)
      var key: [UInt8] = []
      bytes.withUnsafeMutableBytes {
        encoder.write(to: $0.baseAddress!)
        #expect(decoder.decode(UnsafeRawBufferPointer($0)))
        #expect(SortKey.encode(columns: columns, of: decoder, rowidColumn: nil, rowid: row.rowid, to: &key))
      }
      try key.withUnsafeBytes { try sorter.add($0) }
    }
    let index = IndexBuilder(root: root, writer: database.writer)
    try sorter.drain { key in
      #expect(SortKey.decode(key, columns: columns, into: encoder))
      var bytes = [UInt8](repeating: 0, count: encoder.length)
      try bytes.withUnsafeMutableBytes {
        encoder.write(to: $0.baseAddress!)
        try index.append(UnsafeRawBufferPointer($0))
      }
    }
    try index.finish()
  }

  @Test(arguments: 0..<UInt64(ProcessInfo.processInfo.environment["GODWIT_ENGINE_CASES"].flatMap { Int($0) } ?? 60))
  func `what the engine builds, SQLite reads, checks and changes`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let directory = try TemporaryDirectory()
    let path = directory.file("built.sqlite")
    let pageSize = 512 << random.below(8)
    let autoVacuum = random.below(3)
    let columns = 2 + random.below(4)
    let tables = (0..<1 + random.below(3)).map { _ in Self.rows(&random, columns: columns, pageSize: pageSize) }
    try Self.build(
      tables, columns: columns, pageSize: pageSize, autoVacuum: autoVacuum, path: path, order: &random)
    let queue = try DatabaseQueue(path: path)
    try queue.writeWithoutTransaction { db in
      #expect(try String.fetchAll(db, sql: "PRAGMA integrity_check") == ["ok"], "seed \(seed)")
      #expect(try Int.fetchOne(db, sql: "PRAGMA auto_vacuum") == autoVacuum)
      for (index, rows) in tables.enumerated() {
        let found = try GRDB.Row.fetchAll(db, sql: "SELECT rowid, * FROM t\(index) ORDER BY rowid")
        #expect(found.count == rows.count, "seed \(seed)")
        for (row, expected) in zip(found, rows) {
          #expect(row[0] == expected.rowid)
          #expect(Array(row.databaseValues.dropFirst()) == expected.values.map(\.databaseValue), "seed \(seed)")
        }
        let byIndex = try Int.fetchOne(
          db, sql: "SELECT count(*) FROM (SELECT c1, c0 FROM t\(index) INDEXED BY i\(index) ORDER BY c1 DESC, c0)")
        #expect(byIndex == rows.count)
      }
      try db.execute(sql: "DELETE FROM t0 WHERE rowid % 3 = 0; INSERT INTO t0 (c0, c1) SELECT c1, c0 FROM t0 LIMIT 200")
      try db.execute(sql: "UPDATE t0 SET c0 = 'changed' WHERE rowid % 5 = 0; PRAGMA incremental_vacuum")
      #expect(try String.fetchAll(db, sql: "PRAGMA integrity_check") == ["ok"], "seed \(seed)")
      try db.execute(sql: "VACUUM")
      #expect(try String.fetchAll(db, sql: "PRAGMA integrity_check") == ["ok"], "seed \(seed)")
    }
    try queue.close()
  }

  @Test(arguments: 0..<UInt64(40))
  func `the scan reads what SQLite wrote, row for row, from any rowid on`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed &+ 7000)
    let directory = try TemporaryDirectory()
    let path = directory.file("source.sqlite")
    let pageSize = 512 << random.below(8)
    let usesLog = random.below(2) == 0
    let rows = Self.rows(&random, columns: 3, pageSize: pageSize)
    let queue = try DatabaseQueue(path: path)
    try queue.writeWithoutTransaction { db in
      try db.execute(sql: "PRAGMA page_size = \(pageSize); PRAGMA auto_vacuum = \(random.below(3))")
      try db.execute(sql: "CREATE TABLE t (a, b, c); CREATE INDEX i ON t (b)")
      if usesLog { try db.execute(sql: "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0") }
      for chunk in stride(from: 0, to: rows.count, by: 200) {
        try db.inTransaction {
          for row in rows[chunk..<min(chunk + 200, rows.count)] {
            try db.execute(
              sql: "INSERT INTO t (rowid, a, b, c) VALUES (?, ?, ?, ?)",
              arguments: StatementArguments([row.rowid.databaseValue] + row.values.map(\.databaseValue)))
          }
          return .commit
        }
      }
    }
    let root = try queue.read { try UInt32.fetchOne($0, sql: "SELECT rootpage FROM sqlite_schema WHERE name = 't'")! }
    let snapshot = try DatabaseSnapshot(path: path, fileSystem: LocalFileSystem(), locking: .none)
    if usesLog, !rows.isEmpty { #expect(snapshot.logFrames > 0) }
    let start = rows.isEmpty || random.below(2) == 0 ? nil : rows[random.below(rows.count)].rowid
    let expected = rows.filter { row in start.map { row.rowid > $0 } ?? true }
    let scan = TableScan(snapshot: snapshot, root: root, after: start, rowLimit: 1 << 24)
    let (page, decoder) = (RowPage(), RecordDecoder())
    var found: [Row] = []
    while try scan.next(into: page) {
      for index in 0..<page.count {
        #expect(decoder.decode(page.record(index)))
        found.append(Row(rowid: page.rowid(index), values: (0..<3).map { decoder.value($0) }))
      }
    }
    #expect(found.map(\.rowid) == expected.map(\.rowid), "seed \(seed)")
    #expect(found.map(\.values) == expected.map(\.values), "seed \(seed)")
    let lookup = RowLookup(snapshot: snapshot, root: root, cacheBytes: 1 << 16, rowLimit: 1 << 24)
    for row in rows.prefix(50) {
      let value = try lookup.withRecord(row.rowid) { record in
        decoder.decode(record) ? decoder.value(0) : .null
      }
      #expect(value == row.values[0], "seed \(seed)")
    }
    #expect(try lookup.withRecord(Int64.max - 1) { _ in true } == nil)
    snapshot.close()
    try queue.close()
  }
}
