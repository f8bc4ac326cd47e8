import CoreDataModel
import MappingModels

// Properties of entities whose objects become those of several: not every mapping carries all.
extension AccountLines {
  /// What some mappings of an entity carry, and others do not.
  struct Split: Sendable {
    /// Where it is.
    enum Place: Sendable {
      case attribute
      case relationship
      /// A to-many without inverse, whose keys are in the rows of the objects that it leads to, by its declaring entity.
      case owner(String)
    }

    /// The entity whose rows have it.
    var entity: String
    var name: String
    var place: Place
    var carriers: [EntityMapping]

    /// `Entity.property`, by the entity that declares it where that is another one.
    var path: String {
      guard case .owner(let owner) = place else { return "\(entity).\(name)" }
      return "\(owner).\(name)"
    }
  }

  /// Of each entity with several mappings, what some of them carry: a value is lost where the object is taken by the
  /// others alone.
  var splits: [Split] {
    guard !step.isInferred else { return [] }
    return takers.keys.sorted().flatMap { entity -> [Split] in
      let taken = (takers[entity] ?? []).filter { !$0.isSkipped }
      guard taken.count > 1 else { return [] }
      let attributes = (types.source[entity] ?? [:]).keys.sorted().map { path in
        Split(entity: entity, name: path, place: .attribute, carriers: taken.filter { takes($0, attribute: path) })
      }
      let relationships = step.source.relationships(of: entity).filter { !$0.isTransient }.map { relationship in
        Split(
          entity: entity, name: relationship.name, place: .relationship,
          carriers: taken.filter { takes($0, relationship) })
      }
      let all = attributes + relationships + owners(of: entity, taken)
      return all.filter { (1..<taken.count).contains($0.carriers.count) }
    }
  }

  /// To-many relationships without inverse that lead to an entity, and which of its mappings make objects for them.
  private func owners(of entity: String, _ taken: [EntityMapping]) -> [Split] {
    step.source.entities.flatMap { owner in
      owner.relationships.filter {
        $0.isToMany && $0.inverseName == nil && !$0.isTransient && step.source.isKind(entity, of: $0.destinationEntity)
      }.compactMap { relationship in
        let ends = all.filter { step.source.isKind($0.sourceEntity ?? "", of: owner.name) }
        guard !ends.contains(where: { decides($0, relationship.name) }) else { return nil }
        return Split(
          entity: entity, name: relationship.name, place: .owner(owner.name),
          carriers: taken.filter { mapping in ends.contains { leads($0, relationship.name, to: mapping) } })
      }
    }
  }

  /// Whether a mapping carries a relationship over to what another one makes.
  private func leads(_ end: EntityMapping, _ name: String, to mapping: EntityMapping) -> Bool {
    end.relationshipMappings.contains { property in
      let carried = property.valueExpression?.carriedRelationship
      guard property.valueExpression == nil ? property.name == name : carried?.path == name,
        carried?.mapping.map({ $0 == mapping.name }) != false,
        let new = step.destination.relationship(property.name, of: end.destinationEntity ?? "")
      else { return false }
      return step.destination.isKind(mapping.destinationEntity ?? "", of: new.destinationEntity)
    }
  }

  /// Whether a mapping does something with an attribute, or says that nothing is to be done.
  private func takes(_ mapping: EntityMapping, attribute path: String) -> Bool {
    let top = path.split(separator: ".").first.map(String.init) ?? path
    return mapping.attributeMappings.contains { target(of: path, in: $0, mapping) != nil }
      || decides(mapping, top)
  }

  private func takes(_ mapping: EntityMapping, _ relationship: RelationshipDescription) -> Bool {
    if !carriers(mapping, relationship.name).isEmpty || decides(mapping, relationship.name) { return true }
    // The other side may lead to what the mapping makes.
    guard let inverse = relationship.inverseName, let entity = mapping.destinationEntity else { return false }
    return all.contains { end in
      guard step.source.isKind(end.sourceEntity ?? "", of: relationship.destinationEntity) else { return false }
      return carriers(end, inverse).contains { name in
        step.destination.relationship(name, of: end.destinationEntity ?? "").map {
          step.destination.isKind(entity, of: $0.destinationEntity)
        } ?? false
      }
    }
  }

  private func decides(_ mapping: EntityMapping, _ name: String) -> Bool {
    reads(mapping, name) || sets(mapping, name) || mapping.policyClassName != nil && mapping.rules == nil
  }
}

extension AccountLine {
  /// By which path what not every mapping carries of a line is counted: ``AccountLines/Split/path``. Nil for lines that
  /// have no values and links.
  func lossPath(in model: ManagedObjectModel) -> String? {
    guard [.attribute, .relationship].contains(kind) else { return nil }
    guard let relationship = model.relationship(name ?? "", of: entity), relationship.isToMany,
      relationship.inverseName == nil
    else { return path }
    return "\(model.declarer(of: relationship.name, entity: entity)).\(relationship.name)"
  }
}
