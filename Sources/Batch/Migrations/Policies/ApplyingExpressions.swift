import CoreDataModel
import Streams

extension CompiledMapping {
  /// Sets what expressions give in a new object; all other columns are taken from the row when it is written.
  func evaluate(into object: DestinationObject, source: SourceObject, manager: StepObjects) throws {
    guard !expressions.isEmpty else { return }
    var scope = ExpressionScope(source: source)
    (scope.destination, scope.policy, scope.manager) = (object, policy?.policy, manager)
    for expression in expressions {
      try expression.naming(mapping, source: source) { try expression.apply(to: object, scope) }
    }
  }
}

extension PropertyExpression {
  /// Sets the property.
  func apply(to object: DestinationObject, _ scope: ExpressionScope) throws {
    switch target {
    case .attribute(let attribute, _):
      try object.assign(column: attribute.position, stored(expression.evaluate(scope).single()))
    case .toOne:
      let objects = try expression.related(scope)
      guard objects.count <= 1 else {
        throw ExpressionDamage("gives \(objects.count) objects for a to-one relationship")
      }
      try object.set(name, to: objects.first)
    case .toMany: for other in try expression.related(scope) { try object.add(other, to: name) }
    }
  }
}
