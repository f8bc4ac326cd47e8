import Streams

/// Reads predicates and expressions in predicate format: comparisons, junctions, key paths, functions, subqueries and
/// constants. Arithmetic and `%@` are not understood. Throws ``ExpressionDamage``.
struct PredicateParser {
  private static let greatestDepth = 64
  private static let mostSteps = 100_000

  private let tokens: [PredicateTokens.Token]
  private var position = 0
  private var steps = 0

  static func predicate(_ text: String) throws -> ArchivedPredicate {
    var parser = PredicateParser(tokens: try PredicateTokens.split(text))
    let predicate = try parser.predicate(depth: 0)
    try parser.finish()
    return predicate
  }

  static func expression(_ text: String) throws -> ArchivedExpression {
    var parser = PredicateParser(tokens: try PredicateTokens.split(text))
    let expression = try parser.expression(depth: 0)
    try parser.finish()
    return expression
  }

  private init(tokens: [PredicateTokens.Token]) { self.tokens = tokens }

  private func finish() throws {
    guard position == tokens.count else { throw ExpressionDamage("goes on after its end") }
  }

  /// A bracket may open a predicate or an expression, so parts are read twice: depth and steps are limited.
  private mutating func enter(_ depth: Int) throws {
    steps += 1
    guard depth < Self.greatestDepth, steps < Self.mostSteps else { throw ExpressionDamage("is nested too deeply") }
  }

  private mutating func predicate(depth: Int) throws -> ArchivedPredicate {
    try junction(.or, ["OR", "||"], depth: depth) { parser in
      try parser.junction(.and, ["AND", "&&"], depth: depth) { try $0.negation(depth: depth) }
    }
  }

  private mutating func junction(
    _ junction: ArchivedPredicate.Junction, _ words: [String], depth: Int,
    _ part: (inout PredicateParser) throws -> ArchivedPredicate
  ) throws -> ArchivedPredicate {
    try enter(depth)
    var parts = [try part(&self)]
    while words.contains(where: { take($0) }) { parts.append(try part(&self)) }
    return parts.count == 1 ? parts[0] : .compound(junction, parts)
  }

  private mutating func negation(depth: Int) throws -> ArchivedPredicate {
    try enter(depth)
    if take("NOT") || take("!") { return .compound(.not, [try negation(depth: depth + 1)]) }
    if take("TRUEPREDICATE") { return .truth(true) }
    if take("FALSEPREDICATE") { return .truth(false) }
    let start = position
    if take("("), let inner = try? predicate(depth: depth + 1), take(")"), operation() == nil { return inner }
    position = start
    return try comparison(depth: depth)
  }

  private mutating func comparison(depth: Int) throws -> ArchivedPredicate {
    var modifier = ArchivedPredicate.Modifier.direct
    var isNone = false
    if take("ALL") { modifier = .all } else if take("ANY") || take("SOME") { modifier = .any }
    if modifier == .direct, take("NONE") { (modifier, isNone) = (.any, true) }
    let left = try expression(depth: depth + 1)
    guard let comparison = operation() else { throw ExpressionDamage("compares nothing") }
    var operation = ArchivedPredicate.Operation(comparison: comparison, modifier: modifier)
    if take("[") {
      guard case .word(let letters)? = token else { throw ExpressionDamage("has an option that is not known") }
      for letter in letters {
        guard let bit = ArchivedPredicate.options.first(where: { $0.letter == letter })?.bit else {
          throw ExpressionDamage("has the option \(letter), which is not known")
        }
        operation.options |= bit
      }
      position += 1
      try need("]")
    }
    let predicate = ArchivedPredicate.compare(left, operation, try expression(depth: depth + 1))
    return isNone ? .compound(.not, [predicate]) : predicate
  }

  private mutating func operation() -> ArchivedPredicate.Comparison? {
    let others: [(ArchivedPredicate.Comparison, String)] = [
      (.equal, "="), (.notEqual, "<>"), (.lessOrEqual, "=<"), (.greaterOrEqual, "=>"),
    ]
    return (ArchivedPredicate.symbols.map { ($0.comparison, $0.symbol) } + others).first { take($0.1) }?.0
  }

