/// What a text of sqlite_schema is allowed to be before SQLite parses it: one CREATE TABLE with a column list, or one
/// CREATE INDEX over plain columns. Neither evaluates anything. All else stays text.
enum SchemaStatement: Equatable {
  case table(String)
  case index(name: String, table: String)
  case virtualTable
  case other(reason: String)

  init(_ sql: String) {
    var tokens = Array(SQLTokens(sql))
    if tokens.last == .mark(UInt8(ascii: ";")) { tokens.removeLast() }
    guard !tokens.contains(.mark(UInt8(ascii: ";"))) else {
      self = .other(reason: "more than one statement")
      return
    }
    guard tokens.count > 3, tokens[0].isWord("create") else {
      self = .other(reason: "not a CREATE statement")
      return
    }
    if tokens[1].isWord("virtual") {
      self = .virtualTable
    } else if tokens[1].isWord("table") {
      self = Self.table(tokens)
    } else if tokens[1].isWord("index") {
      self = Self.index(Array(tokens.dropFirst(2)))
    } else if tokens[1].isWord("unique"), tokens[2].isWord("index") {
      self = Self.index(Array(tokens.dropFirst(3)))
    } else {
      self = .other(reason: "not a table or an index")
    }
  }

  /// A list must follow the name at once: CREATE TABLE … AS SELECT would run a query.
  private static func table(_ tokens: [SQLTokens.Token]) -> Self {
    guard let name = tokens[2].name, tokens[3] == .mark(UInt8(ascii: "(")) else {
      return .other(reason: "a table without a list of columns")
    }
    return .table(name)
  }

  private static func index(_ tokens: [SQLTokens.Token]) -> Self {
    guard tokens.count > 5, let name = tokens[0].name, tokens[1].isWord("on"), let table = tokens[2].name,
      tokens[3] == .mark(UInt8(ascii: "(")), tokens.last == .mark(UInt8(ascii: ")"))
    else { return .other(reason: "an index with a predicate, or without a list of columns") }
    let isPlain = tokens[4..<(tokens.count - 1)].allSatisfy { $0.name != nil || $0 == .mark(UInt8(ascii: ",")) }
    return isPlain ? .index(name: name, table: table) : .other(reason: "an index over an expression")
  }
}
