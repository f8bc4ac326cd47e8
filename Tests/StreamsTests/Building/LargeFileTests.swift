import Foundation
import GRDB
import Testing

@testable import Streams

/// Files of gigabytes that take little of the disk: pages between the roots and the rows are holes.
@Suite struct LargeFileTests {
  @Test("SQLite reads and changes tables and indexes whose pages lie beyond 4 GiB", arguments: [512, 4096, 65536])
  func beyond(pageSize: Int) throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("large.sqlite")
    let file = try LocalFileSystem().open(path, .create)
    let database = try DatabaseBuilder(
      file: file, header: DatabaseHeader(pageSize: pageSize, autoVacuum: 0, version: .rollback),
      schema: [
        .init(type: "table", name: "t", tableName: "t", sql: "CREATE TABLE t (a, b)"),
        .init(type: "index", name: "i", tableName: "t", sql: "CREATE INDEX i ON t (a)"),
      ], resumingAt: UInt32((UInt64(1) << 32) / UInt64(pageSize)) - 10)
    let writer = database.writer
    let table = TableBuilder(root: try #require(database.root(of: "t")), writer: writer)
    let index = IndexBuilder(root: try #require(database.root(of: "i")), writer: writer)
    for row in Int64(1)...300 {
      let text = Value.text(String(repeating: "x", count: row % 20 == 0 ? pageSize * 2 : pageSize / 8))
      try SortKeyTests.record([.integer(row * 7), text]).withUnsafeBytes { try table.append(rowid: row, record: $0) }
      try SortKeyTests.record([.integer(row * 7), .integer(row)]).withUnsafeBytes { try index.append($0) }
    }
    try table.finish()
    try index.finish()
    try database.finish()
    file.close()
    #expect(UInt64(try LocalFileSystem().status(path)?.size ?? 0) > UInt64(1) << 32)
    let queue = try DatabaseQueue(path: path)
    try queue.writeWithoutTransaction { db in
      #expect(try Int.fetchOne(db, sql: "SELECT sum(a) FROM t INDEXED BY i") == 7 * 300 * 301 / 2)
      let long = "SELECT count(*) FROM t WHERE length(b) = \(pageSize * 2)"
      #expect(try Int.fetchOne(db, sql: long) == 15)
      try db.execute(sql: "UPDATE t SET a = a + 1 WHERE rowid % 2 = 0; INSERT INTO t SELECT a, b FROM t WHERE a < 100")
      #expect(try Int.fetchOne(db, sql: "SELECT rowid FROM t INDEXED BY i WHERE a = 29") == 4)
    }
    try queue.close()
    let snapshot = try Streams.DatabaseSnapshot(path: path, fileSystem: LocalFileSystem(), locking: .none)
    defer { snapshot.close() }
    #expect(try DamagedDatabaseTests.read(snapshot, root: 2) == 314)
  }
}
