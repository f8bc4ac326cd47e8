import Streams

/// An expression that gives a property of a destination object.
struct PropertyExpression {
  /// Where the value goes.
  enum Target {
    case attribute(column: Int, AttributeType)
    case toOne
    /// Once all objects of the step exist.
    case toMany
  }

  let name: String
  let target: Target
  let expression: CompiledExpression

  /// Sets the property.
  func apply(to object: DestinationObject, _ scope: ExpressionScope) throws {
    switch target {
    case .attribute(let column, let type):
      let value = try expression.evaluate(scope).single()
      guard let fitting = type.fitting(value) else { throw ExpressionDamage("gives a value that is no \(type)") }
      try object.assign(column: column, type.stored(fitting))
    case .toOne:
      let objects = try expression.related(scope)
      guard objects.count <= 1 else { throw ExpressionDamage("gives \(objects.count) objects for a to-one relationship") }
      try object.set(name, to: objects.first)
    case .toMany: for other in try expression.related(scope) { try object.add(other, to: name) }
    }
  }

  /// Says of damage in which mapping, property and object it was found.
  func naming(_ mapping: EntityMapping, _ source: SourceObject, _ body: () throws -> Void) throws {
    do { try body() } catch let damage as ExpressionDamage {
      throw BatchError(
        .policyFailed, "the value expression of \(mapping.name).\(name) \(damage)",
        hint: "Correct the expression, or set the property in a policy", entity: source.entity.name, key: source.key)
    }
  }
}

extension AttributeType {
  /// The value as an attribute of this type takes it: numbers are cut to integers and Booleans, as NSNumber does. Nil for a value
  /// of another kind, and for an integer out of range.
  func fitting(_ value: Value) -> Value? {
    switch (self, value) {
    case (_, .null), (.string, .text), (.uri, .text), (.uuid, .blob), (.binaryData, _), (.transformable, _), (.undefined, _),
      (.objectID, _), (.composite, _):
      value
    case (.date, .integer(let integer)): .real(Double(integer))
    case (.date, .real): value
    case (_, .integer(let integer)): converted(.integer(integer), from: .integer64)
    case (_, .real(let double)): converted(.real(double), from: .double)
    default: nil
    }
  }
}
