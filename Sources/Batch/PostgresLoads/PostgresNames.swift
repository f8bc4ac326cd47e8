import Streams

/// How names and texts are written in PostgreSQL's SQL.
enum PostgresNames {
  /// Bytes of the longest name (PostgreSQL, "Identifiers and Key Words": NAMEDATALEN - 1).
  static let maximumBytes = 63
  /// Columns that every table has (PostgreSQL, "System Columns").
  static let systemColumns: Set = ["tableoid", "xmin", "cmin", "xmax", "cmax", "ctid"]

  /// A name in SQL: in quotes where it would not be itself without.
  static func quoted(_ name: String) -> String {
    let isPlain = name.utf8.enumerated().allSatisfy { index, byte in
      (0x61...0x7A).contains(byte) || byte == 0x5F || (index > 0 && (0x30...0x39).contains(byte))
    }
    if isPlain, !name.isEmpty, !reserved.contains(name) { return name }
    return name.quoted(by: "\"")
  }

  /// A text in SQL. Not for servers with standard_conforming_strings off, which a session turns on.
  static func literal(_ text: String) -> String { text.quoted(by: "'") }

  /// Words that cannot be names of tables or columns (PostgreSQL, Appendix C: reserved, also where functions and types
  /// may be named so).
  private static let reserved = Set(
    """
    all analyse analyze and any array as asc asymmetric authorization binary both case cast check collate collation column \
    concurrently constraint create cross current_catalog current_date current_role current_schema current_time current_timestamp \
    current_user default deferrable desc distinct do else end except false fetch for foreign freeze from full grant group having \
    ilike in initially inner intersect into is isnull join lateral leading left like limit localtime localtimestamp natural not \
    notnull null offset on only or order outer overlaps placing primary references returning right select session_user similar some \
    symmetric system_user table tablesample then to trailing true union unique user using variadic verbose when where window with
    """.split(separator: " ").map(String.init))
}
