import CoreDataModel

// Which of the source's properties something reads, by every name that stands in it: a property that is named may be
// read, one that is not cannot be.

extension Expression {
  /// All names in key paths, and texts that a call may take for a name.
  package var names: Set<String> {
    switch self {
    case .constant(.text(let text)): [text]
    case .constant, .decimal, .date, .evaluatedObject, .variable: []
    case .keyPath(let operand, let path):
      Set(path.flatMap { $0.split(separator: ".").map(String.init) }).union(operand.names)
    case .function(let operand, _, let arguments): arguments.reduce(operand?.names ?? []) { $0.union($1.names) }
    case .aggregate(let elements): elements.reduce([]) { $0.union($1.names) }
    case .subquery(let collection, _, let predicate): collection.names.union(predicate.names)
    case .conditional(let condition, let yes, let no): condition.names.union(yes.names).union(no.names)
    case .set(_, let left, let right): left.names.union(right.names)
    case .fetch(let request, let context, _): request.names.union(context.names)
    }
  }
}

extension Predicate {
  /// All names in its expressions.
  var names: Set<String> {
    switch self {
    case .compare(let left, _, let right): left.names.union(right.names)
    case .compound(_, let parts): parts.reduce([]) { $0.union($1.names) }
    case .truth: []
    }
  }
}

extension MappingRules {
  /// All names of the source's properties, and of those of objects that are gone through.
  package var names: Set<String> {
    var names = attributes.reduce(into: Set<String>()) { $0.formUnion($1.value.names) }
    for relationship in relationships { names.formUnion(relationship.target.names) }
    for object in objects {
      names.formUnion([object.forEach].compactMap { $0 })
      names.formUnion(object.condition?.names ?? [])
      for attribute in object.attributes + [object.key].compactMap({ $0 }) { names.formUnion(attribute.value.names) }
      for relationship in object.relationships { names.formUnion(relationship.target.names) }
    }
    return names
  }
}

extension RuleTarget {
  fileprivate var names: Set<String> {
    switch self {
    case .destination, .item, .made, .undecided: []
    case .when(let condition, let target): condition.names.union(target.names)
    case .one(let target, _): target.names
    case .related(let name, _): [name]
    case .found(_, let key, _): key.value.names
    }
  }
}

extension RuleValue {
  fileprivate var names: Set<String> {
    let own: Set<String> =
      switch self {
      case .expression(let expression): expression.names
      case .choice(let condition, _, _), .when(let condition, _): condition.names
      case .fold(let fold): [fold.over]
      case .became(let target, let attribute): target.names.union([attribute])
      default: []
      }
    return parts.reduce(own) { $0.union($1.names) }
  }
}
