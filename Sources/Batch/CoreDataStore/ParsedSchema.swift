import RunSupport

/// What SQLite makes of a schema's texts. Stores of one version have the same texts at other pages, and each text is
/// parsed once.
struct ParsedSchema: Sendable {
  private(set) var tables: [TableSchema]
  private(set) var indexes: [IndexSchema]
  private(set) var virtualTables: [SchemaText]
  private(set) var foreign: [SchemaText]
  private(set) var conditions: [TableCondition]

  private static let known = Memo<[SchemaRow], ParsedSchema>(limit: 16)

  /// Throws what SQLite throws.
  static func of(_ rows: [SchemaRow]) throws -> ParsedSchema {
    // What is remembered has places among the rows instead of pages.
    var placed = rows
    for place in placed.indices { placed[place].rootPage = UInt32(place) }
    var schema = try known.value(placed) {
      let parser = SchemaParser(rows: placed)
      try parser.run()
      return ParsedSchema(
        tables: parser.tables, indexes: parser.indexes, virtualTables: parser.virtualTables, foreign: parser.foreign,
        conditions: parser.conditions)
    }
    func page(_ place: UInt32) -> UInt32 { rows[Int(place)].rootPage }
    for place in schema.tables.indices { schema.tables[place].rootPage = page(schema.tables[place].rootPage) }
    for place in schema.indexes.indices { schema.indexes[place].rootPage = page(schema.indexes[place].rootPage) }
    schema.virtualTables = schema.virtualTables.map { SchemaText(row: rows[Int($0.row.rootPage)], reason: $0.reason) }
    schema.foreign = schema.foreign.map { SchemaText(row: rows[Int($0.row.rootPage)], reason: $0.reason) }
    return schema
  }
}
