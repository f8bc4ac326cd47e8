import Foundation
import GRDB

@testable import StoreVerification

/// Changes a store by SQLite, past its care for indexes and declarations: an index that is out of sight does not hear
/// of changes, and a declaration that is written into the schema is not held against the rows that are there.
struct SchemaMutator {
  let path: String

  private struct Index {
    var row: Row
    var name: String { row["name"] }
    var table: String { row["tbl_name"] }
  }

  /// Makes one change; returns its name.
  func mutate(_ random: inout SeededRandom) throws -> String {
    let queue = try DatabaseQueue(path: path)
    defer { try? queue.close() }
    return try queue.inDatabase { database in
      try database.execute(sql: "PRAGMA synchronous = OFF; PRAGMA foreign_keys = OFF; PRAGMA writable_schema = ON")
      var random = random
      do {
        return try change(database, &random)
      } catch is DatabaseError {
        // What SQLite refuses is not changed; what it changed before is judged.
        return "refused"
      }
    }
  }

  private func change(_ database: Database, _ random: inout SeededRandom) throws -> String {
    let all = try Row.fetchAll(database, sql: "SELECT rowid AS place, * FROM sqlite_master WHERE type = 'index'")
    guard let row = all.randomElement(using: &random) else { return "nothing" }
    let index = Index(row: row)
    switch Int.random(in: 0..<10, using: &random) {
    case 0: return try behind(index, database, "lost row") { "DELETE FROM \($0) WHERE \($1)" }
    case 1, 2:
      let columns = try String.fetchAll(
        database, sql: "SELECT name FROM pragma_index_info(?) WHERE name IS NOT NULL", arguments: [index.name])
      guard let column = columns.randomElement(using: &random).map(StoreConnection.quoted) else { return "nothing" }
      let value = ["\(column) || 'x'", "\(column) + 1", "NULL", "'B'"].randomElement(using: &random) ?? "1"
      return try behind(index, database, "stale entry") { "UPDATE \($0) SET \(column) = \(value) WHERE \($1)" }
    case 3: return try roots(index, all, database, &random)
    case 4: return try text("order", index.name, database, from: " DESC", to: "")
    case 5: return try text("order", index.name, database, from: ")", to: " DESC)")
    case 6: return try text("comparison", index.name, database, from: " COLLATE NOCASE", to: " COLLATE BINARY")
    case 7: return try text("unique", index.name, database, from: "CREATE INDEX", to: "CREATE UNIQUE INDEX")
    case 8: return try declaration(database, &random)
    default: return try tree(database, &random)
    }
  }

  /// Changes some rows of a table while one of its indexes is out of sight.
  private func behind(_ index: Index, _ database: Database, _ name: String, _ sql: (String, String) -> String) throws
    -> String
  {
    let table = StoreConnection.quoted(index.table)
    let columns = try String.fetchAll(
      database, sql: "SELECT name FROM pragma_table_info(?) WHERE pk = 1", arguments: [index.table])
    let key = columns.first.map(StoreConnection.quoted) ?? "rowid"
    try database.execute(sql: "DELETE FROM sqlite_master WHERE rowid = \(index.row["place"] as Int)")
    try database.execute(sql: "PRAGMA writable_schema = RESET")
    let row = "\(key) IN (SELECT \(key) FROM \(table) ORDER BY \(key) LIMIT 1 OFFSET \(index.name.utf8.count % 7))"
    try database.execute(sql: sql(table, row))
    try database.execute(
      sql:
        "PRAGMA writable_schema = ON; INSERT INTO sqlite_master (type, name, tbl_name, rootpage, sql) VALUES (?, ?, ?, ?, ?)",
      arguments: ["index", index.name, index.table, index.row["rootpage"] as Int, index.row["sql"] as String?])
    return name
  }

