import CoreDataStore

/// The tables of a database for the objects of a model.
package struct LoadSchema: Sendable {
  /// The schema of a server in which they are; empty for a file.
  package var namespace: String
  package var tables: [LoadTable]
  package var indexes: [LoadIndex]
  /// Names of foreign keys, by table and column.
  package var foreignKeys: [(table: Int, column: Int, name: String)]
  /// What of the model has no counterpart.
  package var notes: [String]
  /// Names that are others than those that were wanted, as these were taken; of columns entity and property.
  package var renamed: [(wanted: String, given: String)]
  /// Names of tables and indexes.
  package var names: LoadNameBook
  /// The store's own tables, of which these are made.
  package var layout: StoreLayout
}
