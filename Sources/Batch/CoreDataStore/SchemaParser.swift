import GRDB
import Streams

/// Runs the harmless texts and asks SQLite what it made of them.
final class SchemaParser {
  let rows: [SchemaRow]
  var tables: [TableSchema] = []
  var indexes: [IndexSchema] = []
  var virtualTables: [SchemaText] = []
  var foreign: [SchemaText] = []
  var conditions: [TableCondition] = []

  init(rows: [SchemaRow]) { self.rows = rows }

  func run() throws {
    var configuration = GuardedConnection.configuration
    configuration.foreignKeysEnabled = false
    let queue = try DatabaseQueue(configuration: configuration)
    defer { try? queue.close() }
    try queue.inDatabase { database in
      // Tables first: the file lists an index before its table when the table was rebuilt.
      let accepted = rows.filter { $0.type == "table" && create($0, in: database) }
      let created = rows.filter { $0.type == "index" && ($0.sql == nil || create($0, in: database)) }
      let made = try MadeSchema(database)
      for row in accepted {
        conditions += TableCondition.all(of: row.name, sql: row.sql ?? "")
        if let table = try table(row, made, in: database) { tables.append(table) }
      }
      indexes = created.compactMap { index($0, made) }
    }
    for row in rows where !["table", "index", "trigger", "view"].contains(row.type) {
      foreign.append(SchemaText(row: row, reason: "an object of an unknown type"))
    }
  }

  private func create(_ row: SchemaRow, in database: Database) -> Bool {
    guard let sql = row.sql else { return refuse(row, "a table without text") }
    let wanted = NameOrder.folded(row.name)
    // SQLite keeps `sqlite_sequence` and its like to itself; they hold nothing of a store.
    if wanted.hasPrefix("sqlite_") { return refuse(row, "an internal table") }
    switch SchemaStatement(sql) {
    case .table(let name) where row.type == "table" && NameOrder.folded(name) == wanted: break
    case .index(let name, let table)
    where row.type == "index" && NameOrder.folded(name) == wanted
      && NameOrder.folded(table) == NameOrder.folded(row.tableName):
      break
    case .virtualTable where row.type == "table":
      virtualTables.append(SchemaText(row: row, reason: "a virtual table is never opened"))
      return false
    case .other(let reason): return refuse(row, reason)
    default: return refuse(row, "the text makes something else than the row says")
    }
    do {
      try database.makeStatement(sql: sql).execute()
      return true
    } catch {
      return refuse(row, "SQLite does not accept the text: \(error)")
    }
  }

  private func refuse(_ row: SchemaRow, _ reason: String) -> Bool {
    foreign.append(SchemaText(row: row, reason: reason))
    return false
  }

  private func table(_ row: SchemaRow, _ made: MadeSchema, in database: Database) throws -> TableSchema? {
    let described = made.columns(of: row.name)
    // A generated column takes no place in a record, or one that is computed: not read.
    guard !described.isEmpty, described.allSatisfy({ ($0["hidden"] as Int) == 0 }) else {
      foreign.append(SchemaText(row: row, reason: "a table with generated columns"))
      return nil
    }
    let (keys, withoutRowid) = (described.filter { ($0["pk"] as Int) > 0 }, made.isWithoutRowid(row.name))
    // INTEGER PRIMARY KEY DESC is no alias, by an old accident of SQLite's: then the key has an index of its own.
    let clauses = made.indexes(of: row.name).filter { $0["origin"] != "c" }
    let keyIndex = clauses.first { $0["origin"] == "pk" }.map { $0["name"] as String }
    let canAlias = keys.count == 1 && !withoutRowid && keyIndex == nil
    // Without rowid, a record begins with the primary key's columns in its order.
    let rest = described.filter { ($0["pk"] as Int) == 0 }
    let stored = withoutRowid ? keys.sorted { ($0["pk"] as Int) < ($1["pk"] as Int) } + rest : described
    let columns = try stored.map { try column($0, canAlias: canAlias, in: database) }
    return TableSchema(
      name: row.name, rootPage: row.rootPage, columns: columns, isWithoutRowid: withoutRowid,
      key: withoutRowid ? keyIndex.map { made.keys(of: $0).declared } ?? [] : [],
      clauseIndexes: clauses.map { $0["name"] }.filter { !withoutRowid || $0 != keyIndex },
      isStrict: made.isStrict(row.name), sql: row.sql ?? "")
  }

  private func column(_ row: Row, canAlias: Bool, in database: Database) throws -> ColumnSchema {
    let type = row["type"] as String? ?? ""
    let affinity = ColumnSchema.Affinity(declaredType: type)
    let text = row["dflt_value"] as String?
    let value = try text.flatMap { try DefaultLiteral.value(of: $0, affinity: affinity, in: database) }
    return ColumnSchema(
      name: row["name"], declaredType: type, affinity: affinity, defaultValue: value,
      hasUnknownDefault: text != nil && value == nil,
      isRowidAlias: canAlias && (row["pk"] as Int) == 1 && type.uppercased() == "INTEGER",
      isNotNull: (row["notnull"] as Int) == 1)
  }

  /// An index without text belongs to a clause of its table: SQLite gave ours the same name.
  private func index(_ row: SchemaRow, _ made: MadeSchema) -> IndexSchema? {
    let listed = made.indexes(of: row.tableName).first {
      NameOrder.folded($0["name"]) == NameOrder.folded(row.name)
    }
    let keys = made.keys(of: row.name)
    guard let listed, keys.isPlain else {
      foreign.append(SchemaText(row: row, reason: "an index that its table does not have, or over an expression"))
      return nil
    }
    return IndexSchema(
      name: row.name, table: row.tableName, rootPage: row.rootPage, isUnique: (listed["unique"] as Int) == 1,
      columns: keys.declared, further: keys.further, sql: row.sql)
  }
}
