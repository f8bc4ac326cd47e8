import RunSupport

/// What SQLite makes of a schema's texts. Stores of one version have the same texts at other pages, and each text is
/// parsed once.
struct ParsedSchema: Sendable {
  private(set) var tables: [TableSchema]
  private(set) var indexes: [IndexSchema]
  private(set) var virtualTables: [SchemaText]
  private(set) var foreign: [SchemaText]

  private static let known = Memo<[SchemaRow], ParsedSchema>(limit: 16)

  /// Throws what SQLite throws.
  static func of(_ rows: [SchemaRow]) throws -> ParsedSchema {
    // What is remembered has places among the rows instead of pages.
    let placed = rows.enumerated().map { $1.moved(to: UInt32($0)) }
    var schema = try known.value(placed) {
      let parser = SchemaParser(rows: placed)
      try parser.run()
      return ParsedSchema(
        tables: parser.tables, indexes: parser.indexes, virtualTables: parser.virtualTables, foreign: parser.foreign)
    }
    schema.tables = schema.tables.map { $0.moved(to: rows[Int($0.rootPage)].rootPage) }
    schema.indexes = schema.indexes.map { $0.moved(to: rows[Int($0.rootPage)].rootPage) }
    schema.virtualTables = schema.virtualTables.map { SchemaText(row: rows[Int($0.row.rootPage)], reason: $0.reason) }
    schema.foreign = schema.foreign.map { SchemaText(row: rows[Int($0.row.rootPage)], reason: $0.reason) }
    return schema
  }
}

extension SchemaRow {
  fileprivate func moved(to page: UInt32) -> SchemaRow {
    SchemaRow(type: type, name: name, tableName: tableName, rootPage: page, sql: sql)
  }
}

extension TableSchema {
  fileprivate func moved(to page: UInt32) -> TableSchema {
    TableSchema(name: name, rootPage: page, columns: columns, isWithoutRowid: isWithoutRowid, sql: sql)
  }
}

extension IndexSchema {
  fileprivate func moved(to page: UInt32) -> IndexSchema {
    IndexSchema(name: name, table: table, rootPage: page, isUnique: isUnique, columns: columns, sql: sql)
  }
}
