/// A column of a table of a database.
package struct LoadColumn: Sendable, Equatable {
  /// Where its values come from.
  package enum Source: Sendable, Equatable {
    /// The object's key, Z_PK.
    case key
    /// The name of the object's entity.
    case entityName
    /// Its number, Z_ENT.
    case entityNumber
    /// A column of the entity's table, by its place in ``EntityTable/columns``; with bytes that may lie in a file
    /// (B.4).
    case column(Int, isExternal: Bool)
    /// A column of the join table, by its name there.
    case link(String)
  }

  package var name: String
  package var type: LoadType
  package var source: Source
  /// The property, for messages.
  package var property: String
  /// Whether the model wants a value in every row.
  package var isRequired = false
  /// The table whose key it holds, by its place in the schema.
  package var references: Int?

  /// Whether its bytes may lie in a file beside the store.
  package var isExternal: Bool {
    if case .column(_, true) = source { return true }
    return false
  }
}
