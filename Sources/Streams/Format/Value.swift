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

  /// Texts are equal if their bytes are: to Swift those are too that only look alike.
  public static func == (left: Value, right: Value) -> Bool {
    switch (left, right) {
    case (.null, .null): true
    case (.integer(let one), .integer(let other)): one == other
    case (.real(let one), .real(let other)): one == other
    case (.text(let one), .text(let other)): one.utf8.count == other.utf8.count && one.utf8.elementsEqual(other.utf8)
    case (.blob(let one), .blob(let other)): one == other
    case (.null, _), (.integer, _), (.real, _), (.text, _), (.blob, _): false
    }
  }
}
