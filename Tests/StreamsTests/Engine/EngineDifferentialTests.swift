import Foundation
import GRDB
import Testing

@testable import Streams

/// Files built by the engine against SQLite's own reading of them: rows, indexes, structure, and later changes by
/// SQLite.
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

  static func setting(_ name: String, _ standard: Int) -> Int {
    ProcessInfo.processInfo.environment[name].flatMap { Int($0) } ?? standard
  }

  static let chunk = 250
  static let cases = setting("GODWIT_ENGINE_CASES", 10_000)
  static let firstSeed = UInt64(setting("GODWIT_ENGINE_SEED", 0))

  /// `GODWIT_ENGINE_SEED=N GODWIT_ENGINE_CASES=1` repeats a case.
  @Test(
    "Random databases of SQLite are read as SQLite reads them, and what is built of them SQLite reads, checks and changes",
    arguments: 0..<(cases + chunk - 1) / chunk)
  func random(part: Int) throws {
    let seeds = part * Self.chunk..<min(Self.cases, (part + 1) * Self.chunk)
    for seed in seeds.map({ Self.firstSeed + UInt64($0) }) {
      do {
        var engineCase = try EngineCase(seed: seed)
        try engineCase.run()
      } catch {
        Issue.record("seed \(seed): \(error)")
      }
    }
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
        found.append(Row(rowid: page.rowid(index), values: try (0..<3).map { try decoder.value($0) }))
      }
    }
    #expect(found.map(\.rowid) == expected.map(\.rowid), "seed \(seed)")
    #expect(found.map(\.values) == expected.map(\.values), "seed \(seed)")
    let lookup = RowLookup(snapshot: snapshot, root: root, cacheBytes: 1 << 16, rowLimit: 1 << 24)
    for row in rows.prefix(50) {
      let value = try lookup.withRecord(row.rowid) { record in
        try decoder.decode(record) ? decoder.value(0) : .null
      }
      #expect(value == row.values[0], "seed \(seed)")
    }
    #expect(try lookup.withRecord(Int64.max - 1) { _ in true } == nil)
    snapshot.close()
    try queue.close()
  }
}
