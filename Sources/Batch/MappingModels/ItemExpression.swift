import CoreDataModel

extension Expression {
  /// Whether it reads `$item`, the object at hand of a rule with `forEach`.
  package var usesItem: Bool { uses("item") }

  /// Whether it has a variable.
  package func uses(_ variable: String) -> Bool { replacing(variable, with: "source") != self }

  /// The expression with another variable in place of one.
  func replacing(_ old: String, with new: String) -> Expression {
    func inner(_ expression: Expression) -> Expression { expression.replacing(old, with: new) }
    return switch self {
    case .variable(old): .variable(new)
    case .keyPath(let operand, let path): .keyPath(operand: inner(operand), path: path)
    case .function(let operand, let name, let arguments):
      .function(operand: operand.map(inner), name: name, arguments: arguments.map(inner))
    case .aggregate(let parts): .aggregate(parts.map(inner))
    case .subquery(let collection, let variable, let predicate):
      .subquery(collection: inner(collection), variable: variable, predicate: predicate.replacing(old, with: new))
    case .conditional(let predicate, let yes, let no):
      .conditional(predicate.replacing(old, with: new), inner(yes), inner(no))
    case .set(let operation, let left, let right): .set(operation, inner(left), inner(right))
    case .fetch(let request, let context, let isCountOnly):
      .fetch(request: inner(request), context: inner(context), isCountOnly: isCountOnly)
    default: self
    }
  }
}

extension Predicate {
  /// Whether an expression in it has a variable.
  package func uses(_ variable: String) -> Bool { replacing(variable, with: "source") != self }

  fileprivate func replacing(_ old: String, with new: String) -> Predicate {
    switch self {
    case .compare(let left, let operation, let right):
      .compare(left.replacing(old, with: new), operation, right.replacing(old, with: new))
    case .compound(let junction, let parts): .compound(junction, parts.map { $0.replacing(old, with: new) })
    case .truth: self
    }
  }
}