  private func roots(_ index: Index, _ all: [Row], _ database: Database, _ random: inout SeededRandom) throws -> String
  {
    guard let other = all.randomElement(using: &random) else { return "nothing" }
    let (mine, others): (Int, Int) = (index.row["rootpage"], other["rootpage"])
    let isSwap = Bool.random(using: &random)
    try database.execute(
      sql: "UPDATE sqlite_master SET rootpage = ? WHERE name = ?", arguments: [others, index.name])
    if isSwap {
      try database.execute(
        sql: "UPDATE sqlite_master SET rootpage = ? WHERE name = ?", arguments: [mine, other["name"] as String])
    }
    return isSwap ? "swapped roots" : "doubled root"
  }

  private func text(_ kind: String, _ name: String, _ database: Database, from: String, to: String) throws -> String {
    try database.execute(
      sql: "UPDATE sqlite_master SET sql = replace(sql, ?, ?) WHERE name = ?", arguments: [from, to, name])
    return kind
  }

  /// What a table says of its columns.
  private func declaration(_ database: Database, _ random: inout SeededRandom) throws -> String {
    let changes = [
      ("VARCHAR", "INTEGER"), ("INTEGER", "VARCHAR"), ("FLOAT", "VARCHAR"), ("DECIMAL", "DECIMAL NOT NULL"),
      ("VARCHAR", "VARCHAR NOT NULL"), ("< 1000", "< 500"), ("BLOB", "INTEGER"), ("VARCHAR", "FLOAT"),
      ("COLLATE NOCASE", "COLLATE BINARY"), ("b DESC", "b"), ("(v * 2)", "(v * 3)"), ("INTEGER PRIMARY KEY", "INTEGER"),
    ]
    guard let (from, to) = changes.randomElement(using: &random) else { return "nothing" }
    let tables = try String.fetchAll(
      database, sql: "SELECT name FROM sqlite_master WHERE type = 'table' AND sql LIKE ? AND sql NOT LIKE '%VIRTUAL%'",
      arguments: ["%\(from)%"])
    guard let table = tables.randomElement(using: &random) else { return "nothing" }
    return try text("declaration", table, database, from: from, to: to)
  }

  /// A node of an R-tree, or what says where its rows are.
  private func tree(_ database: Database, _ random: inout SeededRandom) throws -> String {
    let trees = try String.fetchAll(
      database, sql: "SELECT name FROM sqlite_master WHERE sql LIKE 'CREATE VIRTUAL TABLE%USING rtree%'")
    guard let tree = trees.randomElement(using: &random) else { return "nothing" }
    func shadow(_ suffix: String) -> String { StoreConnection.quoted(tree + suffix) }
    let some = "IN (SELECT rowid FROM"
    let changes = [
      "UPDATE \(shadow("_rowid")) SET nodeno = nodeno + 1 WHERE rowid \(some) \(shadow("_rowid")) LIMIT 1)",
      "DELETE FROM \(shadow("_rowid")) WHERE rowid \(some) \(shadow("_rowid")) LIMIT 1 OFFSET 3)",
      "INSERT INTO \(shadow("_rowid")) (rowid, nodeno) VALUES (77777, 1)",
      "UPDATE \(shadow("_parent")) SET parentnode = parentnode + 1",
      "DELETE FROM \(shadow("_parent")) WHERE rowid \(some) \(shadow("_parent")) LIMIT 1)",
      "DELETE FROM \(shadow("_node")) WHERE rowid \(some) \(shadow("_node")) ORDER BY 1 DESC LIMIT 1)",
      "UPDATE \(shadow("_node")) SET data = zeroblob(length(data)) WHERE rowid = 2",
      "UPDATE \(shadow("_node")) SET data = x'0001FFFF' WHERE rowid = 1",
      "UPDATE \(shadow("_node")) SET data = substr(data, 1, 12) || x'7F' || substr(data, 14) WHERE rowid = 2",
      "UPDATE \(shadow("_node")) SET data = x'0003' || substr(data, 3) WHERE rowid = 1",
    ]
    try database.execute(sql: changes.randomElement(using: &random) ?? "SELECT 1")
    return "R-tree"
  }
}
