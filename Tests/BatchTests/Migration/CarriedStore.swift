import Foundation
import GRDB

/// A sampled store with everything that a real one may have beyond its model.
struct CarriedStore {
  let path: String

  /// History as Core Data writes it: entity numbers and keys of real objects.
  static func addHistory(_ path: String, entity: Int, hasBitmaps: Bool = false) throws {
    try write(path) { db in
      try db.execute(
        sql: """
          CREATE TABLE ACHANGE ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZCHANGETYPE INTEGER, ZENTITY INTEGER, \
          ZENTITYPK INTEGER, ZTRANSACTIONID INTEGER, ZCOLUMNS BLOB );
          CREATE TABLE ATRANSACTION ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZTIMESTAMP FLOAT, ZAUTHOR VARCHAR );
          CREATE TABLE ATRANSACTIONSTRING ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR );
          CREATE INDEX ACHANGE_ZTRANSACTIONID_INDEX ON ACHANGE (ZTRANSACTIONID);
          CREATE INDEX ACHANGE_ZENTITY ON ACHANGE (ZENTITY, ZENTITYPK);
          INSERT INTO Z_PRIMARYKEY VALUES (16001, 'CHANGE', 0, 40), (16002, 'TRANSACTION', 0, 4), (16003, 'TRANSACTIONSTRING', 0, 0);
          """)
      for key in 1...40 {
        try db.execute(
          sql: "INSERT INTO ACHANGE VALUES (?, 16001, 1, ?, ?, ?, ?, ?)",
          arguments: [key, key % 3, entity, 41 - key, key % 4 + 1, hasBitmaps && key % 3 == 1 ? Data([5]) : nil])
      }
      for key in 1...4 {
        try db.execute(sql: "INSERT INTO ATRANSACTION VALUES (?, 16002, 1, 1.5, 'app')", arguments: [key])
      }
    }
  }

  static func write(_ path: String, _ body: (Database) throws -> Void) throws {
    let queue = try DatabaseQueue(path: path)
    try queue.write(body)
    try queue.close()
  }

  /// The texts of the schema, sorted.
  static func schema(_ path: String) throws -> [String] {
    try MigrationFolder.rows(path, "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name")
  }

  /// Every row of every ordinary table, and what SQLite finds by each index.
  static func contents(_ path: String) throws -> [String: [String]] {
    let names = try MigrationFolder.rows(
      path, "SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0 AND name <> 'Z_METADATA'")
    var contents: [String: [String]] = [:]
    for stored in names {
      let name = String(stored.dropFirst("string(\"".count).dropLast(2)).replacingOccurrences(of: "\\\"", with: "\"")
      contents[name] = try MigrationFolder.rows(path, "SELECT * FROM \"\(name)\"").sorted()
    }
    return contents
  }
}
