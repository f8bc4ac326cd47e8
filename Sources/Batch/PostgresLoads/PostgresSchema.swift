import CoreDataModel
import MappingModels

/// A type of PostgreSQL that values of attributes have.
enum PostgresType: String, Sendable, Codable {
  case smallint, integer, bigint, numeric, real, text, boolean, uuid, bytea
  case doublePrecision = "double precision"
  case timestamptz

  /// The type for an attribute; nil for one that no store holds. A transformable value stays the archive that it is.
  init?(_ type: AttributeType) {
    switch type {
    case .integer16: self = .smallint
    case .integer32: self = .integer
    case .integer64: self = .bigint
    case .decimal: self = .numeric
    case .double: self = .doublePrecision
    case .float: self = .real
    case .string, .uri: self = .text
    case .boolean: self = .boolean
    case .date: self = .timestamptz
    case .binaryData, .transformable: self = .bytea
    case .uuid: self = .uuid
    case .undefined, .objectID, .composite: return nil
    }
  }

  /// Whether a value can be longer than a few bytes.
  var isLong: Bool { self == .text || self == .bytea }
}

/// A column of a table of PostgreSQL.
struct PostgresColumn: Sendable, Equatable {
  /// Where its values come from.
  enum Source: Sendable, Equatable {
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

  var name: String
  var type: PostgresType
  var source: Source
  /// The property, for messages.
  var property: String
  /// Whether the model wants a value in every row.
  var isRequired = false
  /// The table whose key it holds, by its place in the schema.
  var references: Int?
}

/// A table of PostgreSQL, and the rows of a store that belong into it.
struct PostgresTable: Sendable, Equatable {
  enum Rows: Sendable, Equatable {
    /// Rows of an entity table, by its place in the layout, that are of these entities.
    case objects(table: Int, entities: [Int])
    /// All rows of a join table.
    case links(join: Int)
  }

  var name: String
  var rows: Rows
  /// The entity, or the relationship, for messages.
  var subject: String
  var columns: [PostgresColumn]
  /// Columns of the primary key, which come first.
  var keyCount = 1
}

/// Something to be made when the rows are there.
struct PostgresIndex: Sendable, Equatable {
  var name: String
  var table: Int
  /// Columns by their places, and whether they descend.
  var columns: [Int]
  var descending: [Bool]
  var isUnique: Bool
}

/// The tables of PostgreSQL for the objects of a model.
struct PostgresSchema: Sendable {
  var options: PostgresOptions
  var tables: [PostgresTable]
  var indexes: [PostgresIndex]
  /// Names of foreign keys, by table and column.
  var foreignKeys: [(table: Int, column: Int, name: String)]
  /// What of the model has no counterpart.
  var notes: [String]
}
