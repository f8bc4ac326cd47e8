import CoreDataModel
import MappingModels
import RunSupport

/// Makes the account of a step, before anything is counted: everything of its source version in one line each.
struct AccountLines {
  let step: MigrationStep
  let all: [EntityMapping]
  /// Source entities that a mapping model says to remove, and why.
  private let removed: [String: String?]
  /// By source entity, the mappings that make objects of its objects.
  let takers: [String: [EntityMapping]]
  /// Types of stored attributes by path, by entity of the two versions.
  let types: (source: [String: [String: AttributeType]], destination: [String: [String: AttributeType]])

  /// Looks at a step; what it passes has accounts of its own.
  init(_ step: MigrationStep) {
    self.step = step
    let mappings = step.mappingModels.flatMap(\.entityMappings)
    all = mappings.filter { $0.sourceEntity != nil && $0.destinationEntity != nil }
    removed = step.isInferred ? [:] : mappings.removed
    takers = Dictionary(grouping: all) { $0.sourceEntity ?? "" }
    types = (
      Self.types(all.map(\.sourceEntity), in: step.source),
      Self.types(all.map(\.destinationEntity), in: step.destination)
    )
  }

  private static func types(_ entities: [String?], in model: ManagedObjectModel) -> [String: [String: AttributeType]] {
    Set(entities.compactMap { $0 }).reduce(into: [:]) { found, entity in
      found[entity] = Dictionary(model.storedAttributes(of: entity).map { ($0.path, $0.attribute.type) }) { first, _ in
        first
      }
    }
  }

  /// The account, without counts; `splits` are ``splits``.
  func account(_ splits: [Split]) -> VersionAccount {
    var account = VersionAccount(
      source: step.source.name, destination: step.destination.name,
      lines: step.source.entities.flatMap { entity in
        [line(entity)] + properties(entity) + indexes(entity)
      })
    let split = Set(splits.map(\.path))
    for index in account.lines.indices where split.contains(account.lines[index].lossPath(in: step.source) ?? "") {
      account.lines[index].narrowed = .lost
    }
    return account
  }

  // MARK: Entities

  private func line(_ entity: EntityDescription) -> AccountLine {
    let name = entity.name
    guard !entity.isAbstract else {
      return AccountLine(
        .entity, entity: name, name: nil, fate: step.destination.entity(name) == nil ? .dropped : .carried)
    }
    guard let taken = takers[name] else {
      var line = AccountLine(.entity, entity: name, name: nil, fate: fate(ofEntity: name))
      line.reason = removed[name] ?? nil
      return line
    }
    let to = taken.compactMap(\.destinationEntity)
    let skipped = taken.allSatisfy(\.isSkipped)
    let fate: AccountLine.Fate = skipped ? .dropped : to.contains(name) ? .carried : .renamed
    var line = AccountLine(
      .entity, entity: name, name: nil, fate: fate, to: to.uniqued,
      by: skipped ? "a part that was skipped" : names(taken))
    line.leftOutBy = skipped ? nil : taken.leavingOut
    line.reason = line.leftOutBy == .removal ? taken.removalReasons : nil
    return line
  }

  /// Of an entity without a mapping: objects that the next version has an entity for are lost.
  private func fate(ofEntity name: String) -> AccountLine.Fate {
    // A mapping model that says so has said so.
    if removed[name] != nil { return .dropped }
    guard step.isHistory else { return .lost }
    return step.isInferred || step.destination.entity(name).map(\.isAbstract) != false ? .dropped : .lost
  }

  private func names(_ mappings: [EntityMapping]) -> String? {
    step.isInferred ? nil : mappings.map(\.name).uniqued.joined(separator: ", ")
  }

