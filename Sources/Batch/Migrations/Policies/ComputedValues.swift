import MappingModels
import Streams

extension StepObjects {
  /// The value that an attribute of what becomes of a source object has, whether that is written already or will be: it
  /// follows from the source alone. NULL if no mapping takes the object.
  func value(_ name: String, ofDestinationOf source: SourceObject, depth: Int) throws -> Value {
    guard let mapping = try bySource[source.entity.number].first(where: { try $0.takes(source) }),
      let attribute = mapping.destination.attributes[name]
    else { return .null }
    let column = attribute.position
    if let rule = mapping.ownRules?.attributes.first(where: { $0.stored.position == column }),
      let value = try value(of: rule, for: source, depth: depth)
    {
      return value
    }
    if let expression = mapping.expressions.first(where: { $0.isOf(column) }) {
      var scope = ExpressionScope(source: source)
      scope.manager = self
      var value = Value.null
      try expression.naming(mapping.mapping, source: source) {
        value = try expression.stored(expression.expression.evaluate(scope).single())
      }
      return attribute.type.normalized(value)
    }
    return attribute.type.normalized(try mapping.value(column, row: source.decoder, rowid: source.key))
  }

  /// Nil if the rule's condition does not hold.
  private func value(of rule: CompiledRuleAttribute, for source: SourceObject, depth: Int) throws -> Value? {
    guard let object = try destination(of: source) else { return nil }
    var row = RuleRow(source: source, object: object, manager: self)
    row.depth = depth
    if let condition = rule.condition, try !row.holds(condition) { return nil }
    return try rule.fitting(row)
  }
}

extension CompiledMapping {
  /// Its rules that are done object by object.
  var ownRules: CompiledRules? { (policy?.policy as? RulePolicy)?.ready }
}

extension PropertyExpression {
  /// Whether it gives the attribute in a column.
  func isOf(_ column: Int) -> Bool { if case .attribute(let own, _) = target { own.position == column } else { false } }

  /// A value as its attribute stores it.
  func stored(_ value: Value) throws -> Value {
    guard case .attribute(let attribute, let types) = target else { return value }
    return attribute.inColumn(try Self.stored(value, through: types))
  }
}
