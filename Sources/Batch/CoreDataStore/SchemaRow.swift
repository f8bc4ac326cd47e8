/// A row of sqlite_schema, as a reader of database pages delivers it. Nothing in it is trusted.
public struct SchemaRow: Sendable, Hashable {
  /// `table`, `index`, `trigger` or `view`.
  public let type: String
  /// The object's name.
  public let name: String
  /// The table that it belongs to.
  public let tableName: String
  /// The root page; 0 for what has none.
  public internal(set) var rootPage: UInt32
  /// The text that made it; nil for the index of a PRIMARY KEY or UNIQUE clause.
  public let sql: String?

  /// Makes a row.
  public init(type: String, name: String, tableName: String, rootPage: UInt32, sql: String?) {
    self.type = type
    self.name = name
    self.tableName = tableName
    self.rootPage = rootPage
    self.sql = sql
  }

  /// A name and its page tell rows apart: texts are long, and are compared anyway.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(name)
    hasher.combine(rootPage)
  }
}
