import MappingModels

/// What a kind of database, and who asks for it, says of tables and names.
package struct LoadRules: Sendable {
  package var inheritance = TableInheritance.root
  package var names = TableNames.snakeCase
  /// The schema of a server; empty for a file.
  package var namespace = ""
  /// Names that no table and no index may have.
  package var takenNames: Set<String> = []
  /// The same for columns.
  package var takenColumns: Set<String> = []
  /// With what no table's and no index's name may begin.
  package var takenPrefix: String?

  package init() {}
}
