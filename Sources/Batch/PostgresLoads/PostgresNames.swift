import MigrationJobs

/// Names that people expect in PostgreSQL, and how they are written in SQL.
enum PostgresNames {
  /// Bytes of the longest name (PostgreSQL, "Identifiers and Key Words": NAMEDATALEN - 1).
  static let maximumBytes = 63

  /// `bookAuthor` and `BookAuthor` become `book_author`, `imageURL` `image_url`, `URLString` `url_string`.
  static func snakeCase(_ name: String) -> String {
    let letters = Array(name)
    var text = ""
    for (index, letter) in letters.enumerated() {
      guard letter.isLetter || letter.isNumber else {
        if text.last != "_" { text += "_" }
        continue
      }
      if letter.isUppercase, index > 0, text.last != "_" {
        let followsSmall = !letters[index - 1].isUppercase
        let precedesSmall = index + 1 < letters.count && letters[index + 1].isLowercase
        if followsSmall || precedesSmall { text += "_" }
      }
      text += letter.lowercased()
    }
    return text
  }

  /// A name in SQL: in quotes where it would not be itself without.
  static func quoted(_ name: String) -> String {
    let isPlain = name.utf8.enumerated().allSatisfy { index, byte in
      (0x61...0x7A).contains(byte) || byte == 0x5F || (index > 0 && (0x30...0x39).contains(byte))
    }
    if isPlain, !name.isEmpty, !reserved.contains(name) { return name }
    return "\"\(name.replacing("\"", with: "\"\""))\""
  }

  /// A text in SQL. Not for servers with standard_conforming_strings off, which a session turns on.
  static func literal(_ text: String) -> String { "'\(text.replacing("'", with: "''"))'" }

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

/// Gives out names that are short enough and unlike all before.
struct PostgresNameBook {
  /// Columns that every table has (PostgreSQL, "System Columns").
  static let systemColumns: Set = ["tableoid", "xmin", "cmin", "xmax", "cmax", "ctid"]

  private var used: Set<String>

  /// Gives out none of `used`.
  init(used: Set<String> = []) { self.used = used }

  /// `wanted`, or the first of `others` that is free, or one with a number after it; of a name that is too long, its
  /// beginning and a hash of the whole.
  mutating func take(_ wanted: String, or others: [String] = []) -> String {
    for name in ([wanted] + others).map(Self.shortened) where used.insert(name).inserted { return name }
    var number = 2
    while !used.insert(Self.shortened("\(wanted)_\(number)")).inserted { number += 1 }
    return Self.shortened("\(wanted)_\(number)")
  }

  private static func shortened(_ name: String) -> String {
    guard name.utf8.count > PostgresNames.maximumBytes else { return name }
    var short = ""
    for letter in name {
      guard short.utf8.count + letter.utf8.count + 9 <= PostgresNames.maximumBytes else { break }
      short.append(letter)
    }
    return "\(short)_\(JobRegistry.hex(name).suffix(8))"
  }
}
