import GRDB
import Streams
import Testing

@testable import CoreDataStore
@testable import RunSupport

@Suite("Schemas of stores that exist")
struct StoreSchemaTests {
  private func schema(_ texts: [String]) throws -> StoreSchema {
    let rows = texts.enumerated().map { position, sql in
      let words = Array(SQLTokens(sql)).compactMap(\.name)
      let isIndex = words.contains { $0.lowercased() == "index" }
      let name = words[words.contains { $0.lowercased() == "unique" } && isIndex ? 3 : 2]
      let table = isIndex ? words[(words.firstIndex { $0.lowercased() == "on" } ?? 0) + 1] : name
      return SchemaRow(
        type: isIndex ? "index" : "table", name: name, tableName: table, rootPage: UInt32(position + 2), sql: sql)
    }
    return try StoreSchema(rows: rows, path: "store.sqlite")
  }

  @Test("Texts that were parsed before lie at their own pages")
  func samePages() throws {
    func rows(_ first: UInt32) -> [SchemaRow] {
      [
        SchemaRow(
          type: "table", name: "ZA", tableName: "ZA", rootPage: first,
          sql: "CREATE TABLE ZA (Z_PK INTEGER PRIMARY KEY, X)"),
        SchemaRow(type: "index", name: "I", tableName: "ZA", rootPage: first + 1, sql: "CREATE INDEX I ON ZA (X)"),
        SchemaRow(type: "view", name: "V", tableName: "V", rootPage: first + 2, sql: "CREATE VIEW V AS SELECT 1"),
        SchemaRow(
          type: "table", name: "ZA", tableName: "ZA", rootPage: first + 3,
          sql: "CREATE TABLE ZA (Z_PK INTEGER PRIMARY KEY, X)"),
      ]
    }
    for first: UInt32 in [2, 70] {
      let schema = try StoreSchema(rows: rows(first), path: nil)
      #expect(schema.tables.map(\.rootPage) == [first] && schema.indexes.map(\.rootPage) == [first + 1])
      #expect(schema.foreign.map(\.row.rootPage) == [first + 3] && schema.rows == rows(first))
    }
  }

  @Test("Columns keep their physical order, types, affinities and the rowid's alias")
  func columns() throws {
    let schema = try schema([
      "CREATE TABLE ZBOOK ( Z_PK INTEGER PRIMARY KEY, ZDATE TIMESTAMP, ZTEXT VARCHAR, ZDATA BLOB, ZSIZE FLOAT, \"ZODD\" )"
    ])
    let table = try #require(schema.table("zbook"))
    #expect(table.name == "ZBOOK")
    #expect(table.rootPage == 2)
    #expect(table.columns.map(\.affinity) == [.integer, .numeric, .text, .blob, .real, .blob])
    #expect(table.columns.map(\.isRowidAlias) == [true, false, false, false, false, false])
    #expect(table.position(of: "zTEXT") == 2)
    #expect(table.position(of: "ZNONE") == nil)
  }

  @Test("Only INTEGER PRIMARY KEY of a rowid table is the rowid")
  func rowidAlias() throws {
    let schema = try schema([
      "CREATE TABLE A (x INTEGER PRIMARY KEY DESC)", "CREATE TABLE B (x INT PRIMARY KEY)",
      "CREATE TABLE C (x INTEGER PRIMARY KEY) WITHOUT ROWID", "CREATE TABLE D (x INTEGER, y INTEGER, PRIMARY KEY (x))",
      "CREATE TABLE E (x INTEGER, y INTEGER, PRIMARY KEY (x, y))",
    ])
    #expect(schema.tables.map { $0.columns[0].isRowidAlias } == [false, false, false, true, false])
    #expect(schema.tables.map(\.isWithoutRowid) == [false, false, true, false, false])
  }

