import CoreDataModel

extension CompiledPredicate {
  /// Whether it holds. Throws ``ExpressionDamage`` for values that cannot be compared.
  func holds(_ scope: ExpressionScope) throws -> Bool {
    switch self {
    case .truth(let value): return value
    case .compound(.not, let parts): return try !parts[0].holds(scope)
    case .compound(.and, let parts): return try parts.allSatisfy { try $0.holds(scope) }
    case .compound(.or, let parts): return try parts.contains { try $0.holds(scope) }
    case .compare(let left, let operation, let right):
      let (left, right) = (try left.evaluate(scope), try right.evaluate(scope))
      func holds(_ left: ExpressionValue) throws -> Bool {
        try Comparing.holds(operation.comparison, left: left, right: right, options: operation.options)
      }
      return try operation.modifier.holds(left, holds)
    case .matches(let left, let modifier, let pattern):
      return try modifier.holds(left.evaluate(scope)) { try pattern.matches($0.single()) }
    }
  }

  /// Whether it holds for a source object alone.
  func holds(for source: SourceObject) throws -> Bool { try holds(ExpressionScope(source: source)) }
}

extension Predicate.Modifier {
  /// Whether it holds for the value, for any of its members, or for all.
  fileprivate func holds(_ value: ExpressionValue, _ body: (ExpressionValue) throws -> Bool) throws -> Bool {
    switch self {
    case .direct: try body(value)
    case .any: try value.members.contains(where: body)
    case .all: try value.members.allSatisfy(body)
    }
  }
}
