import CoreDataModel
import GRDB

/// An R-tree of a store: a virtual table of SQLite's with bounds of numbers, one row for each object of an entity. Core
/// Data fills it itself; it has no triggers.
public struct RTreeLayout: Sendable, Hashable {
  /// The name of the virtual table, unique in the store.
  public let name: String
  /// The entity whose objects are in it, with those of its sub-entities.
  public let entity: String
  /// The table of these objects.
  public let table: String
  /// Z_ENT of these objects; nil if they are all rows of the table.
  public let entityNumbers: [Int]?
  /// The table's columns that are indexed, in order.
  public let columns: [String]

  /// The text of a virtual table that exists already.
  var text: String?

  /// SQLite's limit of elements.
  static let mostElements = 5

  /// The text of its CREATE VIRTUAL TABLE: that of the store, or one in Core Data's spacing.
  public var sql: String { text ?? ownText }

  private var ownText: String {
    let bounds = columns.flatMap { ["\(SQLText.name($0 + "_MIN")) FLOAT", "\(SQLText.name($0 + "_MAX")) FLOAT"] }
    let list = (["Z_PK INTEGER PRIMARY KEY"] + bounds).joined(separator: ", ")
    return "CREATE VIRTUAL TABLE \(SQLText.name(name)) USING RTREE (\(list))"
  }

  /// The tables that SQLite keeps it in, in the order in which it makes them.
  package var shadowTables: [(name: String, sql: String)] {
    [
      ("_rowid", "rowid INTEGER PRIMARY KEY,nodeno"), ("_node", "nodeno INTEGER PRIMARY KEY,data"),
      ("_parent", "nodeno INTEGER PRIMARY KEY,parentnode"),
    ].map { suffix, columns in
      let shadow = name + suffix
      return (shadow, "CREATE TABLE \(shadow.quotedDatabaseIdentifier)(\(columns))")
    }
  }

  /// All tables that it takes.
  package var tableNames: [String] { [name] + shadowTables.map(\.name) }

  /// Whether a virtual table is this one, whatever its spacing and quotes. Only such a text is ever run.
  package func isMade(by row: SchemaRow) -> Bool {
    guard NameOrder.folded(row.name) == NameOrder.folded(name), let sql = row.sql else { return false }
    func plain(_ text: String) -> [SQLTokens.Token] {
      SQLTokens(text).map { token in token.name.map { .quoted(NameOrder.folded($0)) } ?? token }
    }
    return plain(sql) == plain(ownText)
  }

  /// The same as a store has it.
  func adopting(_ row: SchemaRow) -> RTreeLayout {
    var adopted = RTreeLayout(
      name: row.name, entity: entity, table: table, entityNumbers: entityNumbers, columns: columns)
    adopted.text = row.sql
    return adopted
  }
}

extension RTreeLayout {
  /// The R-trees of a layout, table by table. One over what has no column is left out.
  static func all(in layout: StoreLayout) -> [RTreeLayout] {
    let model = layout.model
    return layout.entityTables.flatMap { table in
      let kinds = layout.entityNames.filter { model.root(of: $0) == table.rootEntity }
      return kinds.flatMap { entity in
        (model.entity(entity)?.indexes ?? []).filter(\.isRTree).compactMap { index -> RTreeLayout? in
          let columns = index.elements.compactMap { layout.column(forAttribute: $0.property, ofEntity: entity)?.name }
          guard !columns.isEmpty, columns.count == index.elements.count else { return nil }
          let members = kinds.filter { model.isKind($0, of: entity) }
          return RTreeLayout(
            name: "Z_RT_\(entity)_\(index.name)", entity: entity, table: table.name,
            entityNumbers: members.count == kinds.count
              ? nil : members.compactMap { layout.entityNumbers[$0] }.sorted(),
            columns: columns)
        }
      }
    }
  }

  /// Whether the system's SQLite has the module that R-trees need.
  static let isPossible: Bool = {
    guard let queue = try? DatabaseQueue(configuration: GuardedConnection.configuration) else { return false }
    defer { try? queue.close() }
    return (try? queue.write { try $0.execute(sql: "CREATE VIRTUAL TABLE t USING rtree(k, a, b)") }) != nil
  }()
}

extension EntityDescription.FetchIndex {
  /// Whether it is an R-tree.
  package var isRTree: Bool { elements.contains { $0.type.lowercased() == "rtree" } }
}