  private mutating func expression(depth: Int) throws -> ArchivedExpression {
    try enter(depth)
    guard let token else { throw ExpressionDamage("ends too early") }
    position += 1
    switch token {
    case .text(let text): return .constant(.text(text))
    case .number(let text):
      return .constant(Int64(text).map { .integer($0) } ?? .real(Double(text) ?? 0))
    case .key(let path): return .keyPath(operand: .evaluatedObject, path: path)
    case .variable(let name):
      let parts = name.split(separator: ".", maxSplits: 1).map(String.init)
      guard let first = parts.first else { throw ExpressionDamage("has a variable without name") }
      return parts.count == 1 ? .variable(first) : .keyPath(operand: .variable(first), path: parts[1])
    case .symbol("{"): return .aggregate(try list(until: "}", depth: depth))
    case .symbol("("):
      let inner = try expression(depth: depth + 1)
      try need(")")
      return inner
    case .symbol(let symbol): throw ExpressionDamage("has \"\(symbol)\" where a value belongs")
    case .word(let word): return try expression(word, depth: depth)
    }
  }

  private mutating func expression(_ word: String, depth: Int) throws -> ArchivedExpression {
    switch word.uppercased() {
    case "NIL", "NULL": return .constant(.null)
    case "TRUE", "YES": return .constant(.integer(1))
    case "FALSE", "NO": return .constant(.integer(0))
    case "SELF": return .evaluatedObject
    case "SUBQUERY": return try subquery(depth: depth)
    case "FUNCTION", "CAST": return try call(word.uppercased(), depth: depth)
    default: break
    }
    if take("(") { return .function(operand: nil, name: word, arguments: try list(until: ")", depth: depth)) }
    let path = word.uppercased().hasPrefix("SELF.") ? String(word.dropFirst(5)) : word
    guard !path.contains(":"), !PredicateTokens.reserved.contains(path.uppercased()) else {
      throw ExpressionDamage("has \"\(word)\" where a value belongs")
    }
    return .keyPath(operand: .evaluatedObject, path: path)
  }

  private mutating func call(_ word: String, depth: Int) throws -> ArchivedExpression {
    try need("(")
    let parts = try list(until: ")", depth: depth)
    guard parts.count >= 2, case .constant(.text(let name)) = parts[1] else {
      throw ExpressionDamage("has a function without name")
    }
    guard word == "CAST" else { return .function(operand: parts[0], name: name, arguments: Array(parts[2...])) }
    switch parts[0] {
    case .constant(.real(let seconds)) where name == "NSDate" && parts.count == 2: return .date(seconds)
    case .constant(.integer(let seconds)) where name == "NSDate" && parts.count == 2: return .date(Double(seconds))
    default: throw ExpressionDamage("has a cast that is not understood")
    }
  }

  private mutating func subquery(depth: Int) throws -> ArchivedExpression {
    try need("(")
    let collection = try expression(depth: depth + 1)
    try need(",")
    guard case .variable(let name)? = token else { throw ExpressionDamage("has a subquery without variable") }
    position += 1
    try need(",")
    let predicate = try predicate(depth: depth + 1)
    try need(")")
    return .subquery(collection: collection, variable: name, predicate: predicate)
  }

  private mutating func list(until end: String, depth: Int) throws -> [ArchivedExpression] {
    var members: [ArchivedExpression] = []
    while !take(end) {
      if !members.isEmpty { try need(",") }
      members.append(try expression(depth: depth + 1))
    }
    return members
  }

  private var token: PredicateTokens.Token? { position < tokens.count ? tokens[position] : nil }

  /// Words of the format stand in upper or lower case.
  private mutating func take(_ wanted: String) -> Bool {
    switch token {
    case .symbol(wanted): break
    case .word(let word) where word.uppercased() == wanted: break
    default: return false
    }
    position += 1
    return true
  }

  private mutating func need(_ wanted: String) throws {
    guard take(wanted) else { throw ExpressionDamage("lacks \"\(wanted)\"") }
  }
}
