import RunSupport

/// The schema of a store that exists, parsed by SQLite in a private, empty, in-memory database.
///
/// The texts come from a file and may be hostile: only a single CREATE TABLE with a column list and CREATE INDEX over
/// plain columns reach SQLite. Triggers, views and virtual tables never do.
public struct StoreSchema: Sendable {
  /// All rows, in their order.
  public let rows: [SchemaRow]
  /// Ordinary tables, in the order of their rows. Internal tables (`sqlite_…`) are not among them.
  public let tables: [TableSchema]
  /// Indexes, in the order of their rows.
  public let indexes: [IndexSchema]
  /// Triggers, as text.
  public let triggers: [SchemaText]
  /// Views, as text.
  public let views: [SchemaText]
  /// Virtual tables, as text; their shadow tables are among ``tables``.
  public let virtualTables: [SchemaText]
  /// Everything that could not be understood, with the reason.
  public let foreign: [SchemaText]
  /// The CHECK clauses of all tables that SQLite understands.
  package let conditions: [TableCondition]

  private let positions: [String: Int]

  /// More rows or longer texts than any store has are refused before work is done on them.
  package static let maximumRows = 20_000
  static let maximumText = 1_000_000

  /// Parses the rows of sqlite_schema. `path` names the store in errors.
  ///
  /// - Throws: ``BatchError``, and `StreamsError` of the disk below.
  public init(rows: [SchemaRow], path: String?) throws {
    guard rows.count <= Self.maximumRows, rows.allSatisfy({ ($0.sql?.utf8.count ?? 0) <= Self.maximumText }) else {
      throw BatchError(
        .badStore, "the schema is larger than any store's (\(rows.count) rows)",
        hint: "Check that the file is a Core Data store", path: path)
    }
    let parsed: ParsedSchema
    do {
      parsed = try ParsedSchema.of(rows)
    } catch {
      throw BatchError(.badStore, "the schema cannot be parsed", path: path, cause: error)
    }
    self.rows = rows
    tables = parsed.tables
    indexes = parsed.indexes
    (foreign, conditions) = (parsed.foreign, parsed.conditions)
    let texts = { (kind: String) in
      rows.filter { $0.type == kind }.map { SchemaText(row: $0, reason: "a \(kind) is never run") }
    }
    triggers = texts("trigger")
    views = texts("view")
    virtualTables = parsed.virtualTables
    positions = Dictionary(
      parsed.tables.enumerated().map { (NameOrder.folded($1.name), $0) }, uniquingKeysWith: { first, _ in first })
  }

  /// Root pages that more than one object claims: each of them would be read as often as it is claimed.
  package var sharedRoots: Set<UInt32> {
    var seen: Set<UInt32> = [1]
    return Set(rows.map(\.rootPage).filter { $0 > 0 && !seen.insert($0).inserted })
  }

  /// The table of that name, compared as SQLite does.
  public func table(_ name: String) -> TableSchema? { positions[NameOrder.folded(name)].map { tables[$0] } }
}
