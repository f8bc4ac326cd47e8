import Foundation
import GRDB
import Streams
import Testing

@testable import MigrationJobs
@testable import Migrations
@testable import RunSupport
@testable import StoreVerification

/// Stores that other tools rewrote: in UTF-16, or with many-to-many tables WITHOUT ROWID.
@Suite struct OtherToolsTests {
  /// The same objects and rowids in a file made anew by SQLite.
  static func rewrite(
    _ store: String, to target: String, encoding: String = "UTF-8", change: (String) -> String = { $0 }
  ) throws {
    let (old, new) = (try DatabaseQueue(path: store), try DatabaseQueue(path: target))
    try new.writeWithoutTransaction { new in
      try old.read { old in
        for pragma in ["page_size", "auto_vacuum"] {
          let value = try Int.fetchOne(old, sql: "PRAGMA \(pragma)") ?? 0
          try new.execute(sql: "PRAGMA \(pragma) = \(value)")
        }
        try new.execute(sql: "PRAGMA encoding = '\(encoding)'")
        let schema = try Row.fetchAll(old, sql: "SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL")
        for row in schema { try new.execute(sql: change(row["sql"])) }
        for row in schema where row["type"] == "table" {
          let name: String = row["name"]
          let hasRowid = !change(row["sql"]).hasSuffix("WITHOUT ROWID")
          let rows = try Row.fetchAll(old, sql: "SELECT \(hasRowid ? "rowid AS rowid__, " : "")* FROM \(name)")
          for values in rows {
            let names = Array(values.columnNames).map { $0 == "rowid__" ? "rowid" : $0 }
            // Z_PK is the rowid.
            let kept = names.indices.filter { !(names[$0] == "rowid" && names.contains("Z_PK")) }
            let marks = kept.map { _ in "?" }.joined(separator: ", ")
            try new.execute(
              sql: "INSERT INTO \(name) (\(kept.map { names[$0] }.joined(separator: ", "))) VALUES (\(marks))",
              arguments: StatementArguments(kept.map { Array(values.databaseValues)[$0] }))
          }
        }
      }
    }
    try old.close()
    try new.close()
  }

  /// A join table's SQL with its key turned round and no rowids; other SQL as it is.
  static func withoutRowid(_ sql: String) -> String {
    // Core Data's: CREATE TABLE Z_1TAGS ( Z_1BOOKS INTEGER, Z_2TAGS INTEGER, PRIMARY KEY (Z_1BOOKS, Z_2TAGS) )
    guard let key = sql.range(of: "PRIMARY KEY ("), sql.hasPrefix("CREATE TABLE Z_"), !sql.hasPrefix("CREATE TABLE Z_P")
    else {
      return sql
    }
    let names = sql[key.upperBound...].prefix { $0 != ")" }.split(separator: ",").map {
      $0.trimmingCharacters(in: .whitespaces)
    }
    guard names.count == 2 else { return sql }
    return sql[..<key.lowerBound] + "PRIMARY KEY (\(names[1]), \(names[0]))) WITHOUT ROWID"
  }

  @Test("A store in UTF-16 gives the bytes that the same store in UTF-8 gives", arguments: ["UTF-16le", "UTF-16be"])
  func utf16(encoding: String) throws {
    let folder = try MigrationFolder(MigrationModels.all)
    let store = try folder.sample("V1", rows: 500, seed: 31)
    let (plain, wide) = (try folder.place("plain"), try folder.place("wide"))
    try Self.rewrite(store, to: plain)
    try Self.rewrite(store, to: wide, encoding: encoding)
    #expect(try MigrationFolder.rows(wide, "PRAGMA encoding") == ["string(\"\(encoding)\")"])
    let outputs = try [plain, wide].map { source in
      let output = try folder.place("output-\(source == plain)")
      #expect(try folder.migrate(folder.request(source, output: output)).isVerified)
      return output
    }
    #expect(try MigrationFolder.bytes(outputs[0]) == MigrationFolder.bytes(outputs[1]))
    let inspection = try StoreInspection(path: wide, models: nil, fileSystem: LocalFileSystem())
    #expect(inspection.encoding == "UTF-16" && inspection.problems.isEmpty)
  }

  @Test("What is kept as a b-tree in UTF-16's order is refused, an index of plain columns is made anew")
  func utf16Trees() throws {
    let folder = try MigrationFolder([MigrationModels.first])
    let store = try folder.sample("V1", rows: 50, seed: 32)
    let wide = try folder.place("wide")
    try Self.rewrite(store, to: wide, encoding: "UTF-16le")
    // U+FFFD comes before U+10000 in UTF-8, behind it in UTF-16.
    try CarriedStore.write(wide) { db in
      try db.execute(
        sql: """
          CREATE TABLE Notes (text TEXT); INSERT INTO Notes VALUES (char(65533)), (char(65536)), ('a'), (char(128));
          CREATE INDEX NotesText ON Notes (text);
          """)
    }
    let output = try folder.place("output")
    var request = folder.request(wide, output: output)
    request.target = .identity
    #expect(try folder.migrate(request).isVerified)
    let sql = "SELECT hex(text) FROM Notes INDEXED BY NotesText ORDER BY text"
    #expect(try MigrationFolder.rows(output, sql) == ["61", "C280", "EFBFBD", "F0908080"].map { "string(\"\($0)\")" })
    try CarriedStore.write(wide) { try $0.execute(sql: "CREATE TABLE Pairs (a TEXT PRIMARY KEY) WITHOUT ROWID") }
    request.output = try folder.place("refused")
    let error = #expect(throws: BatchError.self) { try folder.migrate(request) }
    #expect(error?.code == .refused && error?.message.contains("Pairs") == true)
  }

  @Test(
    "Links in tables WITHOUT ROWID are carried over, whatever the order of their columns, also by a run that is resumed"
  )
  func withoutRowid() throws {
    let folder = try MigrationFolder(MigrationModels.all)
    let store = try folder.sample("V1", rows: 3000, seed: 33)
    let other = try folder.place("other")
    try Self.rewrite(store, to: other, change: Self.withoutRowid)
    let changed = try MigrationFolder.rows(other, "SELECT name FROM sqlite_schema WHERE sql LIKE '%WITHOUT ROWID'")
    #expect(changed.count > 1)
    let (expected, found) = (try folder.place("expected"), try folder.place("found"))
    _ = try folder.migrate(folder.request(store, output: expected))
    #expect(try folder.migrate(folder.request(other, output: found)).isVerified)
    // Rowids of links are nobody's: only the pairs count.
    #expect(try CarriedStore.contents(expected) == CarriedStore.contents(found))
    let resumed = try folder.place("resumed")
    var request = folder.request(other, output: resumed)
    // A verification that is stopped begins again, and would never end here.
    request.verification = .none
    var stop = StopAfter(7)
    #expect(throws: BatchError.self) { try folder.job().migrate(request, monitor: stop.monitor(request.interval)) }
    var isFinished = false
    for _ in 0..<100 where !isFinished {
      stop = StopAfter(7)
      isFinished = (try? folder.job().resume(resumed) { stop.monitor($0) }) != nil
    }
    #expect(isFinished)
    #expect(try MigrationFolder.bytes(resumed) == MigrationFolder.bytes(found))
  }
}
