/// How the objects of a store become tables of PostgreSQL.
public struct PostgresOptions: Sendable, Equatable, Codable {
  /// What tables entities with sub-entities have.
  public enum Inheritance: String, Sendable, Codable, CaseIterable {
    /// One table for a root entity and all below it, as Core Data has; columns of sub-entities are empty in other rows.
    case root
    /// One table for each entity with the properties that it declares itself; an object has a row in the table of its
    /// entity and in those of all entities above, under the same key.
    case `class`
  }

  /// How tables and columns are named.
  public enum Names: String, Sendable, Codable, CaseIterable {
    /// `BookAuthor.createdAt` is `book_author.created_at`; the key is `id`, a to-one's key `author_id`.
    case snakeCase = "snake-case"
    /// Core Data's own: `ZBOOKAUTHOR.ZCREATEDAT`, `Z_PK`.
    case coreData = "core-data"
  }

  /// The schema of the tables; it is made where it is missing.
  public var schema = "public"
  /// What tables entities with sub-entities have.
  public var inheritance = Inheritance.root
  /// How tables and columns are named.
  public var names = Names.snakeCase

  /// Makes options with the defaults.
  public init() {}

  /// Whether a schema can have that name.
  public static func isSchema(_ name: String) -> Bool { (1..<64).contains(name.utf8.count) }
}
