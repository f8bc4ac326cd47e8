import CoreDataModel

extension MappingModel {
  /// The same with entity mappings of their own for sub-entities: of those with `subentities: true`, for each that no
  /// entity mapping of the step names. An abstract entity has no objects, so its mapping is only a pattern.
  package static func expanded(_ models: [MappingModel], source: ManagedObjectModel, destination: ManagedObjectModel)
    -> [MappingModel]
  {
    guard models.contains(where: { $0.entityMappings.contains(where: \.takesSubentities) }) else { return models }
    var named = Set(models.flatMap { $0.entityMappings.compactMap(\.sourceEntity) })
    return models.map { model in
      var model = model
      model.entityMappings = model.entityMappings.flatMap { mapping -> [EntityMapping] in
        guard mapping.takesSubentities, let from = mapping.sourceEntity else { return [mapping] }
        let heirs = source.entities.map(\.name).filter { name in
          source.isKind(name, of: from) && source.entity(name)?.isAbstract == false && named.insert(name).inserted
        }
        let own = source.entity(from)?.isAbstract == true ? [] : [mapping]
        return own + heirs.map { mapping.forSubentity($0, in: destination) }
      }
      return model
    }
  }
}

extension EntityMapping {
  /// The mapping of a sub-entity: to that of the same name, or else to the destination of the mapping itself.
  fileprivate func forSubentity(_ name: String, in model: ManagedObjectModel) -> EntityMapping {
    let to = destinationEntity.map { to in
      model.entity(name) != nil && model.isKind(name, of: to) ? name : to
    }
    var mapping = self
    mapping.name = EntityMapping(sourceEntity: name, destinationEntity: to).name
    (mapping.sourceEntity, mapping.destinationEntity) = (name, to)
    return mapping
  }
}
