import Codecs
import Streams

extension Expression: CustomStringConvertible {
  /// The expression in NSPredicate's format: `$source.name`, `FUNCTION($manager, "selector:", $source)`, `price * 2`.
  /// ``init(format:)`` reads it back, except for constants of bytes, which the format has no words for; a decimal comes
  /// back as the number of its digits.
  public var description: String {
    switch self {
    case .constant(let value): return Self.text(value)
    case .decimal(let digits): return digits
    case .date(let seconds): return "CAST(\(seconds), \"NSDate\")"
    case .evaluatedObject: return "SELF"
    case .variable(let name): return "$" + name
    case .keyPath(.evaluatedObject, let path): return Self.escaped(path)
    case .keyPath(let operand, let path): return operand.primary + "." + path.joined(separator: ".")
    case .function(let operand, let name, let arguments):
      return Self.function(operand, name: name, arguments: arguments)
    case .aggregate(let members): return "{\(Self.list(members))}"
    case .subquery(let collection, let variable, let predicate):
      return "SUBQUERY(\(collection), $\(variable), \(predicate))"
    case .conditional(let predicate, let yes, let no): return "TERNARY(\(predicate), \(yes), \(no))"
    case .set(let operation, let left, let right):
      return "\(left.isSet ? left.description : left.operand(0)) \(operation.word) \(right.operand(0))"
    case .fetch(let request, let context, let isCountOnly):
      return "FETCH(\(request), \(context), \(isCountOnly ? "YES" : "NO"))"
    }
  }

  private static func function(_ operand: Expression?, name: String, arguments: [Expression]) -> String {
    if let operand { return "FUNCTION(\(list([operand, .constant(.text(name))] + arguments)))" }
    if name == "castObject:toType:" { return "CAST(\(list(arguments)))" }
    guard let (level, symbol) = Self.arithmetic(name), arguments.count == 2 else {
      return "\(name)(\(list(arguments)))"
    }
    return "\(arguments[0].operand(level)) \(symbol) \(arguments[1].operand(level + 1))"
  }

  private static func arithmetic(_ name: String) -> (level: Int, symbol: String)? {
    for (level, operators) in FormatFunctions.operators.enumerated() {
      if let found = operators.first(where: { $0.function == name }) { return (level, found.symbol) }
    }
    return nil
  }

  private var isSet: Bool { if case .set = self { true } else { false } }

  /// In brackets, where it binds weaker than operators of a level.
  private func operand(_ level: Int) -> String {
    if isSet { return "(\(self))" }
    guard case .function(nil, let name, let arguments) = self, arguments.count == 2,
      let own = Self.arithmetic(name)?.level,
      own < level
    else { return description }
    return "(\(self))"
  }

  /// As a key path may follow.
  private var primary: String {
    switch self {
    case .constant, .decimal: "(\(self))"
    default: operand(FormatFunctions.operators.count)
    }
  }

  private static func list(_ members: [Expression]) -> String {
    members.map(\.description).joined(separator: ", ")
  }

  /// A key that is a word of the format begins with `#`.
  private static func escaped(_ path: [String]) -> String {
    let isWord = PredicateTokens.reserved.contains(path.first?.uppercased() ?? "")
    return (isWord ? "#" : "") + path.joined(separator: ".")
  }

  private static func text(_ value: Value) -> String {
    switch value {
    case .null: return "nil"
    case .integer(let number): return String(number)
    case .real(let number): return number.description
    case .text(let text):
      return "\"" + text.replacing(["\\": "\\\\", "\"": "\\\""]) + "\""
    // Not the bytes, but what tells them from others: a plan is known by its expressions' texts.
    case .blob(let bytes):
      return
        "<\(bytes.count) bytes \(SHA256.hash(bytes).prefix(8).map { String(UInt16($0) + 256, radix: 16).dropFirst() }.joined())>"
    }
  }
}

extension Expression.SetOperation {
  var word: String {
    switch self {
    case .union: "UNION"
    case .intersect: "INTERSECT"
    case .minus: "MINUS"
    }
  }
}

extension Predicate: CustomStringConvertible {
  static let symbols: [(comparison: Comparison, symbol: String)] = [
    (.lessOrEqual, "<="), (.less, "<"), (.greaterOrEqual, ">="), (.greater, ">"), (.equal, "=="), (.notEqual, "!="),
    (.matches, "MATCHES"), (.like, "LIKE"), (.beginsWith, "BEGINSWITH"), (.endsWith, "ENDSWITH"), (.isIn, "IN"),
    (.contains, "CONTAINS"), (.between, "BETWEEN"),
  ]
  static let options: [(bit: Int64, letter: Character)] = [(1, "c"), (2, "d"), (4, "n"), (8, "l")]

  /// The predicate in NSPredicate's format, which ``init(format:)`` reads back.
  public var description: String {
    switch self {
    case .truth(let value): return value ? "TRUEPREDICATE" : "FALSEPREDICATE"
    case .compare(let left, let operation, let right): return "\(operation.prefix)\(left) \(operation) \(right)"
    case .compound(.not, let parts): return "NOT " + parts.map(Self.inner).joined(separator: " AND ")
    case .compound(let junction, let parts):
      return parts.map(Self.inner).joined(separator: junction == .and ? " AND " : " OR ")
    }
  }

  private static func inner(_ part: Predicate) -> String {
    if case .compound = part { return "(\(part))" }
    return part.description
  }
}

extension Predicate.Operation: CustomStringConvertible {
  fileprivate var prefix: String {
    switch modifier {
    case .direct: return ""
    case .all: return "ALL "
    case .any: return "ANY "
    }
  }

  /// The operator with its options, such as `CONTAINS[cd]`.
  public var description: String {
    let symbol = Predicate.symbols.first { $0.comparison == comparison }?.symbol ?? ""
    let letters = Predicate.options.filter { options & $0.bit != 0 }.map(\.letter)
    return letters.isEmpty ? symbol : "\(symbol)[\(String(letters))]"
  }
}
