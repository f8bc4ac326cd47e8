import Foundation
import GRDB
import Testing

@testable import Streams

/// Long values go from file to file without being in memory: the bytes are those of rows that are put together.
@Suite struct LongValueTests {
  struct Store {
    var path: String
    var root: UInt32
    var header: DatabaseHeader
    var columns: Int
  }

  /// Rows with long values in any column, in a file of any form, as SQLite writes them.
  static func store(_ random: inout SeededGenerator, _ folder: FilesTestFolder) throws -> Store {
    let pageSize = 512 << random.below(8)
    let columns = 1 + random.below(7)
    let path = folder.file("source.sqlite")
    let queue = try DatabaseQueue(path: path)
    let (vacuum, encoding) = (random.below(3), ["UTF-8", "UTF-8", "UTF-16le", "UTF-16be"][random.below(4)])
    try queue.writeWithoutTransaction { db in
      try db.execute(
        sql: "PRAGMA page_size = \(pageSize); PRAGMA auto_vacuum = \(vacuum); PRAGMA encoding = '\(encoding)'")
      let names = (0..<columns).map { "c\($0)" }.joined(separator: ", ")
      try db.execute(sql: "CREATE TABLE t (\(names)); CREATE TABLE other (a)")
      if random.below(3) == 0 { try db.execute(sql: "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0") }
      try db.inTransaction {
        for _ in 0..<20 + random.below(60) {
          let values = (0..<columns).map { _ in value(&random, pageSize).databaseValue }
          let marks = values.map { _ in "?" }.joined(separator: ", ")
          try db.execute(sql: "INSERT INTO t (\(names)) VALUES (\(marks))", arguments: StatementArguments(values))
          if random.below(3) == 0 {
            try db.execute(sql: "INSERT INTO other VALUES (zeroblob(\(random.below(3 * pageSize))))")
          }
        }
        return .commit
      }
      if random.below(2) == 0 {
        try db.execute(sql: "DELETE FROM other; UPDATE t SET c0 = zeroblob(3000) WHERE rowid % 5 = 0")
      }
    }
    let root = try queue.read { try UInt32.fetchOne($0, sql: "SELECT rootpage FROM sqlite_schema WHERE name = 't'")! }
    // The file and its log as they are: closing would bring them together.
    let copy = folder.file("copy.sqlite")
    for suffix in ["", "-wal"] where FileManager.default.fileExists(atPath: path + suffix) {
      try FileManager.default.copyItem(atPath: path + suffix, toPath: copy + suffix)
    }
    try queue.close()
    let header = DatabaseHeader(
      pageSize: 512 << random.below(8), reserved: random.below(3) == 0 ? 1 + random.below(30) : 0,
      autoVacuum: random.below(3),
      version: .rollback)
    return Store(path: copy, root: root, header: header, columns: columns)
  }

  static func value(_ random: inout SeededGenerator, _ pageSize: Int) -> Value {
    let length = [3, 200, 600, 700, pageSize, 3 * pageSize][random.below(6)] + random.below(9)
    switch random.below(4) {
    case 0: return .blob((0..<length).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ length) })
    case 1: return .text(String(repeating: ["a", "é", "😀"][random.below(3)], count: length / 2))
    default: return random.value(longest: 20)
    }
  }

  /// What becomes of a record: its columns in another order, some left out, some twice, constants between them.
  static func recipe(_ random: inout SeededGenerator, _ columns: Int) -> [RecordRecipe.Piece] {
    (0..<1 + random.below(6)).map { _ in
      let from = random.below(columns)
      return random.below(4) == 0
        ? .constant(random.value(longest: 30)) : .columns(from: from, count: 1 + random.below(columns - from))
    }
  }

  /// Builds a table of the source's rows; the recipe runs in one piece or column by column.
  static func build(
    _ store: Store, _ recipe: [RecordRecipe.Piece]?, to path: String, longValuesFrom: Int?, rowLimit: Int,
    byColumns: Bool
  ) throws -> [UInt8] {
    let snapshot = try DatabaseSnapshot(path: store.path, fileSystem: LocalFileSystem(), locking: .none)
    defer { snapshot.close() }
    let file = try LocalFileSystem().open(path, .create)
    let schema = DatabaseBuilder.SchemaEntry(type: "table", name: "t", tableName: "t", sql: "CREATE TABLE t (a)")
    let database = try DatabaseBuilder(file: file, header: store.header, schema: [schema])
    let builder = TableBuilder(root: try #require(database.root(of: "t")), writer: database.writer)
    let scan = TableScan(snapshot: snapshot, root: store.root, rowLimit: rowLimit, longValuesFrom: longValuesFrom)
    let longValues = LongValueReader(snapshot: snapshot, limit: 0)
    let (page, records, program) = (RowPage(), RecordPage(), recipe.map { RecordRecipe($0) })
    let (locator, decoder, encoder) = (RecordLocator(columnCount: store.columns), RecordDecoder(), RecordEncoder())
    while try scan.next(into: page) {
      records.reset()
      for row in 0..<page.count {
        let (rowid, record) = (page.rowid(row), page.record(row))
        guard let recipe, let program else {
          records.append(table: 0, rowid: rowid, record: record)
          continue
        }
        if !byColumns {
          #expect(locator.locate(record) && program.append(locator, to: records, table: 0, rowid: rowid))
          continue
        }
        #expect(decoder.decode(record))
        encoder.reset()
        for piece in recipe {
          if case .constant(let value) = piece { encoder.append(value) }
          guard case .columns(let from, let count) = piece else { continue }
          for column in from..<from + count { encoder.append(type: decoder.type(column), body: decoder.body(column)) }
        }
        records.append(table: 0, rowid: rowid, encoder)
      }
      try records.forEach { try builder.append(rowid: $1, record: $2, longValues: longValues) }
    }
    try builder.finish()
    try database.finish()
    file.close()
    return try LocalFileSystem().readAll(path, cap: 1 << 28)
  }

  @Test(
    "I8: a table has the same bytes whether long values are in its records or stay in their file",
    arguments: 0..<UInt64(60))
  func bytes(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed &+ 41_000)
    let folder = try FilesTestFolder()
    let store = try Self.store(&random, folder)
    for _ in 0..<4 {
      let recipe = random.below(4) == 0 ? nil : Self.recipe(&random, store.columns)
      let byColumns = random.below(2) == 0
      let whole = try Self.build(
        store, recipe, to: folder.file("whole"), longValuesFrom: nil, rowLimit: 1 << 26, byColumns: byColumns)
      for longValuesFrom in [1, 600, 64 + random.below(5000)] {
        let streamed = try Self.build(
          store, recipe, to: folder.file("streamed"), longValuesFrom: longValuesFrom, rowLimit: 1 << 26,
          byColumns: byColumns)
        #expect(whole == streamed, "seed \(seed), values from \(longValuesFrom), \(String(describing: recipe))")
      }
    }
  }
}
