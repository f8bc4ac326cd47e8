/// A value as SQLite stores it: one of the five storage classes.
///
/// Source of the rule: SQLite, "Datatypes In SQLite", section 2.
public enum Value: Sendable, Hashable {
  case null
  /// A signed 64-bit integer.
  case integer(Int64)
  /// An IEEE 754 double. Columns of NUMERIC and REAL affinity store whole doubles as integers on disk.
  case real(Double)
  /// UTF-8 text.
  case text(String)
  /// Bytes.
  case blob([UInt8])
}
