import LoadTables

/// A type of PostgreSQL that values of attributes have.
enum PostgresType: String, Sendable, Codable {
  case smallint, integer, bigint, numeric, real, text, boolean, uuid, bytea
  case doublePrecision = "double precision"
  case timestamptz

  /// The type of a column.
  init(_ type: LoadType) {
    switch type {
    case .int16: self = .smallint
    case .int32: self = .integer
    case .int64: self = .bigint
    case .decimal: self = .numeric
    case .double: self = .doublePrecision
    case .float: self = .real
    case .text: self = .text
    case .boolean: self = .boolean
    case .date: self = .timestamptz
    case .bytes, .archive: self = .bytea
    case .uuid: self = .uuid
    }
  }

  /// Whether a value can be longer than a few bytes.
  var isLong: Bool { self == .text || self == .bytea }
}
