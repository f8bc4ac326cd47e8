import LoadTables
import MappingModels

/// The SQL that makes the tables of a schema.
struct PostgresStatements {
  let schema: LoadSchema

  /// A table's name with its schema's.
  func name(_ table: Int) -> String {
    "\(PostgresNames.quoted(schema.namespace)).\(PostgresNames.quoted(schema.tables[table].name))"
  }

  private func column(_ table: Int, _ column: Int) -> String {
    PostgresNames.quoted(schema.tables[table].columns[column].name)
  }

  /// `CREATE SCHEMA`, for one that may be missing.
  var createSchema: String { "CREATE SCHEMA IF NOT EXISTS \(PostgresNames.quoted(schema.namespace))" }

  /// `CREATE TABLE`: columns, types, and what must not be NULL. Keys and indexes come after the rows.
  func createTable(_ table: Int) -> String {
    let columns = schema.tables[table].columns.map {
      "  \(PostgresNames.quoted($0.name)) \(PostgresType($0.type).rawValue)\($0.isRequired ? " NOT NULL" : "")"
    }
    return "CREATE TABLE \(name(table)) (\n\(columns.joined(separator: ",\n"))\n)"
  }

  /// The columns of a table, as COPY names them.
  func columnList(_ table: Int) -> String {
    schema.tables[table].columns.indices.map { column(table, $0) }.joined(separator: ", ")
  }

  /// What follows the rows: primary keys first, as foreign keys need them.
  var constraints: [PostgresConstraint] {
    let tables = schema.tables.indices
    return tables.map { primaryKey($0) } + schema.indexes.map(index)
      + schema.foreignKeys.flatMap { foreignKey($0.table, place: $0.column, name: $0.name) }
      + tables.map { PostgresConstraint(kind: .statistics, name: schema.tables[$0].name, sql: "ANALYZE \(name($0))") }
  }

  private func primaryKey(_ table: Int) -> PostgresConstraint {
    let keys = (0..<schema.tables[table].keyCount).map { column(table, $0) }.joined(separator: ", ")
    return PostgresConstraint(
      kind: .primaryKey, name: schema.tables[table].name,
      sql: "ALTER TABLE \(name(table)) ADD PRIMARY KEY (\(keys))")
  }

  private func index(_ index: LoadIndex) -> PostgresConstraint {
    let name = PostgresNames.quoted(index.name)
    let columns = zip(index.columns, index.descending).map {
      column(index.table, $0) + ($1 && !index.isUnique ? " DESC" : "")
    }
    let list = columns.joined(separator: ", ")
    let sql =
      index.isUnique
      ? "ALTER TABLE \(self.name(index.table)) ADD CONSTRAINT \(name) UNIQUE (\(list))"
      : "CREATE INDEX \(name) ON \(self.name(index.table)) (\(list))"
    return PostgresConstraint(kind: index.isUnique ? .unique : .index, name: index.name, sql: sql)
  }

  /// Lets columns have NULL, as the store has rows without values that the model requires.
  func dropNotNull(_ table: Int, _ columns: [Int]) -> String {
    let changes = columns.map { "ALTER COLUMN \(column(table, $0)) DROP NOT NULL" }.joined(separator: ", ")
    return "ALTER TABLE \(name(table)) \(changes)"
  }

  /// In two statements: real stores have keys that lead nowhere, and the second one can fail for them.
  private func foreignKey(_ table: Int, place: Int, name: String) -> [PostgresConstraint] {
    guard let target = schema.tables[table].columns[place].references else { return [] }
    let quoted = PostgresNames.quoted(name)
    let add =
      "ALTER TABLE \(self.name(table)) ADD CONSTRAINT \(quoted) FOREIGN KEY (\(column(table, place))) "
      + "REFERENCES \(self.name(target)) (\(column(target, 0))) NOT VALID"
    let validate = "ALTER TABLE \(self.name(table)) VALIDATE CONSTRAINT \(quoted)"
    return [
      PostgresConstraint(kind: .foreignKey, name: name, sql: add),
      PostgresConstraint(kind: .validation, name: name, sql: validate),
    ]
  }

  /// All statements as a script that psql runs.
  var script: String {
    let all =
      [createSchema] + schema.tables.indices.map(createTable) + constraints.filter { $0.kind != .statistics }.map(\.sql)
    return all.map { $0 + ";\n" }.joined(separator: "\n")
  }
}

/// A statement that comes after the rows.
struct PostgresConstraint: Sendable, Equatable {
  enum Kind: Sendable, Equatable {
    case primaryKey, index, unique, foreignKey, validation, statistics
  }

  var kind: Kind
  /// What it makes, or for which table.
  var name: String
  var sql: String
}
