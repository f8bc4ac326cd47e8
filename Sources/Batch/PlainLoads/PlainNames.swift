import GRDBSQLite
import Streams

/// How names and texts are written in SQLite's SQL.
enum PlainNames {
  /// A name in SQL: in quotes where it would not be itself without.
  static func quoted(_ name: String) -> String {
    let isPlain = name.utf8.enumerated().allSatisfy { index, byte in
      (0x61...0x7A).contains(byte) || (0x41...0x5A).contains(byte) || byte == 0x5F
        || (index > 0 && (0x30...0x39).contains(byte))
    }
    let isWord = sqlite3_keyword_check(name, Int32(name.utf8.count)) != 0
    return isPlain && !isWord && !name.isEmpty ? name : name.quoted(by: "\"")
  }
}
