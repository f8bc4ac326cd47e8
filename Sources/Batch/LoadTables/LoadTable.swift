/// A table of a database, and the rows of a store that belong into it.
package struct LoadTable: Sendable, Equatable {
  package enum Rows: Sendable, Equatable {
    /// Rows of an entity table, by its place in the layout, that are of these entities.
    case objects(table: Int, entities: [Int])
    /// All rows of a join table.
    case links(join: Int)
  }

  package var name: String
  package var rows: Rows
  /// The entity, or the relationship, for messages.
  package var subject: String
  package var columns: [LoadColumn]
  /// Columns of the primary key, which come first.
  package var keyCount = 1
}
