/// A CHECK clause of a table. SQLite evaluates it for each row that is written; on a connection that may only read it
/// forgets it, and its integrity_check does not look at it either.
package struct TableCondition: Sendable, Hashable {
  /// The table's name.
  package let table: String
  /// The expression, as the table's text has it.
  package let text: String

  /// All of a CREATE TABLE that SQLite has accepted.
  static func all(of table: String, sql: String) -> [TableCondition] {
    var (found, tokens) = ([TableCondition](), SQLTokens(sql))
    let bytes = Array(sql.utf8)
    while let token = tokens.next() {
      guard token.isWord("check"), tokens.next() == .mark(UInt8(ascii: "(")) else { continue }
      var (depth, start, end) = (1, tokens.position, tokens.position)
      while depth > 0, let next = tokens.next() {
        if next == .mark(UInt8(ascii: "(")) { depth += 1 }
        if next == .mark(UInt8(ascii: ")")) { depth -= 1 }
        if depth > 0 { end = tokens.position }
      }
      found.append(TableCondition(table: table, text: String(decoding: bytes[start..<end], as: UTF8.self)))
    }
    return found
  }
}
