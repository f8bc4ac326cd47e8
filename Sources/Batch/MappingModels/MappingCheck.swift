import CoreDataModel
import RunSupport

/// Compares the names in a mapping model with the two versions that it leads from and to.
package struct MappingCheck {
  package let model: MappingModel
  package let source: ManagedObjectModel
  package let destination: ManagedObjectModel

  package init(model: MappingModel, source: ManagedObjectModel, destination: ManagedObjectModel) {
    self.model = model
    self.source = source
    self.destination = destination
  }

  /// What is wrong, a sentence each; empty for a mapping model that fits. Mapping models of Xcode may name properties
  /// that their models lost: they are not asked for properties.
  package func problems() -> [String] {
    model.entityMappings.flatMap { mapping in
      let found = entities(mapping) + (mapping.mapsByName ? properties(mapping) + rules(mapping) : [])
      return found.map { "\(model.name): \(mapping.name): \($0)" }
    }
  }

  private func entities(_ mapping: EntityMapping) -> [String] {
    let isAbstract =
      mapping.destinationEntity.flatMap(destination.entity)?.isAbstract == true
      && mapping.sourceEntity.flatMap(source.entity)?.isAbstract == false
    return [(mapping.sourceEntity, source), (mapping.destinationEntity, destination)].compactMap { name, version in
      name.flatMap { unknown("entity", name: $0, known: version.entities.map(\.name), in: version.name) }
    }
      + (isAbstract
        ? ["\(mapping.destinationEntity ?? "") is abstract in \(destination.name): no object is of it alone"] : [])
  }

  private func properties(_ mapping: EntityMapping) -> [String] {
    guard let entity = mapping.destinationEntity else { return [] }
    var found = mapping.attributeMappings.compactMap { attribute($0.name, of: entity) }
    found += mapping.attributeMappings.filter(\.isComputed).compactMap { composite($0.name, of: entity) }
    found += mapping.attributeMappings.compactMap { elements($0, of: entity, from: mapping.sourceEntity) }
    found += mapping.relationshipMappings.compactMap { relationship($0.name, of: entity) }
    for property in mapping.attributeMappings + mapping.relationshipMappings {
      guard let from = mapping.sourceEntity, case .keyPath(.variable("source"), let path)? = property.valueExpression,
        let first = path.first, let text = sourceProperty(first, of: from)
      else { continue }
      found.append("\(property.name): \(text)")
    }
    return found
  }

  private func rules(_ mapping: EntityMapping) -> [String] {
    guard let rules = mapping.rules, let from = mapping.sourceEntity, let to = mapping.destinationEntity else {
      return []
    }
    var found = rules.attributes.compactMap { attribute($0.name, of: to) ?? composite($0.name, of: to) }
    found += tooEarly(rules, mapping) + values(rules, mapping)
    found += rules.relationships.flatMap { self.target($0, of: to, from: from, item: nil) }
    for rule in rules.objects {
      found += problems(of: rule, to: to, from: from).map { "\(rule.kind) \(rule.entity): \($0)" }
    }
    return found
  }

  /// What is looked for before any entity mapping has made it would never be found.
  private func tooEarly(_ rules: MappingRules, _ mapping: EntityMapping) -> [String] {
    let targets = (rules.relationships + rules.objects.flatMap(\.relationships)).compactMap(\.target.foundEntity)
    let wanted = Set(targets + rules.objects.filter { $0.kind != .create }.map(\.entity)).sorted()
    guard let place = model.entityMappings.firstIndex(where: { $0.name == mapping.name }) else { return [] }
    return wanted.compactMap { entity in
      let makers = model.entityMappings.indices.filter { index in
        let made = model.entityMappings[index]
        return made.sourceEntity != nil && made.destinationEntity.map { destination.isKind($0, of: entity) } == true
      }
      guard let first = makers.first, first > place else { return nil }
      return "objects of \(entity) are looked for before \(model.entityMappings[first].name) makes them; put it first"
    }
  }

  private func problems(of rule: ObjectRule, to: String, from: String) -> [String] {
    guard let entity = destination.entity(rule.entity) else {
      return [unknown("entity", name: rule.entity, known: destination.entities.map(\.name), in: destination.name)]
        .compactMap { $0 }
    }
    var found = entity.isAbstract && rule.kind != .find ? ["an abstract entity has no objects"] : []
    found += (rule.attributes + [rule.key].compactMap { $0 }).compactMap { attribute($0.name, of: rule.entity) }
    var item: String?
    if let name = rule.forEach {
      item = source.relationships(of: from).first { $0.name == name }?.destinationEntity
      found += [collection(name, of: from)].compactMap { $0 }
    }
    found += rule.relationships.flatMap { target($0, of: rule.entity, from: from, item: item) }
    guard let link = rule.link else { return found }
    guard let relationship = destination.relationships(of: to).first(where: { $0.name == link }) else {
      return found + [self.relationship(link, of: to)].compactMap { $0 }
    }
    guard !destination.isKind(rule.entity, of: relationship.destinationEntity) else { return found }
    return found + ["\(link) of \(to) leads to \(relationship.destinationEntity)"]
  }

  private func target(_ relationship: RuleRelationship, of entity: String, from: String, item: String?) -> [String] {
    if let text = self.relationship(relationship.name, of: entity) { return [text] }
    switch relationship.target.unconditional {
    case .destination, .made, .when, .undecided: return []
    case .one(let target, _):
      return self.target(RuleRelationship(name: relationship.name, target: target), of: entity, from: from, item: item)
    case .item: return item == nil ? ["\(relationship.name): $item needs forEach"] : []
    case .related(let name, let ofItem):
      guard let owner = ofItem ? item : from else { return ["\(relationship.name): $item needs forEach"] }
      return [unknown("relationship", name: name, known: source.relationships(of: owner).map(\.name), in: owner)]
        .compactMap { $0 }
    case .found(let found, let key, _):
      guard destination.entity(found) != nil else {
        return [unknown("entity", name: found, known: destination.entities.map(\.name), in: destination.name)]
          .compactMap { $0 }
      }
      return [attribute(key.name, of: found)].compactMap { $0 }
    }
  }

  private func attribute(_ name: String, of entity: String) -> String? {
    let attributes = destination.attributes(of: entity)
    guard !attributes.contains(where: { $0.leaves.contains { $0.path == name } }) else { return nil }
    return unknown("attribute", name: name, known: attributes.map(\.name), in: entity)
  }

  /// A value is one, and a composite attribute is as many as it has elements.
  private func composite(_ name: String, of entity: String) -> String? {
    guard let attribute = destination.attribute(name, of: entity), attribute.type == .composite,
      attribute.leaves.count != 1
    else { return nil }
    let elements = attribute.leaves.map(\.path).joined(separator: ", ")
    return "\(name) is a composite attribute, and takes no value: give each of its elements one (\(elements))"
  }

  /// What is read must have something that the attribute can take.
  private func elements(_ property: PropertyMapping, of entity: String, from origin: String?) -> String? {
    guard property.valueExpression != nil, let read = property.copiedAttribute, let origin,
      let old = source.attribute(read, of: origin), let new = destination.attribute(property.name, of: entity),
      new.type == .composite || old.type == .composite,
      !new.leaves.contains(where: { new.origin(of: $0.path, in: old) != nil })
    else { return nil }
    let (names, others) = (new.leaves.map(\.path), old.leaves.map(\.path))
    return "\(new.name) would have nothing of \(read): "
      + "give each element a value (\(names.joined(separator: ", ")) of \(others.joined(separator: ", ")))"
  }

  private func relationship(_ name: String, of entity: String) -> String? {
    unknown("relationship", name: name, known: destination.relationships(of: entity).map(\.name), in: entity)
  }

  private func sourceProperty(_ name: String, of entity: String) -> String? {
    let names = source.attributes(of: entity).map(\.name) + source.relationships(of: entity).map(\.name)
    return unknown("property", name: name, known: names, in: entity)
  }

  func unknown(_ kind: String, name: String, known: [String], in owner: String) -> String? {
    guard !known.contains(name) else { return nil }
    return "\(owner) has no \(kind) \(name)\(NearName.question(name, in: known))"
  }
}

extension PropertyMapping {
  /// Whether a value is made that is no property of the source.
  fileprivate var isComputed: Bool {
    switch valueExpression {
    case nil, .constant(.null), .keyPath(.variable("source"), _): false
    default: true
    }
  }
}
