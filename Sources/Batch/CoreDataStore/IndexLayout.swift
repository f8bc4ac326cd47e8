/// An index of a store, as a framework around version 1500 creates it (B.7).
public struct IndexLayout: Sendable, Hashable {
  /// One column of an index.
  public struct Column: Sendable, Hashable {
    /// The column's name.
    public let name: String
    /// Descending order.
    public let isDescending: Bool
    /// The collation that the text names; nil means the default, which is BINARY too.
    public let collation: String?
  }

  /// The name, unique in the store.
  public let name: String
  /// The table's name.
  public let table: String
  /// The columns, in order.
  public let columns: [Column]
  /// Whether it keeps a uniqueness constraint.
  public let isUnique: Bool
  /// The predicate that limits the index in the model, for reports. The index here holds *all* rows: it answers the
  /// same queries, and predicate format is not SQL.
  public let partialPredicate: String?

  /// The text of an index that exists already.
  var text: String?
  /// In a layout that is a real store's: whether the store lacks it.
  package var isMissing: Bool { text == nil }

  /// Whether the model declares it. The others Core Data makes for its own keys.
  var isDeclared: Bool { columns.contains { $0.collation != nil } }

  /// Whether an index of a store does the same, whatever its name.
  func isMade(by index: IndexSchema) -> Bool {
    NameOrder.folded(index.table) == NameOrder.folded(table) && (index.isUnique || !isUnique)
      && index.columns.map { [$0.column.map(NameOrder.folded) ?? "z_pk", "\($0.isDescending)"] }
        == columns.map { [NameOrder.folded($0.name), "\($0.isDescending)"] }
  }

  /// The text of its CREATE INDEX: that of the store, or one in Core Data's spacing.
  public var sql: String {
    if let text { return text }
    let list = columns.map { column in
      guard let collation = column.collation else { return SQLText.name(column.name) }
      return "\(SQLText.name(column.name)) COLLATE \(collation) \(column.isDescending ? "DESC" : "ASC")"
    }
    let kind = isUnique ? "CREATE UNIQUE INDEX" : "CREATE INDEX"
    return "\(kind) \(SQLText.name(name)) ON \(SQLText.name(table)) (\(list.joined(separator: ", ")))"
  }
}
