import Foundation
import GRDB
import TestSupport
import Testing

@testable import Streams

/// Databases of SQLite with bytes changed at random, and some changed on purpose: reading ends with rows or an error.
@Suite(.endsWithin(minutes: 5)) struct DamagedDatabaseTests {
  struct Original {
    var main: [UInt8]
    var log: [UInt8]
    var roots: [UInt32]
    var pageSize: Int
  }

  static func make(_ random: inout SeededGenerator, in folder: FilesTestFolder) throws -> Original {
    let path = folder.file("original")
    let pageSize = 512 << random.below(4)
    let usesLog = random.below(2) == 0
    let queue = try DatabaseQueue(path: path)
    try queue.writeWithoutTransaction { db in
      try db.execute(sql: "PRAGMA page_size = \(pageSize); PRAGMA auto_vacuum = \(random.below(3))")
      try db.execute(
        sql: "CREATE TABLE t0 (a, b); CREATE TABLE t1 (a, b); CREATE INDEX i ON t0 (a); CREATE TABLE empty (a)")
      if usesLog { try db.execute(sql: "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0") }
      for transaction in 0..<3 {
        try db.inTransaction {
          for row in 0..<20 + random.below(30) {
            try db.execute(
              sql: "INSERT INTO t\(row % 2) VALUES (?, ?)",
              arguments: [
                random.value(longest: transaction == 0 ? pageSize * 3 : 40).databaseValue,
                random.value(longest: 90).databaseValue,
              ])
          }
          return .commit
        }
      }
    }
    let roots = try queue.inDatabase {
      try UInt32.fetchAll($0, sql: "SELECT rootpage FROM sqlite_schema WHERE type = 'table'")
    }
    let files = LocalFileSystem()
    let original = Original(
      main: try files.readAll(path, cap: 1 << 24), log: usesLog ? try files.readAll(path + "-wal", cap: 1 << 24) : [],
      roots: roots,
      pageSize: pageSize)
    try queue.close()
    for suffix in ["", "-wal", "-shm"] { try files.remove(path + suffix) }
    return original
  }

  /// Reads everything that can be read; returns rows, or nil when an error ended it.
  static func read(_ path: String, roots: [UInt32]) throws -> Int? {
    var rows = 0
    do {
      let snapshot = try Streams.DatabaseSnapshot(path: path, fileSystem: LocalFileSystem(), locking: .none)
      defer { snapshot.close() }
      var failed = false
      // A damaged table does not keep the others from being read.
      for root in [1] + roots {
        do { rows += try read(snapshot, root: root) } catch is StreamsError { failed = true }
      }
      return failed ? nil : rows
    } catch is StreamsError { return nil }
  }

  static func read(_ snapshot: Streams.DatabaseSnapshot, root: UInt32) throws -> Int {
    let lookup = RowLookup(snapshot: snapshot, root: root, cacheBytes: 1 << 14, rowLimit: 1 << 20)
    let (page, decoder) = (RowPage(), RecordDecoder())
    _ = try? TablePages.count(snapshot, root: root)
    _ = try? lookup.lastRowid()
    for rowid in [Int64.min, -1, 0, 1, 5, 17, 40, .max] { _ = try? lookup.withRecord(rowid) { decoder.decode($0) } }
    let later = TableScan(snapshot: snapshot, root: root, after: 10, rowLimit: 1 << 20)
    _ = try? later.next(into: page)
    _ = try? copy(snapshot, root: root)
    let scan = TableScan(snapshot: snapshot, root: root, rowLimit: 1 << 20)
    var rows = 0
    while try scan.next(into: page) {
      for index in 0..<page.count {
        guard decoder.decode(page.record(index)) else { throw StreamsError(.damagedDatabase, "a record is damaged") }
        for column in 0..<min(decoder.columnCount, 50) { _ = try decoder.value(column) }
        rows += 1
      }
    }
    return rows
  }

  /// Copies a table into another database, long values page by page; returns rows.
  static func copy(_ snapshot: Streams.DatabaseSnapshot, root: UInt32) throws -> UInt64 {
    let header = DatabaseHeader(pageSize: 1024, autoVacuum: 2, version: .rollback)
    let schema = DatabaseBuilder.SchemaEntry(type: "table", name: "t", tableName: "t", sql: "CREATE TABLE t (a)")
    let database = try DatabaseBuilder(file: MemoryFile(), header: header, schema: [schema])
    let builder = TableBuilder(root: 3, writer: database.writer)
    let scan = TableScan(snapshot: snapshot, root: root, rowLimit: 1 << 20, longValuesFrom: 64)
    let (longValues, page) = (LongValueReader(snapshot: snapshot, limit: 1 << 20), RowPage())
    while try scan.next(into: page) {
      for row in 0..<page.count {
        try builder.append(rowid: page.rowid(row), record: page.record(row), longValues: longValues)
      }
    }
    try builder.finish()
    try database.finish()
    return builder.rowCount
  }

  static func damage(_ bytes: inout [UInt8], _ random: inout SeededGenerator, pageSize: Int) {
    guard !bytes.isEmpty else { return }
    for _ in 0..<1 + random.below(4) {
      let page = random.below(bytes.count) / pageSize * pageSize
      // Page headers and cell offsets decide everything, so they are hit as often as the rest.
      let place = min(bytes.count - 1, random.below(2) == 0 ? page + random.below(24) : random.below(bytes.count))
      switch random.below(4) {
      case 0: bytes[place] ^= 1 << UInt8(random.below(8))
      case 1: bytes[place] = [0, 1, 2, 5, 10, 13, 0x7f, 0x80, 0xff][random.below(9)]
      case 2:
        for index in place..<min(place + 1 + random.below(16), bytes.count) {
          bytes[index] = UInt8(truncatingIfNeeded: random.next())
        }
      default: for index in place..<min(place + 9, bytes.count) { bytes[index] = 0xff }
      }
    }
    if random.below(20) == 0 { bytes.removeLast(random.below(bytes.count)) }
  }

  @Test(
    "Changed bytes end in rows or an error, never in a trap or a loop",
    arguments: 0..<UInt64(ProcessInfo.processInfo.environment["GODWIT_FUZZ_CASES"].flatMap { Int($0) } ?? 10))
  func fuzz(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed &+ 1000)
    let folder = try FilesTestFolder()
    let original = try Self.make(&random, in: folder)
    let path = folder.file("damaged")
    let files = LocalFileSystem()
    func write(_ main: [UInt8], _ log: [UInt8]) throws {
      try Data(main).write(to: URL(fileURLWithPath: path))
      if log.isEmpty {
        try files.remove(path + "-wal")
      } else {
        try Data(log).write(to: URL(fileURLWithPath: path + "-wal"))
      }
    }
    try write(original.main, original.log)
    #expect(try Self.read(path, roots: original.roots) ?? 0 > 50, "seed \(seed)")
    var failures = 0
    for round in 0..<150 {
      var (main, log) = (original.main, original.log)
      if round % 3 == 0 { Self.damage(&log, &random, pageSize: original.pageSize) }
      if round % 3 > 0 || log.isEmpty { Self.damage(&main, &random, pageSize: original.pageSize) }
      try write(main, log)
      if try Self.read(path, roots: original.roots) == nil { failures += 1 }
    }
    #expect(failures > 10, "seed \(seed): too little was damaged")
  }
}
