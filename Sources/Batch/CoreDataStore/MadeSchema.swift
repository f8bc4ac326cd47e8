import GRDB
import Streams

/// What SQLite made of the texts of a schema. It is asked once for all tables and once for all indexes: to prepare a
/// question takes it longer than to answer it. Names are folded.
struct MadeSchema {
  private let columnRows: [String: [Row]]
  private let indexRows: [String: [Row]]
  private let keyRows: [String: [Row]]
  private let withoutRowid: Set<String>
  private let strict: Set<String>

  init(_ database: Database) throws {
    columnRows = try Self.rows("table", "table_xinfo", order: "cid", in: database)
    indexRows = try Self.rows("table", "index_list", order: "seq", in: database)
    keyRows = try Self.rows("index", "index_xinfo", order: "seqno", in: database)
    withoutRowid = try Self.names("wr", in: database)
    strict = try Self.names("strict", in: database)
  }

  /// What a pragma says of each object of a type.
  private static func rows(_ type: String, _ pragma: String, order: String, in database: Database) throws -> [String:
    [Row]]
  {
    let sql = """
      SELECT object.name AS object, said.* FROM sqlite_schema AS object, pragma_\(pragma)(object.name) AS said
      WHERE object.type = '\(type)' ORDER BY object.rowid, said.\(order)
      """
    return Dictionary(grouping: try Row.fetchAll(database, sql: sql)) { NameOrder.folded($0["object"]) }
  }

  /// The names of tables with a flag.
  private static func names(_ flag: String, in database: Database) throws -> Set<String> {
    let sql = "SELECT name FROM pragma_table_list WHERE schema = 'main' AND \(flag)"
    return try Set(String.fetchAll(database, sql: sql).map(NameOrder.folded))
  }

  func isWithoutRowid(_ table: String) -> Bool { withoutRowid.contains(NameOrder.folded(table)) }
  func isStrict(_ table: String) -> Bool { strict.contains(NameOrder.folded(table)) }

  /// Rows of `pragma_table_xinfo`.
  func columns(of table: String) -> [Row] { columnRows[NameOrder.folded(table)] ?? [] }

  /// Rows of `pragma_index_list`.
  func indexes(of table: String) -> [Row] { indexRows[NameOrder.folded(table)] ?? [] }

  /// The keys of an index, and what follows them instead of a rowid; not plain with an expression among them.
  func keys(of index: String) -> (declared: [IndexSchema.Key], further: [IndexSchema.Key], isPlain: Bool) {
    let rows = keyRows[NameOrder.folded(index)] ?? []
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