  private func properties(_ entity: EntityDescription) -> [AccountLine] {
    guard !entity.isAbstract else { return [] }
    let attributes = step.source.attributes(of: entity.name).filter { !$0.isTransient }.flatMap { attribute in
      attribute.leaves.map { (attribute, path: $0.path, type: $0.attribute.type) }
    }
    let relationships = step.source.relationships(of: entity.name).filter { !$0.isTransient }
    guard let taken = takers[entity.name], !taken.allSatisfy(\.isSkipped) else {
      let fate = takers[entity.name] == nil ? fate(ofEntity: entity.name) : .dropped
      return attributes.map {
        AccountLine(.attribute, entity: entity.name, name: $0.path, fate: fate, by: "the objects of \(entity.name)")
      }
        + relationships.map { relationship in
          var line = AccountLine(
            .relationship, entity: entity.name, name: relationship.name, fate: fate, by: "the objects of \(entity.name)"
          )
          line.countedAs = otherSide(relationship, entity.name)
          return line
        }
    }
    return attributes.map { line($0.0, path: $0.path, type: $0.type, entity: entity.name, taken: taken) }
      + relationships.map { line($0, entity: entity.name, taken: taken) }
  }

  // MARK: Attributes

  private func line(
    _ attribute: AttributeDescription, path: String, type: AttributeType, entity: String, taken: [EntityMapping]
  ) -> AccountLine {
    let targets = taken.flatMap { mapping in mapping.attributeMappings.compactMap { target(of: path, in: $0, mapping) }
    }
    let to = targets.map(\.path).uniqued
    if let kept = targets.first(where: { $0.types.dropFirst().allSatisfy { $0 == type } }) {
      let isSame = targets.contains { $0.name == path && $0.types.last == type } || kept.name == path
      return AccountLine(
        .attribute, entity: entity, name: path, fate: isSame ? .carried : .renamed, to: to, by: names(taken))
    }
    if !targets.isEmpty {
      return AccountLine(.attribute, entity: entity, name: path, fate: .converted, to: to, by: names(taken))
    }
    guard !isEmptied(attribute, taken) else {
      return AccountLine(.attribute, entity: entity, name: path, fate: .lost, by: names(taken))
    }
    return AccountLine(
      .attribute, entity: entity, name: path,
      fate: otherFate(path, taken, isDerived: attribute.derivationExpression != nil) { destination in
        step.destination.attributes(of: destination).contains { $0.name == attribute.name && !$0.isTransient }
      }, by: names(taken))
  }

  /// Of a property that no mapping carries.
  private func otherFate(
    _ path: String, _ taken: [EntityMapping], isDerived: Bool = false, stays: (String) -> Bool
  ) -> AccountLine.Fate {
    let top = path.split(separator: ".").first.map(String.init) ?? path
    if taken.contains(where: { reads($0, top) }) { return .computed }
    if taken.contains(where: { $0.policyClassName != nil && $0.rules == nil }) { return .policy }
    if isDerived { return .dropped }
    guard step.isHistory else { return .lost }
    guard !step.isInferred, taken.contains(where: { $0.destinationEntity.map(stays) == true }) else { return .dropped }
    guard taken.contains(where: { sets($0, top) }) else { return .lost }
    return taken.contains { $0.empties(top) } ? .dropped : .replaced
  }

  func reads(_ mapping: EntityMapping, _ name: String) -> Bool {
    mapping.attributeMappings.contains { $0.copiedAttribute == nil && $0.valueExpression?.names.contains(name) == true }
      || mapping.relationshipMappings.contains {
        $0.valueExpression?.carriedRelationship == nil && $0.valueExpression?.names.contains(name) == true
      }
      || mapping.rules?.names.contains(name) == true
  }

  /// Whether the mapping says another value for the same name.
  func sets(_ mapping: EntityMapping, _ name: String) -> Bool {
    (mapping.attributeMappings + mapping.relationshipMappings).contains { $0.name == name && $0.valueExpression != nil }
      || mapping.rules?.attributes.contains { $0.name == name } == true
      || mapping.rules?.relationships.contains { $0.name == name } == true
  }

  // MARK: Relationships

