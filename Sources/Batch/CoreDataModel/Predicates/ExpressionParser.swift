import Streams

// The part of the parser that reads expressions.
extension PredicateParser {
  /// Collections that are joined; what they are made of binds stronger.
  mutating func expression(depth: Int) throws -> Expression {
    try enter(depth)
    var left = try arithmetic(level: 0, depth: depth)
    while let operation = Expression.SetOperation.allCases.first(where: { take($0.word) }) {
      try countOperator()
      left = .set(operation, left, try arithmetic(level: 0, depth: depth))
    }
    return left
  }

  private mutating func arithmetic(level: Int, depth: Int) throws -> Expression {
    guard level < FormatFunctions.operators.count else { return try sign(depth: depth) }
    var left = try arithmetic(level: level + 1, depth: depth)
    while let found = FormatFunctions.operators[level].first(where: { take($0.symbol) }) {
      try countOperator()
      let right = try arithmetic(level: level + 1, depth: depth)
      left = .function(operand: nil, name: found.function, arguments: [left, right])
    }
    return left
  }

  private mutating func sign(depth: Int) throws -> Expression {
    guard take("-") else { return try postfix(primary(depth: depth)) }
    try enter(depth + 1)
    if case .number(let digits)? = token {
      _ = try next()
      return Self.number("-" + digits)
    }
    return .function(
      operand: nil, name: "from:subtract:", arguments: [.constant(.integer(0)), try sign(depth: depth + 1)])
  }

  private static func number(_ text: String) -> Expression {
    .constant(Int64(text).map { .integer($0) } ?? .real(Double(text) ?? 0))
  }

  /// A key path may follow anything.
  private mutating func postfix(_ operand: Expression) throws -> Expression {
    guard case .word(let word)? = token, word.hasPrefix(".") else { return operand }
    _ = try next()
    return .path(operand, try Self.path(word.dropFirst()))
  }

  private static func path(_ text: Substring) throws -> [String] {
    let keys = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    guard keys.allSatisfy({ !$0.isEmpty && !$0.contains(":") }) else {
      throw ExpressionDamage("has \"\(text)\" where a key path belongs")
    }
    return keys
  }

  private mutating func primary(depth: Int) throws -> Expression {
    switch try next() {
    case .text(let text): return .constant(.text(text))
    case .number(let digits): return Self.number(digits)
    case .key(let path): return .keyPath(operand: .evaluatedObject, path: try Self.path(path[...]))
    case .variable(let name):
      let path = try Self.path(name[...])
      return path.count == 1 ? .variable(name) : .keyPath(operand: .variable(path[0]), path: Array(path.dropFirst()))
    case .symbol("{"): return .aggregate(try list(until: "}", depth: depth))
    case .symbol("("):
      let inner = try expression(depth: depth + 1)
      try need(")")
      return inner
    case .symbol(let symbol): throw ExpressionDamage("has \"\(symbol)\" where a value belongs")
    case .word(let word): return try expression(word, depth: depth)
    }
  }

  private mutating func expression(_ word: String, depth: Int) throws -> Expression {
    switch word.uppercased() {
    case "NIL", "NULL": return .constant(.null)
    case "TRUE", "YES": return .constant(.integer(1))
    case "FALSE", "NO": return .constant(.integer(0))
    case "SELF": return .evaluatedObject
    default: break
    }
    if take("(") { return try call(word, depth: depth) }
    let path = word.uppercased().hasPrefix("SELF.") ? word.dropFirst(5) : word[...]
    guard !PredicateTokens.reserved.contains(path.uppercased()) else {
      throw ExpressionDamage("has \"\(word)\" where a value belongs")
    }
    return .keyPath(operand: .evaluatedObject, path: try Self.path(path))
  }

  /// What has arguments in brackets, the first of which is open.
  private mutating func call(_ word: String, depth: Int) throws -> Expression {
    switch word.uppercased() {
    case "SUBQUERY": return try subquery(depth: depth)
    case "TERNARY": return try conditional(depth: depth)
    case "FETCH": return try fetch(depth: depth)
    case "CAST": return try cast(list(until: ")", depth: depth))
    case "FUNCTION":
      let parts = try list(until: ")", depth: depth)
      guard parts.count >= 2, case .constant(.text(let name)) = parts[1] else {
        throw ExpressionDamage("has a function without name")
      }
      if parts.count == 3, ["valueForKey:", "valueForKeyPath:"].contains(name),
        case .constant(.text(let path)) = parts[2]
      {
        return .path(parts[0], name == "valueForKey:" ? [path] : try Self.path(path[...]))
      }
      return .function(operand: parts[0], name: name, arguments: Array(parts[2...]))
    default: return try named(word, list(until: ")", depth: depth))
    }
  }

  private func named(_ name: String, _ arguments: [Expression]) throws -> Expression {
    guard let full = FormatFunctions.fullName(name) else {
      if isStrict { throw ExpressionDamage("calls the function \(name), which is not supported") }
      return .function(operand: nil, name: name, arguments: arguments)
    }
    if full == "castObject:toType:" { return try cast(arguments) }
    guard FormatFunctions.takes(full, arguments.count) else {
      throw ExpressionDamage("calls the function \(full) with \(arguments.count) arguments")
    }
    return .function(operand: nil, name: full, arguments: arguments)
  }

  private func cast(_ parts: [Expression]) throws -> Expression {
    guard parts.count == 2, case .constant(.text(let type)) = parts[1] else {
      throw ExpressionDamage("has a cast without type")
    }
    guard FormatFunctions.castTypes.contains(type) else {
      throw ExpressionDamage("casts to \(type), which is not supported")
    }
    switch parts[0] {
    case .constant(.real(let seconds)) where type == "NSDate": return .date(seconds)
    case .constant(.integer(let seconds)) where type == "NSDate": return .date(Double(seconds))
    default: return .function(operand: nil, name: "castObject:toType:", arguments: parts)
    }
  }

  private mutating func subquery(depth: Int) throws -> Expression {
    let collection = try expression(depth: depth + 1)
    try need(",")
    guard case .variable(let name) = try next(), !name.contains(".") else {
      throw ExpressionDamage("has a subquery without variable")
    }
    try need(",")
    let predicate = try predicate(depth: depth + 1)
    try need(")")
    return .subquery(collection: collection, variable: name, predicate: predicate)
  }

  private mutating func conditional(depth: Int) throws -> Expression {
    let predicate = try predicate(depth: depth + 1)
    try need(",")
    let parts = try list(until: ")", depth: depth)
    guard parts.count == 2 else { throw ExpressionDamage("has a TERNARY without two values") }
    return .conditional(predicate, parts[0], parts[1])
  }

  private mutating func fetch(depth: Int) throws -> Expression {
    let parts = try list(until: ")", depth: depth)
    guard parts.count == 3, case .constant(.integer(let isCountOnly)) = parts[2], 0...1 ~= isCountOnly else {
      throw ExpressionDamage("has a FETCH without request, context, and YES or NO for a count")
    }
    return .fetch(request: parts[0], context: parts[1], isCountOnly: isCountOnly == 1)
  }

  private mutating func list(until end: String, depth: Int) throws -> [Expression] {
    var members: [Expression] = []
    while !take(end) {
      if !members.isEmpty { try need(",") }
      members.append(try expression(depth: depth + 1))
    }
    return members
  }
}
