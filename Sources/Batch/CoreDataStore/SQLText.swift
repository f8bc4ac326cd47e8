import Streams

/// SQL text in Core Data's own spacing. Every name passes through ``name(_:)``: models and stores may come from anyone.
package enum SQLText {
  /// Text of the tables that every store has (B.2).
  static let metadata = "CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB)"
  static let primaryKey =
    "CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER)"
  static let modelCache = "CREATE TABLE Z_MODELCACHE (Z_CONTENT BLOB)"

  /// A name bare when it is plain, else quoted. Names of a layout start with `Z`, so a plain one is never a keyword.
  package static func name(_ name: String) -> String {
    let isPlain = name.utf8.allSatisfy { byte in
      (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte) || byte == 0x5F
    }
    let startsWell = name.utf8.first.map { !(0x30...0x39).contains($0) } ?? false
    if isPlain, startsWell { return name }
    return name.quoted(by: "\"")
  }

  /// A text literal.
  package static func literal(_ text: String) -> String { text.quoted(by: "'") }
}
