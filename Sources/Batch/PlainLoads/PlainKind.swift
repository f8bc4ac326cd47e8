import LoadTables
import MappingModels

/// What a column of an ordinary table holds, and how SQLite declares it.
///
/// The tables are not STRICT: SQLite before 3.37, which Android before 14 has, does not open a file with such tables.
enum PlainKind: Sendable, Equatable {
  /// A whole number; those outside the range do not fit the attribute's type.
  case integer(ClosedRange<Int64>)
  case real, decimal, text, uuid, blob
  case date(PlainDates)

  init(_ type: LoadType, dates: PlainDates) {
    switch type {
    case .int16: self = .integer(Int64(Int16.min)...Int64(Int16.max))
    case .int32: self = .integer(Int64(Int32.min)...Int64(Int32.max))
    case .int64: self = .integer(.min...(.max))
    case .boolean: self = .integer(0...1)
    case .double, .float: self = .real
    case .decimal: self = .decimal
    case .text: self = .text
    case .date: self = .date(dates)
    case .uuid: self = .uuid
    case .bytes, .archive: self = .blob
    }
  }

  /// The type in CREATE TABLE.
  var declaration: String {
    switch self {
    case .integer: "INTEGER"
    case .real, .date(.unix): "REAL"
    case .decimal, .text, .uuid, .date(.iso): "TEXT"
    case .blob: "BLOB"
    }
  }
}
