import LoadTables

extension TextCheck.Result {
  /// Throws for what PostgreSQL does not take for text (PostgreSQL, "Character Types").
  func throwUnlessGood() throws {
    switch self {
    case .good: return
    case .hasNul: throw CopyFault(what: "has a NUL character")
    case .notUTF8: throw CopyFault(what: "is not UTF-8")
    }
  }
}
