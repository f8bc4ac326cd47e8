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
      let (withoutRowid, strict) = (try names("wr", in: database), try names("strict", in: database))
      for row in accepted {
        let name = NameOrder.folded(row.name)
        conditions += TableCondition.all(of: row.name, sql: row.sql ?? "")
        let table = try table(
          row, withoutRowid: withoutRowid.contains(name), isStrict: strict.contains(name), in: database)
        if let table { tables.append(table) }
      }
      for row in rows where row.type == "index" {
        guard row.sql == nil || create(row, in: database) else { continue }
        if let index = try index(row, in: database) { indexes.append(index) }
      }
    }
    for row in rows where !["table", "index", "trigger", "view"].contains(row.type) {
      foreign.append(SchemaText(row: row, reason: "an object of an unknown type"))
    }
  }

  /// The folded names of tables with a flag.
  private func names(_ flag: String, in database: Database) throws -> Set<String> {
    let sql = "SELECT name FROM pragma_table_list WHERE schema = 'main' AND \(flag)"
    return try Set(String.fetchAll(database, sql: sql).map(NameOrder.folded))
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

  private func table(
    _ row: SchemaRow, withoutRowid: Bool, isStrict: Bool, in database: Database
  ) throws -> TableSchema? {
    let described = try Row.fetchAll(database, sql: "SELECT * FROM pragma_table_xinfo(?)", arguments: [row.name])
    // A generated column takes no place in a record, or one that is computed: not read.
    guard !described.isEmpty, described.allSatisfy({ ($0["hidden"] as Int) == 0 }) else {
      foreign.append(SchemaText(row: row, reason: "a table with generated columns"))
      return nil
    }
    let keys = described.filter { ($0["pk"] as Int) > 0 }
    // INTEGER PRIMARY KEY DESC is no alias, by an old accident of SQLite's: then the key has an index of its own.
    let clauses = try Row.fetchAll(
      database, sql: "SELECT name, origin FROM pragma_index_list(?) WHERE origin <> 'c'", arguments: [row.name])
    let keyIndex = clauses.first { $0["origin"] == "pk" }.map { $0["name"] as String }
    let canAlias = keys.count == 1 && !withoutRowid && keyIndex == nil
    // Without rowid, a record begins with the primary key's columns in its order.
    let rest = described.filter { ($0["pk"] as Int) == 0 }
    let stored = withoutRowid ? keys.sorted { ($0["pk"] as Int) < ($1["pk"] as Int) } + rest : described
    let columns = try stored.map { try column($0, canAlias: canAlias, in: database) }
    return TableSchema(
      name: row.name, rootPage: row.rootPage, columns: columns, isWithoutRowid: withoutRowid,
      key: withoutRowid ? try keyIndex.map { try self.keys(of: $0, in: database).declared } ?? [] : [],
      clauseIndexes: clauses.map { $0["name"] }.filter { !withoutRowid || $0 != keyIndex }, isStrict: isStrict,
      sql: row.sql ?? "")
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
  private func index(_ row: SchemaRow, in database: Database) throws -> IndexSchema? {
    let listed = try Row.fetchOne(
      database, sql: "SELECT \"unique\" AS u FROM pragma_index_list(?) WHERE name = ? COLLATE NOCASE",
      arguments: [row.tableName, row.name])
    let keys = try keys(of: row.name, in: database)
    guard let listed, keys.isPlain else {
      foreign.append(SchemaText(row: row, reason: "an index that its table does not have, or over an expression"))
      return nil
    }
    return IndexSchema(
      name: row.name, table: row.tableName, rootPage: row.rootPage, isUnique: (listed["u"] as Int) == 1,
      columns: keys.declared, further: keys.further, sql: row.sql)
  }

  /// The keys of an index, and what follows them instead of a rowid; not plain with an expression among them.
  private func keys(of index: String, in database: Database) throws -> (
    declared: [IndexSchema.Key], further: [IndexSchema.Key], isPlain: Bool
  ) {
    let rows = try Row.fetchAll(database, sql: "SELECT * FROM pragma_index_xinfo(?)", arguments: [index])
    func keys(_ rows: [Row]) -> [IndexSchema.Key] {
      rows.map { row in
        IndexSchema.Key(column: row["name"], isDescending: (row["desc"] as Int) == 1, collation: row["coll"])
      }
    }
    let declared = rows.filter { ($0["key"] as Int) == 1 }
    let further = rows.filter { ($0["key"] as Int) == 0 && ($0["cid"] as Int) >= 0 }
    return (keys(declared), keys(further), declared.allSatisfy { ($0["cid"] as Int) >= -1 })
  }
}
