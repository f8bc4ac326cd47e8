import Foundation
import GRDB
import Testing

@testable import Streams

@Suite("How large a table is, by a sample")
struct TreeEstimateTests {
  @Test(
    "Few pages of a large table tell its rows and bytes within a tenth, all pages of a small one exactly; a loop is damage"
  )
  func estimate() throws {
    let folder = try FilesTestFolder()
    let path = folder.file("a.sqlite")
    let queue = try DatabaseQueue(path: path)
    try queue.write { db in
      try db.execute(
        sql:
          "CREATE TABLE A (x, y); CREATE TABLE B (x); CREATE TABLE C (x PRIMARY KEY) WITHOUT ROWID; CREATE TABLE D (x)")
      // Rows of many sizes, some of them with long values.
      try db.execute(
        sql: """
          WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60000)
          INSERT INTO A SELECT i * 7, zeroblob(CASE WHEN i % 20 = 0 THEN 6000 ELSE i * 37 % 150 END) FROM n;
          INSERT INTO B SELECT x FROM A LIMIT 90; INSERT INTO C SELECT x FROM A LIMIT 5000
          """)
    }
    let pages = try queue.read { try Double(Int.fetchOne($0, sql: "PRAGMA page_count") ?? 0) }
    try queue.close()
    let snapshot = try DatabaseSnapshot(path: path, fileSystem: LocalFileSystem(), locking: .none)
    defer { snapshot.close() }
    var sampled = 0
    let large = try TreeEstimate(root: 2, in: snapshot, pages: 40) { _, _ in sampled += 1 }
    #expect(!large.isExact && abs(large.rows / 60000 - 1) < 0.1 && sampled < 3000, "\(large)")
    #expect(abs(large.bytes / (pages * 4096) - 1) < 0.25, "\(large) of \(pages) pages")
    let small = try TreeEstimate(root: 3, in: snapshot, pages: 40)
    #expect(small.isExact && small.rows == 90 && small.bytes == 4096)
    #expect(try TreeEstimate(root: 2, in: snapshot, pages: 10_000).rows == 60000)
    #expect(try TreeEstimate(root: 4, in: snapshot, pages: 1000).rows == 5000)
    let empty = try TreeEstimate(root: 5, in: snapshot, pages: 6)
    #expect(empty.isExact && empty.rows == 0)
    #expect(throws: StreamsError.self) { try TreeEstimate(root: 99_999, in: snapshot, pages: 6) }
  }
}