  @Test("Literal defaults are read with the column's affinity; expressions are not evaluated")
  func defaults() throws {
    let schema = try schema([
      "CREATE TABLE A (a INTEGER DEFAULT '5', b VARCHAR DEFAULT 7, c FLOAT DEFAULT 2, d BLOB DEFAULT x'0102', "
        + "e DEFAULT -1.5e+3, f DEFAULT NULL, g DEFAULT TRUE, h DEFAULT (abs(-3)), i DEFAULT 'it''s', j TIMESTAMP, "
        + "k DEFAULT CURRENT_TIME, l INTEGER DEFAULT (('7')))"
    ])
    let columns = try #require(schema.table("A")).columns
    #expect(
      columns.map(\.defaultValue) == [
        .integer(5), .text("7"), .real(2), .blob([1, 2]), .real(-1500), .null, .integer(1), nil, .text("it's"), nil,
        nil,
        .integer(7),
      ])
    #expect(columns.filter(\.hasUnknownDefault).map(\.name) == ["h", "k"])
  }

  @Test("Indexes are known with their keys, those of clauses too")
  func indexes() throws {
    let texts = [
      "CREATE INDEX \"i one\" ON \"T\" (\"b\" COLLATE NOCASE DESC, a)", "CREATE TABLE T (a INTEGER, b VARCHAR UNIQUE)",
      "CREATE UNIQUE INDEX u ON T (a)",
    ]
    var rows = try schema(texts).indexes.map {
      SchemaRow(type: "index", name: $0.name, tableName: "T", rootPage: 9, sql: $0.sql)
    }
    rows.append(SchemaRow(type: "table", name: "T", tableName: "T", rootPage: 2, sql: texts[1]))
    rows.append(SchemaRow(type: "index", name: "sqlite_autoindex_T_1", tableName: "T", rootPage: 3, sql: nil))
    let schema = try StoreSchema(rows: rows, path: nil)
    #expect(schema.indexes.map(\.name) == ["i one", "u", "sqlite_autoindex_T_1"])
    #expect(schema.indexes.map(\.isUnique) == [false, true, true])
    #expect(
      schema.indexes[0].columns == [
        .init(column: "b", isDescending: true, collation: "NOCASE"),
        .init(column: "a", isDescending: false, collation: "BINARY"),
      ])
    #expect(schema.indexes[2].rootPage == 3)
    #expect(schema.foreign.isEmpty)
  }

  @Test(
    "Hostile texts never reach SQLite",
    arguments: [
      "CREATE TABLE t AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x FROM c) SELECT x FROM c",
      "CREATE TABLE t (a); DROP TABLE t", "CREATE TABLE t (a); SELECT load_extension('evil')", "ATTACH 'x' AS t",
      "CREATE TEMP TABLE t (a)", "CREATE TABLE main.t (a)", "CREATE TABLE IF NOT EXISTS t (a)", "CREATE TABLE u (a)",
      "PRAGMA writable_schema = ON -- t", "CREATE TABLE t (a", "CREATE TABLE t(a, b AS (a + 1))", "",
      "CREATE TABLE t /* ( */ AS SELECT 1 /* ) */", "CREATE VIEW t AS SELECT 1", "DROP TABLE t (a)",
    ])
  func hostile(_ sql: String) throws {
    let row = SchemaRow(type: "table", name: "t", tableName: "t", rootPage: 2, sql: sql)
    let schema = try StoreSchema(rows: [row], path: nil)
    #expect(schema.tables.isEmpty)
    #expect(schema.foreign.map(\.row) == [row])
  }

  @Test("Indexes over expressions, with predicates or of other tables stay text")
  func foreignIndexes() throws {
    let texts = [
      "CREATE INDEX i ON t (lower(a))", "CREATE INDEX i ON t (a) WHERE a > 1", "CREATE INDEX i ON u (a)",
      "CREATE INDEX j ON t (a)",
      "CREATE INDEX i ON t (a, zeroblob(1000000000))", "CREATE INDEX i ON t ()", "CREATE INDEX i ON t (nothing)",
    ]
    for sql in texts {
      let rows = [
        SchemaRow(type: "table", name: "t", tableName: "t", rootPage: 2, sql: "CREATE TABLE t (a)"),
        SchemaRow(type: "index", name: "i", tableName: "t", rootPage: 3, sql: sql),
      ]
      let schema = try StoreSchema(rows: rows, path: nil)
      #expect(schema.indexes.isEmpty, "\(sql)")
      #expect(schema.foreign.count == 1, "\(sql)")
    }
  }

  @Test("Triggers, views and virtual tables are kept as text")
  func texts() throws {
    let rows = [
      SchemaRow(type: "table", name: "v", tableName: "v", rootPage: 0, sql: "CREATE VIRTUAL TABLE v USING fts5(a)"),
      SchemaRow(
        type: "trigger", name: "x", tableName: "t", rootPage: 0,
        sql: "CREATE TRIGGER x AFTER INSERT ON t BEGIN SELECT 1; END"),
      SchemaRow(type: "view", name: "w", tableName: "w", rootPage: 0, sql: "CREATE VIEW w AS SELECT 1"),
      SchemaRow(
        type: "table", name: "sqlite_stat1", tableName: "sqlite_stat1", rootPage: 5,
        sql: "CREATE TABLE sqlite_stat1(tbl,idx,stat)"),
      SchemaRow(type: "odd", name: "o", tableName: "o", rootPage: 0, sql: nil),
    ]
    let schema = try StoreSchema(rows: rows, path: nil)
    #expect(schema.virtualTables.map(\.row.name) == ["v"])
    #expect(schema.triggers.map(\.row.name) == ["x"])
    #expect(schema.views.map(\.row.name) == ["w"])
    #expect(schema.foreign.map(\.row.name) == ["sqlite_stat1", "o"])
    #expect(schema.tables.isEmpty)
  }

  @Test("A schema beyond all measure is refused before it is parsed")
  func limits() {
    let row = SchemaRow(type: "table", name: "t", tableName: "t", rootPage: 2, sql: "CREATE TABLE t (a)")
    let many = #expect(throws: BatchError.self) {
      try StoreSchema(rows: Array(repeating: row, count: StoreSchema.maximumRows + 1), path: "x.sqlite")
    }
    #expect(many?.path == "x.sqlite")
    let long = SchemaRow(
      type: "table", name: "t", tableName: "t", rootPage: 2,
      sql: String(repeating: " ", count: StoreSchema.maximumText + 1))
    #expect(throws: BatchError.self) { try StoreSchema(rows: [long], path: nil) }
  }
}
