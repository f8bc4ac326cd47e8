import LoadTables
import Streams

/// The SQL that makes ordinary tables.
struct PlainStatements {
  let schema: LoadSchema
  let rules: PlainRules

  /// What the rows do not allow, in a table.
  struct Leniency: Equatable, Sendable {
    /// Columns that may be NULL although the model requires a value.
    var nullable: Set<Int> = []
    /// Columns with keys that lead nowhere: they are no foreign keys.
    var unbound: Set<Int> = []

    var isEmpty: Bool { self == Leniency() }
  }

  private func name(_ table: Int) -> String { PlainNames.quoted(schema.tables[table].name) }

  /// `CREATE TABLE`, with keys and foreign keys.
  func createTable(_ number: Int, _ leniency: Leniency = Leniency()) -> String {
    let table = schema.tables[number]
    var lines = table.columns.indices.map { place in
      "  " + definition(table, place, isNullable: leniency.nullable.contains(place))
        + (leniency.unbound.contains(place) ? "" : reference(table, table.columns[place]))
    }
    if case .links = table.rows {
      let keys = table.columns[..<table.keyCount].map { PlainNames.quoted($0.name) }.joined(separator: ", ")
      lines.append("  PRIMARY KEY (\(keys))")
    }
    return "CREATE TABLE \(name(number)) (\n\(lines.joined(separator: ",\n"))\n)"
  }

  private func definition(_ table: LoadTable, _ place: Int, isNullable: Bool) -> String {
    let column = table.columns[place]
    let type = PlainKind(column.type, dates: rules.dates).declaration
    let key = column.source == .key ? " PRIMARY KEY" : ""
    return "\(PlainNames.quoted(column.name)) \(type)\(key)\(column.isRequired && !isNullable ? " NOT NULL" : "")"
  }

  private func reference(_ table: LoadTable, _ column: LoadColumn) -> String {
    guard let target = column.references else { return "" }
    let key = PlainNames.quoted(schema.tables[target].columns[0].name)
    return " REFERENCES \(name(target)) (\(key))" + PlainReferences(schema: schema).action(table, column)
  }

  /// `CREATE INDEX`.
  func createIndex(_ index: LoadIndex) -> String {
    let columns = zip(index.columns, index.descending).map {
      PlainNames.quoted(schema.tables[index.table].columns[$0].name) + ($1 ? " DESC" : "")
    }
    return
      "CREATE \(index.isUnique ? "UNIQUE " : "")INDEX \(PlainNames.quoted(index.name)) ON \(name(index.table)) (\(columns.joined(separator: ", ")))"
  }

  /// Indexes that SQLite makes for primary keys of several columns.
  var automaticIndexes: [String] {
    schema.tables.filter { $0.keyCount > 1 }.map { "sqlite_autoindex_\($0.name)_1" }
  }

  /// Tables and automatic indexes as the schema of the file has them.
  var entries: [DatabaseBuilder.SchemaEntry] {
    schema.tables.indices.flatMap { place -> [DatabaseBuilder.SchemaEntry] in
      let table = schema.tables[place]
      let made = DatabaseBuilder.SchemaEntry(
        type: "table", name: table.name, tableName: table.name, sql: createTable(place))
      guard table.keyCount > 1 else { return [made] }
      return [
        made,
        DatabaseBuilder.SchemaEntry(
          type: "index", name: "sqlite_autoindex_\(table.name)_1", tableName: table.name, sql: nil),
      ]
    }
  }

  /// Statements for the views of entities with sub-entities.
  var views: [String] { PlainViews(schema: schema, rules: rules).views.map(\.sql) }

  /// All statements as a script that the sqlite3 shell runs.
  var script: String {
    (schema.tables.indices.map { createTable($0) } + schema.indexes.map(createIndex) + views)
      .map { $0 + ";\n" }.joined(separator: "\n")
  }
}
