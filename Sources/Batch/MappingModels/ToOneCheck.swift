import CoreDataModel
import RunSupport

/// To-one relationships that more than one rule of a step sets: the later one would replace the links of the earlier
/// one, and nobody would have said so.
package struct ToOneCheck {
  /// All mapping models of the step, with what they map by name.
  let models: [MappingModel]
  let source: ManagedObjectModel
  let destination: ManagedObjectModel

  /// A to-one relationship that a rule of `objects` sets, of an object that the rule has not made.
  private struct Setter {
    let rule: ObjectRule
    /// The owner's entity, and whether it is the mapping's own object.
    let entity: String
    let isOwn: Bool
    let name: String
    /// What sets it, as the file has it.
    let key: String
    /// The predicates that have to hold.
    var conditions: [Predicate]
    var isConditional: Bool { !conditions.isEmpty }
    var said: String { "\(rule.kind.rawValue) \(rule.entity) with \(key)" }
  }

  /// What sets a relationship besides, and how messages name it.
  private struct Carrier {
    let said: String
    let mapping: EntityMapping
    /// The source relationship that is carried over.
    let origin: String?
    let isConditional: Bool
  }

  package init(models: [MappingModel], source: ManagedObjectModel, destination: ManagedObjectModel) {
    (self.models, self.source, self.destination) = (models, source, destination)
  }

  /// What is wrong, a sentence each.
  package func problems() -> [String] {
    models.flatMap { model in
      model.entityMappings.flatMap { mapping in
        problems(mapping).map { "\(model.name): \(mapping.name): \($0)" }
      }
    }
  }

  private func problems(_ mapping: EntityMapping) -> [String] {
    guard let rules = mapping.rules, mapping.sourceEntity != nil, let to = mapping.destinationEntity else { return [] }
    let setters = rules.objects.map { self.setters(of: $0, in: mapping, to: to) }
    let single = setters.flatMap { $0 }.flatMap { setter -> [String] in
      [several(setter)].compactMap { $0 } + replaced(by: setter, in: mapping)
    }
    return (single + pairs(setters)).uniqued
  }

  // MARK: What rules set

  private func setters(of rule: ObjectRule, in mapping: EntityMapping, to: String) -> [Setter] {
    let conditions = [rule.condition].compactMap { $0 }
    var found: [Setter] = []
    if let link = rule.link, let relationship = destination.relationship(link, of: to) {
      let key = "link: \(link)"
      if !relationship.isToMany {
        found.append(Setter(rule: rule, entity: to, isOwn: true, name: link, key: key, conditions: conditions))
      }
      if rule.kind != .create, let other = toOne(behind: relationship) {
        found.append(
          Setter(rule: rule, entity: rule.entity, isOwn: false, name: other, key: key, conditions: conditions))
      }
    }
    for property in rule.relationships {
      guard let relationship = destination.relationship(property.name, of: rule.entity),
        let other = toOne(behind: relationship)
      else { continue }
      let (entity, more) = self.owner(property.target, of: rule, relationship, to: to)
      guard let entity else { continue }
      found.append(
        Setter(
          rule: rule, entity: entity, isOwn: property.target.unconditional == .destination, name: other,
          key: "its \(property.name)", conditions: conditions + more))
    }
    return found
  }

  /// The other side of a relationship, if it is a to-one.
  private func toOne(behind relationship: RelationshipDescription) -> String? {
    destination.otherEnd(of: relationship).flatMap { $0.isToMany ? nil : $0.name }
  }

  /// The entity of the objects that a target means, and on which predicates; nil for those that a rule has made.
  private func owner(
    _ target: RuleTarget, of rule: ObjectRule, _ relationship: RelationshipDescription, to: String
  ) -> (entity: String?, conditions: [Predicate]) {
    switch target {
    case .destination: (to, [])
    case .item, .related: (relationship.destinationEntity, [])
    case .found(let entity, _, _): (entity, [])
    case .one(let target, _): owner(target, of: rule, relationship, to: to)
    case .when(let condition, let target):
      (owner(target, of: rule, relationship, to: to).entity, [condition])
    case .made, .undecided: (nil, [])
    }
  }

  // MARK: What is wrong

  /// A rule with forEach that links one object after the other, and the last one stays.
  private func several(_ setter: Setter) -> String? {
    guard setter.isOwn, let many = setter.rule.forEach, !setter.conditions.contains(where: { $0.uses("item") }) else {
      return nil
    }
    return
      "\(setter.name) of \(setter.entity) is a to-one, which takes one object, and \(setter.said) would set it for "
      + "each of $source.\(many): leave forEach out and take one value, as { over: $source.\(many), first: $item }, or "
      + "add a when that holds for one $item alone"
  }

  /// Links that are carried over and that the rule would replace.
  private func replaced(by setter: Setter, in mapping: EntityMapping) -> [String] {
    carriers(of: setter, in: mapping).compactMap { carrier in
      if setter.isConditional, carrier.isConditional { return nil }
      if let origin = carrier.origin, setter.conditions.contains(where: { $0.demandsNull(of: origin) }) { return nil }
      let empty = carrier.origin.map { "; to fill only empty ones, add when: \($0) == nil to the rule" } ?? ""
      return
        "\(setter.name) of \(setter.entity) is set \(carrier.said), and by \(setter.said), which would replace those "
        + "links: to replace them, write \(nulls(setter, carrier))" + (setter.isOwn ? empty : "")
    }
  }

  private func carriers(of setter: Setter, in mapping: EntityMapping) -> [Carrier] {
    let mappings = setter.isOwn ? [mapping] : models.flatMap(\.entityMappings)
    return mappings.compactMap { mapping in
      guard let to = mapping.destinationEntity, setter.isOwn || destination.isKind(to, of: setter.entity) else {
        return nil
      }
      return carrier(of: setter.name, in: mapping)
    }
  }

  private func carrier(of name: String, in mapping: EntityMapping) -> Carrier? {
    guard let from = mapping.sourceEntity else { return nil }
    if let target = mapping.rules?.relationships.first(where: { $0.name == name })?.target {
      guard target.undecided == nil else { return nil }
      return Carrier(
        said: "under relationships of \(mapping.name)", mapping: mapping, origin: nil,
        isConditional: target != target.unconditional)
    }
    guard let property = mapping.relationshipMappings.first(where: { $0.name == name }) else { return nil }
    guard let expression = property.valueExpression else {
      guard source.relationship(name, of: from) != nil else { return nil }
      return Carrier(said: "by name in \(mapping.name)", mapping: mapping, origin: name, isConditional: false)
    }
    guard expression != .constant(.null) else { return nil }
    return Carrier(
      said: "under relationships of \(mapping.name)", mapping: mapping, origin: expression.carriedRelationship?.path,
      isConditional: false)
  }

  /// What leaves both sides of a relationship to a rule.
  private func nulls(_ setter: Setter, _ carrier: Carrier) -> String {
    let own = "\(setter.name): null under relationships of \(carrier.mapping.name)"
    guard let to = carrier.mapping.destinationEntity, let relationship = destination.relationship(setter.name, of: to),
      let inverse = relationship.inverseName
    else { return own }
    let others = models.flatMap(\.entityMappings).filter { other in
      guard let end = other.destinationEntity, destination.isKind(end, of: relationship.destinationEntity) else {
        return false
      }
      return self.carrier(of: inverse, in: other) != nil
    }
    guard !others.isEmpty else { return own }
    return own + ", and \(inverse): null under those of \(others.map(\.name).uniqued.joined(separator: ", "))"
  }

  /// Two rules that link the mapping's own object.
  private func pairs(_ setters: [[Setter]]) -> [String] {
    setters.indices.flatMap { place in
      setters[place].filter(\.isOwn).flatMap { later in
        setters[..<place].compactMap { earlier -> String? in
          guard let first = earlier.first(where: { $0.isOwn && $0.name == later.name }),
            !first.isConditional || !later.isConditional
          else { return nil }
          return
            "\(later.name) of \(later.entity) is set by \(first.said), and by \(later.said), which would replace it: "
            + "give each of the two rules a when, so that one of them holds, or leave one out"
        }
      }
    }
  }
}

extension Predicate {
  /// Whether it holds only where a property of the object is NULL.
  fileprivate func demandsNull(of name: String) -> Bool {
    switch self {
    case .compound(.and, let parts): parts.contains { $0.demandsNull(of: name) }
    case .compare(let left, Operation(comparison: .equal), let right):
      left.isNull && right.isProperty(name) || left.isProperty(name) && right.isNull
    default: false
    }
  }
}

extension Expression {
  fileprivate var isNull: Bool { self == .constant(.null) }

  fileprivate func isProperty(_ name: String) -> Bool {
    switch self {
    case .keyPath(.evaluatedObject, let path), .keyPath(.variable("source"), let path): path == [name]
    default: false
    }
  }
}
