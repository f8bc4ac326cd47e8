import CoreDataModel

/// Writes out what mapping files leave to the rule for properties that are not mapped (D.2): the same name, else the
/// default.
package struct MappingCompletion {
  /// All mapping models of a step.
  package let models: [MappingModel]
  package let source: ManagedObjectModel
  package let destination: ManagedObjectModel

  package init(models: [MappingModel], source: ManagedObjectModel, destination: ManagedObjectModel) {
    self.models = models
    self.source = source
    self.destination = destination
  }

  /// The same mapping models with a mapping for every property that one of them maps by name.
  package func completed() -> [MappingModel] {
    let others = others
    // The first that asks for the others has them.
    let owner = models.firstIndex(where: \.mapsOthers)
    return models.enumerated().map { index, model in
      var model = model
      // Before those with rules, which may look for their objects.
      if index == owner { model.entityMappings = others + model.entityMappings }
      for index in model.entityMappings.indices where model.entityMappings[index].mapsByName {
        complete(&model.entityMappings[index])
      }
      return model
    }
  }

  /// A mapping by name for every entity that both versions have and that no mapping of the step reads or makes.
  private var others: [EntityMapping] {
    let named = models.flatMap(\.entityMappings)
    let taken = Set(named.compactMap(\.sourceEntity) + named.compactMap(\.destinationEntity))
    return destination.entities.filter { entity in
      !entity.isAbstract && !taken.contains(entity.name) && source.entity(entity.name)?.isAbstract == false
    }.map { entity in
      var mapping = EntityMapping(sourceEntity: entity.name, destinationEntity: entity.name)
      mapping.mapsByName = true
      return mapping
    }
  }

  private func complete(_ mapping: inout EntityMapping) {
    guard let entity = mapping.destinationEntity, destination.entity(entity) != nil else { return }
    // Those under a condition are mapped by name, too: what the rule does not set keeps that.
    let ruled = mapping.rules?.attributes.filter { !$0.value.isConditional }.map(\.name) ?? []
    let attributes = Set(mapping.attributeMappings.map(\.name) + ruled)
    let relationships = Set(mapping.relationshipMappings.map(\.name) + (mapping.rules?.relationships.map(\.name) ?? []))
    for attribute in destination.attributes(of: entity)
    where !attribute.isTransient && !attributes.contains(attribute.name) {
      mapping.attributeMappings.append(PropertyMapping(name: attribute.name))
    }
    for relationship in destination.relationships(of: entity)
    where !relationship.isTransient && !relationships.contains(relationship.name) {
      let staysBehind = mapping.sourceEntity.map { isLeft(relationship, from: $0) } ?? false
      mapping.relationshipMappings.append(
        PropertyMapping(name: relationship.name, valueExpression: staysBehind ? .constant(.null) : nil))
    }
  }

  /// Whether the objects that the source's relationship of this name leads to are dropped. Then so are the links.
  private func isLeft(_ relationship: RelationshipDescription, from entity: String) -> Bool {
    guard let old = source.relationships(of: entity).first(where: { $0.name == relationship.name }) else {
      return false
    }
    let all = models.flatMap(\.entityMappings) + (models.contains(where: \.mapsOthers) ? others : [])
    return !all.contains { mapping in
      guard let from = mapping.sourceEntity, let to = mapping.destinationEntity else { return false }
      return source.isKind(from, of: old.destinationEntity)
        && destination.isKind(to, of: relationship.destinationEntity)
    }
  }
}
