import Streams

/// Expressions and predicates as NSPredicate's format writes them. ``PredicateParser`` reads them back.
extension ArchivedExpression: CustomStringConvertible {
  var description: String {
    switch self {
    case .constant(let value): return Self.text(value)
    case .decimal(let digits): return digits
    case .date(let seconds): return "CAST(\(seconds), \"NSDate\")"
    case .evaluatedObject: return "SELF"
    case .variable(let name): return "$" + name
    case .keyPath(.evaluatedObject, let path): return Self.escaped(path)
    case .keyPath(let operand, let path): return "\(operand).\(path)"
    case .function(nil, let name, let arguments): return "\(name)(\(Self.list(arguments)))"
    case .function(let operand?, let name, let arguments):
      return "FUNCTION(\(Self.list([operand, .constant(.text(name))] + arguments)))"
    case .aggregate(let members): return "{\(Self.list(members))}"
    case .subquery(let collection, let variable, let predicate):
      return "SUBQUERY(\(collection), $\(variable), \(predicate))"
    }
  }

  private static func list(_ members: [ArchivedExpression]) -> String {
    members.map(\.description).joined(separator: ", ")
  }

  /// A key that is a word of the format begins with `#`.
  private static func escaped(_ path: String) -> String {
    let first = path.prefix { $0 != "." }
    return PredicateTokens.reserved.contains(first.uppercased()) ? "#" + path : path
  }

  private static func text(_ value: Value) -> String {
    switch value {
    case .null: return "nil"
    case .integer(let number): return String(number)
    case .real(let number): return number.description
    case .text(let text):
      return "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
    case .blob(let bytes): return "<\(bytes.count) bytes>"
    }
  }
}

extension ArchivedPredicate: CustomStringConvertible {
  static let symbols: [(comparison: Comparison, symbol: String)] = [
    (.lessOrEqual, "<="), (.less, "<"), (.greaterOrEqual, ">="), (.greater, ">"), (.equal, "=="), (.notEqual, "!="),
    (.matches, "MATCHES"), (.like, "LIKE"), (.beginsWith, "BEGINSWITH"), (.endsWith, "ENDSWITH"), (.isIn, "IN"),
    (.contains, "CONTAINS"), (.between, "BETWEEN"),
  ]
  static let options: [(bit: Int64, letter: Character)] = [(1, "c"), (2, "d"), (4, "n"), (8, "l")]

  var description: String {
    switch self {
    case .truth(let value): return value ? "TRUEPREDICATE" : "FALSEPREDICATE"
    case .compare(let left, let operation, let right): return "\(operation.prefix)\(left) \(operation) \(right)"
    case .compound(.not, let parts): return "NOT " + parts.map(Self.inner).joined(separator: " AND ")
    case .compound(let junction, let parts):
      return parts.map(Self.inner).joined(separator: junction == .and ? " AND " : " OR ")
    }
  }

  private static func inner(_ part: ArchivedPredicate) -> String {
    if case .compound = part { return "(\(part))" }
    return part.description
  }
}

extension ArchivedPredicate.Operation: CustomStringConvertible {
  fileprivate var prefix: String {
    switch modifier {
    case .direct: return ""
    case .all: return "ALL "
    case .any: return "ANY "
    }
  }

  var description: String {
    let symbol = ArchivedPredicate.symbols.first { $0.comparison == comparison }?.symbol ?? ""
    let letters = ArchivedPredicate.options.filter { options & $0.bit != 0 }.map(\.letter)
    return letters.isEmpty ? symbol : "\(symbol)[\(String(letters))]"
  }
}
