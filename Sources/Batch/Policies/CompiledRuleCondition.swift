import Streams

/// A predicate of a source object, of those that rules know: comparisons of attributes and constants, relationships compared with
/// nil, and what joins them.
indirect enum CompiledRuleCondition {
  case truth(Bool)
  case not(CompiledRuleCondition)
  case all([CompiledRuleCondition])
  case any([CompiledRuleCondition])
  case compare(CompiledRuleValue, Predicate.Comparison, CompiledRuleValue, ignoresCase: Bool)
  case isOneOf(CompiledRuleValue, [CompiledRuleValue], ignoresCase: Bool)
  /// Does a relationship lead to nothing?
  case isEmpty(String)

  func holds(_ row: RuleRow) throws -> Bool {
    switch self {
    case .truth(let holds): return holds
    case .not(let condition): return try !condition.holds(row)
    case .all(let conditions): return try conditions.allSatisfy { try $0.holds(row) }
    case .any(let conditions): return try conditions.contains { try $0.holds(row) }
    case .isEmpty(let name):
      if let target = try row.source.target(name) { return target.key == nil }
      return try row.source.objects(name).isEmpty
    case .compare(let left, let comparison, let right, let ignoresCase):
      let values = [try left.evaluate(row), try right.evaluate(row)].map { ignoresCase ? Self.folded($0) : $0 }
      return comparison.holds(values[0], values[1])
    case .isOneOf(let value, let others, let ignoresCase):
      let found = try value.evaluate(row)
      return try others.contains { other in
        let values = [found, try other.evaluate(row)].map { ignoresCase ? Self.folded($0) : $0 }
        return Predicate.Comparison.equal.holds(values[0], values[1])
      }
    }
  }

  private static func folded(_ value: Value) -> Value {
    if case .text(let text) = value { .text(text.lowercased()) } else { value }
  }
}

extension Predicate.Comparison {
  /// Comparisons that rules know.
  var isKnownToRules: Bool {
    switch self {
    case .matches, .like, .between: false
    default: true
    }
  }

  /// NULL is equal to NULL, and neither less nor greater than anything; so are values of different kinds.
  fileprivate func holds(_ left: Value, _ right: Value) -> Bool {
    switch (left, right) {
    case (.text(let left), .text(let right)): return text(left, right)
    case (.integer(let left), .integer(let right)): return number(left, right)
    case (.null, _), (_, .null), (.blob, _), (_, .blob), (.text, _), (_, .text):
      return self == .equal ? left == right : self == .notEqual && left != right
    default: return number(RuleType.double(left), RuleType.double(right))
    }
  }

  private func number<Number: Comparable>(_ left: Number, _ right: Number) -> Bool {
    switch self {
    case .equal: left == right
    case .notEqual: left != right
    case .less: left < right
    case .lessOrEqual: left <= right
    case .greater: left > right
    case .greaterOrEqual: left >= right
    default: false
    }
  }

  private func text(_ left: String, _ right: String) -> Bool {
    switch self {
    case .beginsWith: left.hasPrefix(right)
    case .endsWith: left.hasSuffix(right)
    case .contains: left.contains(right)
    default: number(left, right)
    }
  }
}

extension RuleCompiler {
  /// Throws `badMapping` for what rules do not know.
  func condition(_ predicate: Predicate) throws -> CompiledRuleCondition {
    switch predicate {
    case .truth(let holds): return .truth(holds)
    case .compound(.not, let parts): return .not(.all(try parts.map(condition)))
    case .compound(.and, let parts): return .all(try parts.map(condition))
    case .compound(.or, let parts): return .any(try parts.map(condition))
    case .compare(let left, let operation, let right):
      guard operation.modifier == .direct, operation.options & ~1 == 0, operation.comparison.isKnownToRules else {
        throw unknown(predicate)
      }
      return try compare(left, operation, right, predicate)
    }
  }

  private func compare(
    _ left: Expression, _ operation: Predicate.Operation, _ right: Expression, _ predicate: Predicate
  ) throws -> CompiledRuleCondition {
    let ignoresCase = operation.options == 1
    if right == .constant(.null), let name = path(left), source.relationships[name] != nil {
      guard [.equal, .notEqual].contains(operation.comparison) else { throw unknown(predicate) }
      return operation.comparison == .equal ? .isEmpty(name) : .not(.isEmpty(name))
    }
    if operation.comparison == .isIn {
      guard case .aggregate(let values) = right else { throw unknown(predicate) }
      return .isOneOf(
        try operand(left, predicate), try values.map { try operand($0, predicate) }, ignoresCase: ignoresCase)
    }
    return .compare(
      try operand(left, predicate), operation.comparison, try operand(right, predicate), ignoresCase: ignoresCase)
  }

  /// Key paths of predicates begin at the source object.
  private func operand(_ expression: Expression, _ predicate: Predicate) throws -> CompiledRuleValue {
    if case .constant(let value) = expression { return .constant(value) }
    guard let name = path(expression), let attribute = source.attributes[name] else { throw unknown(predicate) }
    return .attribute(attribute, ofItem: false)
  }

  private func path(_ expression: Expression) -> String? {
    switch expression {
    case .keyPath(.evaluatedObject, let path) where path.count == 1: path[0]
    case .keyPath(.variable("source"), let path) where path.count == 1: path[0]
    default: nil
    }
  }

  private func unknown(_ predicate: Predicate) -> BatchError {
    BatchError(
      .badMapping, "\(mapping.name): the predicate \(predicate) is not supported in rules",
      hint: "Compare attributes of the source with constants, or its relationships with nil", entity: mapping.destinationEntity)
  }
}
