import CoreDataModel
import MappingModels

// Properties of entities whose objects become those of several: not every mapping carries all.
extension AccountLines {
  /// A property that some mappings of its entity carry, and others do not.
  struct Split: Sendable {
    var entity: String
    var name: String
    var isAttribute: Bool
    var carriers: [EntityMapping]

    /// `Entity.property`.
    var path: String { "\(entity).\(name)" }
  }

  /// Of each entity with several mappings, what some of them carry: a value is lost where the object is taken by the
  /// others alone.
  var splits: [Split] {
    guard !step.isInferred else { return [] }
    return takers.keys.sorted().flatMap { entity -> [Split] in
      let taken = (takers[entity] ?? []).filter { !$0.isSkipped }
      guard taken.count > 1 else { return [] }
      let attributes = (types.source[entity] ?? [:]).keys.sorted().map { path in
        Split(entity: entity, name: path, isAttribute: true, carriers: taken.filter { takes($0, attribute: path) })
      }
      let relationships = step.source.relationships(of: entity).filter { !$0.isTransient }.map { relationship in
        Split(
          entity: entity, name: relationship.name, isAttribute: false,
          carriers: taken.filter { takes($0, relationship) })
      }
      return (attributes + relationships).filter { (1..<taken.count).contains($0.carriers.count) }
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
