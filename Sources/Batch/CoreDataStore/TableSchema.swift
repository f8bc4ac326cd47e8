import Streams

/// A column of a table that exists.
public struct ColumnSchema: Sendable, Hashable {
  /// SQLite's column affinities (SQLite, "Datatypes In SQLite", section 3.1).
  public enum Affinity: String, Sendable {
    case integer = "INTEGER"
    case text = "TEXT"
    case blob = "BLOB"
    case real = "REAL"
    case numeric = "NUMERIC"

    /// The affinity of a declared type. Only ASCII letters are folded, as SQLite does.
    public init(declaredType: String) {
      let type = Array(NameOrder.folded(declaredType).utf8)
      func has(_ part: StaticString) -> Bool {
        let part = UnsafeBufferPointer(start: part.utf8Start, count: part.utf8CodeUnitCount)
        return type.indices.contains { type[$0...].starts(with: part) }
      }
      if has("int") {
        self = .integer
      } else if has("char") || has("clob") || has("text") {
        self = .text
      } else if type.isEmpty || has("blob") {
        self = .blob
      } else if has("real") || has("floa") || has("doub") {
        self = .real
      } else {
        self = .numeric
      }
    }

    /// What a column of it mostly holds.
    package var holds: SortColumn.Holding {
      switch self {
      case .integer: .integers
      case .real, .numeric: .reals
      case .text, .blob: .others
      }
    }
  }

  /// The name as the text has it.
  public let name: String
  /// The declared type, possibly empty.
  public let declaredType: String
  /// The affinity that follows from it.
  public let affinity: Affinity
  /// The value of a record that ends before this column, affinity applied; nil when there is no default (then it is
  /// NULL).
  public let defaultValue: Value?
  /// Whether there is a default that is no literal. Then the value of a short record is not known and it must not be
  /// read.
  public let hasUnknownDefault: Bool
  /// Whether it is another name of the rowid. Its record holds NULL.
  public let isRowidAlias: Bool
  /// Whether it is declared NOT NULL.
  package let isNotNull: Bool
}

/// A table that exists. A column's position here is its position in a record: in a table WITHOUT ROWID the primary
/// key's columns come first.
public struct TableSchema: Sendable, Hashable {
  /// The name as the text has it.
  public let name: String
  /// The root page.
  public internal(set) var rootPage: UInt32
  /// The columns in their physical order.
  public let columns: [ColumnSchema]
  /// Whether it is kept as an index, in the order of its primary key.
  public let isWithoutRowid: Bool
  /// The primary key of a table WITHOUT ROWID; empty for others.
  package let key: [IndexSchema.Key]
  /// The names of indexes that PRIMARY KEY and UNIQUE clauses ask for. SQLite reads no table without them.
  package let clauseIndexes: [String]
  /// Whether SQLite holds values against the declared types.
  package let isStrict: Bool
  /// The text that made it.
  public let sql: String

  /// The position of a column, whose name is compared as SQLite does.
  public func position(of name: String) -> Int? {
    // Most are written alike.
    if let position = columns.firstIndex(where: { $0.name == name }) { return position }
    let wanted = NameOrder.folded(name)
    return columns.firstIndex { NameOrder.folded($0.name) == wanted }
  }
}

/// An index that exists.
public struct IndexSchema: Sendable, Hashable {
  /// One key of an index.
  public struct Key: Sendable, Hashable {
    /// The column; nil stands for the rowid.
    public let column: String?
    /// Descending order.
    public let isDescending: Bool
    /// The collation's name.
    public let collation: String
  }

  /// The name.
  public let name: String
  /// The table's name.
  public let table: String
  /// The root page.
  public internal(set) var rootPage: UInt32
  /// Whether it keeps values unique.
  public let isUnique: Bool
  /// The declared keys, without the rowid that ends every entry.
  public let columns: [Key]
  /// What follows the keys in every entry instead of the rowid: the primary key of a table WITHOUT ROWID.
  package let further: [Key]
  /// The text that made it; nil for the index of a PRIMARY KEY or UNIQUE clause.
  public let sql: String?
}

/// A part of a schema that is kept as text: a trigger, a view, a virtual table, or what this tool does not understand.
public struct SchemaText: Sendable, Hashable {
  /// The row as it was read.
  public let row: SchemaRow
  /// Why it is only text.
  public let reason: String
}