  private func line(_ relationship: RelationshipDescription, entity: String, taken: [EntityMapping]) -> AccountLine {
    let to = taken.flatMap { mapping in
      carriers(mapping, relationship.name).map { "\(mapping.destinationEntity ?? "").\($0)" }
    }.uniqued
    var line = AccountLine(
      .relationship, entity: entity, name: relationship.name, fate: .carried, to: to, by: names(taken))
    line.countedAs = otherSide(relationship, entity)
    let other = relationship.destinationEntity
    let ends = all.filter { step.source.isKind($0.sourceEntity ?? "", of: other) }
    if !to.isEmpty {
      line.fate = to.contains { $0.hasSuffix(".\(relationship.name)") } ? .carried : .renamed
      line.narrowed = isNarrowed(relationship, to: to) ? gone : nil
    } else if ends.isEmpty || ends.allSatisfy(\.isSkipped) {
      // Links to objects that go are listed with these objects.
      (line.fate, line.by) = (.dropped, "the objects of \(other)")
    } else if let inverse = relationship.inverseName, !decides(relationship, taken),
      let end = ends.first(where: { end in carriers(end, inverse).contains { admits(end, $0, from: entity) } })
    {
      (line.fate, line.to) = (.carried, carriers(end, inverse).map { "\(end.destinationEntity ?? "").\($0)" })
    } else if let inverse = relationship.inverseName, ends.contains(where: { reads($0, inverse) }) {
      line.fate = .computed
    } else {
      let policies = relationship.inverseName == nil ? [] : ends.filter { $0.policyClassName != nil && $0.rules == nil }
      line.fate = otherFate(relationship.name, taken + policies) { destination in
        step.destination.relationship(relationship.name, of: destination) != nil
      }
    }
    return line
  }

  /// Whether a rule sets a to-one that holds the key: what its inverse says carries nothing then.
  private func decides(_ relationship: RelationshipDescription, _ taken: [EntityMapping]) -> Bool {
    !relationship.isToMany
      && taken.contains { $0.rules?.relationships.contains { $0.name == relationship.name } == true }
  }

  /// The destination's relationships that carry a source relationship over.
  func carriers(_ mapping: EntityMapping, _ name: String) -> [String] {
    guard let entity = mapping.destinationEntity else { return [] }
    return mapping.relationshipMappings.filter { property in
      guard let expression = property.valueExpression else {
        return property.name == name && step.destination.relationship(name, of: entity) != nil
      }
      return expression.carriedRelationship?.path == name
    }.map(\.name)
  }

  /// The line that counts the links: of a to-many relationship with a to-one inverse that one; of two others the first
  /// by name.
  private func otherSide(_ relationship: RelationshipDescription, _ entity: String) -> String? {
    let other = relationship.destinationEntity
    guard let inverse = relationship.inverseName, let back = step.source.relationship(inverse, of: other) else {
      return nil
    }
    guard relationship.isToMany == back.isToMany else {
      return relationship.isToMany ? concrete(inverse, of: other) : nil
    }
    let owner = step.source.declarer(of: relationship.name, entity: entity)
    guard relationship.isToMany, (owner, relationship.name) > (other, inverse) else { return nil }
    return concrete(inverse, of: other)
  }

  /// The line of a property: an abstract entity has none, but those of its kind have; nil if none has objects.
  private func concrete(_ property: String, of entity: String) -> String? {
    step.source.entities.first { !$0.isAbstract && step.source.isKind($0.name, of: entity) }.map {
      "\($0.name).\(property)"
    }
  }

  // MARK: Indexes

  private func indexes(_ entity: EntityDescription) -> [AccountLine] {
    let names = takers[entity.name]?.compactMap(\.destinationEntity) ?? [entity.name]
    let heirs = names.compactMap { step.destination.entity($0) }
    func line(_ kind: AccountLine.Kind, _ name: String, isCarried: (EntityDescription) -> Bool) -> AccountLine {
      AccountLine(kind, entity: entity.name, name: name, fate: heirs.contains(where: isCarried) ? .carried : .dropped)
    }
    return entity.indexes.map { index in line(.index, index.name) { $0.indexes.contains { $0.name == index.name } } }
      + entity.uniquenessConstraints.map { constraint in
        line(.constraint, constraint.joined(separator: ", ")) { $0.uniquenessConstraints.contains(constraint) }
      }
  }
}
