import Streams

/// Reads predicates and expressions in predicate format. Throws ``ExpressionDamage``.
///
/// A bracket is read once: what follows it shows whether it holds a predicate or an expression. Bytes, depth, parts and
/// operators are limited, so that any text is read in bounded time and memory.
package struct PredicateParser {
  private static let greatestDepth = 64
  private static let mostSteps = 100_000
  private static let mostOperators = 256
  private static let mostBytes = 1 << 20

  private let tokens: [PredicateTokens.Token]
  private let starts: [Int]
  /// For every opening bracket, the position of the one that closes it.
  private let closing: [Int: Int]
  /// Whether functions that are not known by name are refused.
  let isStrict: Bool
  private var position = 0
  private var steps = 0
  private var operators = 0

  package static func predicate(_ text: String, isStrict: Bool = false) throws -> Predicate {
    try parse(text, isStrict: isStrict) { try $0.predicate(depth: 0) }
  }

  package static func expression(_ text: String, isStrict: Bool = false) throws -> Expression {
    try parse(text, isStrict: isStrict) { try $0.expression(depth: 0) }
  }

  /// Damage names the last token that was read.
  private static func parse<R>(_ text: String, isStrict: Bool, body: (inout PredicateParser) throws -> R) throws
    -> R
  {
    var parser = try PredicateParser(text, isStrict: isStrict)
    do {
      let result = try body(&parser)
      try parser.finish()
      return result
    } catch let damage as ExpressionDamage {
      throw damage.near(parser.starts.prefix(max(1, parser.position)).last ?? 0, of: text)
    }
  }

  private init(_ text: String, isStrict: Bool) throws {
    guard text.utf8.count <= Self.mostBytes else { throw ExpressionDamage("has more than \(Self.mostBytes) bytes") }
    self.isStrict = isStrict
    (tokens, starts) = try PredicateTokens.split(text)
    var (open, closing): ([Int], [Int: Int]) = ([], [:])
    for (index, token) in tokens.enumerated() {
      if token == .symbol("(") { open.append(index) }
      if token == .symbol(")"), let start = open.popLast() { closing[start] = index }
    }
    self.closing = closing
  }

  private func finish() throws {
    guard position == tokens.count else { throw ExpressionDamage("goes on after its end") }
  }

  mutating func enter(_ depth: Int) throws {
    steps += 1
    guard depth < Self.greatestDepth, steps < Self.mostSteps else { throw ExpressionDamage("is nested too deeply") }
  }

  /// Operators nest to the left, without brackets.
  mutating func countOperator() throws {
    operators += 1
    guard operators <= Self.mostOperators else {
      throw ExpressionDamage("has more than \(Self.mostOperators) operators")
    }
  }

  mutating func predicate(depth: Int) throws -> Predicate {
    try junction(.or, words: ["OR", "||"], depth: depth) { parser in
      try parser.junction(.and, words: ["AND", "&&"], depth: depth) { try $0.negation(depth: depth) }
    }
  }

  private mutating func junction(
    _ junction: Predicate.Junction, words: [String], depth: Int, part: (inout PredicateParser) throws -> Predicate
  ) throws -> Predicate {
    try enter(depth)
    var parts = [try part(&self)]
    while words.contains(where: { take($0) }) { parts.append(try part(&self)) }
    return parts.count == 1 ? parts[0] : .compound(junction, parts)
  }

  private mutating func negation(depth: Int) throws -> Predicate {
    try enter(depth)
    if take("NOT") || take("!") { return .compound(.not, [try negation(depth: depth + 1)]) }
    if take("TRUEPREDICATE") { return .truth(true) }
    if take("FALSEPREDICATE") { return .truth(false) }
    guard holdsPredicate() else { return try comparison(depth: depth) }
    try need("(")
    let inner = try predicate(depth: depth + 1)
    try need(")")
    return inner
  }

  /// Whether a bracket opens here that holds a predicate. After one that holds an expression the comparison continues.
  private func holdsPredicate() -> Bool {
    guard token == .symbol("("), let end = closing[position] else { return false }
    guard end + 1 < tokens.count else { return true }
    switch tokens[end + 1] {
    case .symbol(")"), .symbol(","), .symbol("&&"), .symbol("||"): return true
    case .word(let word): return ["AND", "OR"].contains(word.uppercased())
    default: return false
    }
  }

  private mutating func comparison(depth: Int) throws -> Predicate {
    var modifier = Predicate.Modifier.direct
    var isNone = false
    if take("ALL") { modifier = .all } else if take("ANY") || take("SOME") { modifier = .any }
    if modifier == .direct, take("NONE") { (modifier, isNone) = (.any, true) }
    let left = try expression(depth: depth + 1)
    guard let comparison = comparison() else { throw ExpressionDamage("compares nothing") }
    let operation = Predicate.Operation(comparison: comparison, modifier: modifier, options: try options())
    let predicate = Predicate.compare(left, operation, try expression(depth: depth + 1))
    return isNone ? .compound(.not, [predicate]) : predicate
  }

  private mutating func comparison() -> Predicate.Comparison? {
    let others: [(Predicate.Comparison, String)] = [
      (.equal, "="), (.notEqual, "<>"), (.lessOrEqual, "=<"), (.greaterOrEqual, "=>"),
    ]
    return (Predicate.symbols.map { ($0.comparison, $0.symbol) } + others).first { take($0.1) }?.0
  }

  private mutating func options() throws -> Int64 {
    guard take("[") else { return 0 }
    guard case .word(let letters)? = token else { throw ExpressionDamage("has an option that is not known") }
    var options: Int64 = 0
    for letter in letters {
      guard let bit = Predicate.options.first(where: { $0.letter == letter })?.bit else {
        throw ExpressionDamage("has the option \(letter), which is not known")
      }
      options |= bit
    }
    position += 1
    try need("]")
    return options
  }

  // MARK: Tokens

  var token: PredicateTokens.Token? { position < tokens.count ? tokens[position] : nil }

  mutating func next() throws -> PredicateTokens.Token {
    guard let token else { throw ExpressionDamage("ends too early") }
    position += 1
    return token
  }

  /// Words of the format stand in upper or lower case.
  mutating func take(_ wanted: String) -> Bool {
    switch token {
    case .symbol(wanted): break
    case .word(let word) where word.uppercased() == wanted: break
    default: return false
    }
    position += 1
    return true
  }

  mutating func need(_ wanted: String) throws {
    guard take(wanted) else { throw ExpressionDamage("lacks \"\(wanted)\"") }
  }
}
