import CoreDataModel

// What rules read of the two versions, and what they would give twice.
extension MappingCheck {
  /// What is wrong with the values of a mapping's rules, a sentence each.
  func values(_ rules: MappingRules, _ mapping: EntityMapping) -> [String] {
    guard let from = mapping.sourceEntity else { return [] }
    let own = rules.attributes.flatMap { problems(in: $0.value, of: $0.name, from: from, item: nil) }
    let others = rules.objects.flatMap { rule in
      let item = rule.forEach.flatMap { source.relationship($0, of: from)?.destinationEntity }
      return rule.attributes.flatMap { problems(in: $0.value, of: $0.name, from: from, item: item) }
    }
    return own + others + repeated(rules) + severalObjects(rules, mapping) + severalTargets(rules, mapping)
  }

  /// What is wrong with a relationship or an array that is gone through; nil for nothing.
  func collection(_ name: String, of entity: String) -> String? {
    if let attribute = source.attribute(name, of: entity) {
      guard ![.transformable, .binaryData, .undefined].contains(attribute.type) else { return nil }
      return "\(name) of \(entity) is an attribute of the type \(attribute.type), and no array"
    }
    let arrays = source.attributes(of: entity).filter { $0.type == .transformable }.map(\.name)
    return unknown(
      "relationship or array", name: name, known: source.relationships(of: entity).map(\.name) + arrays, in: entity)
  }

  private func problems(in value: RuleValue, of name: String, from: String, item: String?) -> [String] {
    var found: [String] = []
    switch value {
    case .fold(let fold): found += [collection(fold.over, of: from)].compactMap { $0 }
    case .became(.related(let relationship, let ofItem), let attribute):
      found += became(relationship, of: ofItem ? item : from, attribute)
    default: break
    }
    let inner = value.parts.flatMap { problems(in: $0, of: name, from: from, item: item) }
    return found.map { "\(name): \($0)" } + inner
  }

  /// A value of the destination of a related object: of one object, whose mapping is known.
  private func became(_ name: String, of entity: String?, _ attribute: String) -> [String] {
    guard let entity else { return ["$item needs forEach"] }
    guard let relationship = source.relationship(name, of: entity) else {
      return [unknown("relationship", name: name, known: source.relationships(of: entity).map(\.name), in: entity)]
        .compactMap { $0 }
    }
    guard !relationship.isToMany else { return ["\(name) of \(entity) leads to several objects"] }
    let ends = model.entityMappings.filter { mapping in
      mapping.destinationEntity != nil
        && mapping.sourceEntity.map { source.isKind($0, of: relationship.destinationEntity) } == true
    }
    return ends.compactMap { end in
      if let policy = end.policyClassName { return "\(end.name) has the policy \(policy), whose values are not known" }
      let to = end.destinationEntity ?? ""
      return unknown("attribute", name: attribute, known: destination.attributes(of: to).map(\.name), in: to)
    }
  }

  /// Two rules that would give two objects of one entity the same repeatable UUID.
  private func repeated(_ rules: MappingRules) -> [String] {
    var seen: Set<String> = []
    return rules.objects.filter { $0.kind != .find }.flatMap { rule in
      rule.attributes.compactMap { attribute in
        guard case .uuid(.repeatable(let name)) = attribute.value else { return nil }
        let made = "\(rule.entity) \(attribute.name) \(rule.forEach ?? "") \(name ?? "")"
        guard seen.insert(made).inserted else {
          return "two objects of \(rule.entity) would get the same UUID in \(attribute.name); "
            + "write { uuid: repeatable, name: … } with a name of its own in one of the rules"
        }
        return nil
      }
    }
  }

  /// To-one relationships that a rule would lead to all objects of a to-many of the source.
  private func severalTargets(_ rules: MappingRules, _ mapping: EntityMapping) -> [String] {
    let own = (entity: mapping.destinationEntity, item: String?.none, relationships: rules.relationships)
    let made = rules.objects.map { rule in
      let item = rule.forEach.flatMap { source.relationship($0, of: mapping.sourceEntity ?? "")?.destinationEntity }
      return (entity: Optional(rule.entity), item: item, relationships: rule.relationships)
    }
    return ([own] + made).flatMap { place in
      place.relationships.compactMap { relationship -> String? in
        guard case .related(let name, let ofItem) = relationship.target.unconditional,
          let owner = ofItem ? place.item : mapping.sourceEntity, let entity = place.entity,
          source.relationship(name, of: owner)?.isToMany == true,
          destination.relationship(relationship.name, of: entity)?.isToMany == false
        else { return nil }
        return "\(relationship.name) of \(entity) is a to-one relationship, and \(name) of \(owner) leads to several "
          + "objects; add take: first, or take: last"
      }
    }
  }

  /// To-one relationships that a rule would lead to all objects of a rule with forEach.
  private func severalObjects(_ rules: MappingRules, _ mapping: EntityMapping) -> [String] {
    let named = Dictionary(
      rules.objects.compactMap { rule in rule.givenName.map { ($0, rule) } }, uniquingKeysWith: { first, _ in first })
    return rules.objects.flatMap { rule in
      rule.relationships.compactMap { relationship -> String? in
        guard case .made(let name) = relationship.target.unconditional, let made = named[name], made.forEach != nil,
          made.forEach != rule.forEach,
          destination.relationship(relationship.name, of: rule.entity)?.isToMany == false
        else { return nil }
        return "\(relationship.name) of \(rule.entity) is a to-one relationship, and $\(name) are the objects of a "
          + "rule with forEach; write the same forEach here"
      }
    }
  }
}
