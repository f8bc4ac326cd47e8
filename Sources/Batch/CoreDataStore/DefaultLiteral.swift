import GRDB
import Streams

/// The value of a DEFAULT clause, if it is a literal. Expressions are never evaluated: their text comes from a file.
enum DefaultLiteral {
  /// Lets SQLite read the literal and apply the column's affinity, as it does for a record that ends before the column.
  static func value(of text: String, affinity: ColumnSchema.Affinity, in database: Database) throws -> Value? {
    guard isLiteral(text) else { return nil }
    try database.execute(sql: "CREATE TEMP TABLE literal (value \(affinity.rawValue))")
    defer { try? database.execute(sql: "DROP TABLE temp.literal") }
    do {
      try database.makeStatement(sql: "INSERT INTO temp.literal VALUES (\(text))").execute()
    } catch {
      return nil
    }
    let stored = try DatabaseValue.fetchOne(database, sql: "SELECT value FROM temp.literal")
    switch stored?.storage {
    case .int64(let number): return .integer(number)
    case .double(let number): return .real(number)
    case .string(let text): return .text(text)
    case .blob(let data): return .blob(Array(data))
    case .null, nil: return .null
    }
  }

  private static func isLiteral(_ text: String) -> Bool {
    var tokens = Array(SQLTokens(text))
    while tokens.count > 2, tokens.first == .mark(UInt8(ascii: "(")), tokens.last == .mark(UInt8(ascii: ")")) {
      tokens = Array(tokens.dropFirst().dropLast())
    }
    if tokens.count == 2, [.mark(UInt8(ascii: "-")), .mark(UInt8(ascii: "+"))].contains(tokens[0]) {
      tokens.removeFirst()
    }
    guard tokens.count == 1 else { return false }
    switch tokens[0] {
    case .text, .literal: return true
    case .word(let word): return ["null", "true", "false"].contains(NameOrder.folded(word))
    case .quoted, .mark: return false
    }
  }
}
