/// Where a result goes that stays in SQLite, but leaves Core Data: a new file of ordinary tables.
public struct PlainDestination: Sendable, Equatable {
  /// The file. It must not exist.
  public var path: String
  /// What tables entities with sub-entities have.
  public var inheritance = TableInheritance.root
  /// How tables and columns are named.
  public var names = TableNames.snakeCase
  /// How dates are written.
  public var dates = PlainDates.iso
  /// A file for record types in Swift, for GRDB; nil for none. It must not exist.
  public var records: String?

  /// Names a file; all else has its defaults.
  public init(path: String) { self.path = path }
}
