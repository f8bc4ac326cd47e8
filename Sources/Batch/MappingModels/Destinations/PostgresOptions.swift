/// How the objects of a store become tables of PostgreSQL.
public struct PostgresOptions: Sendable, Equatable, Codable {
  /// The schema of the tables; it is made where it is missing.
  public var schema = "public"
  /// What tables entities with sub-entities have.
  public var inheritance = TableInheritance.root
  /// How tables and columns are named.
  public var names = TableNames.snakeCase

  /// Makes options with the defaults.
  public init() {}

  /// Whether a schema can have that name.
  public static func isSchema(_ name: String) -> Bool { (1..<64).contains(name.utf8.count) }
}
