import CoreDataModel

extension MappingModel {
  /// The mapping model from a version to itself: every object is copied with all that it has.
  public static func identity(of model: ManagedObjectModel) -> MappingModel {
    let mappings = model.entities.filter { !$0.isAbstract }.map { entity in
      var mapping = EntityMapping(sourceEntity: entity.name, destinationEntity: entity.name)
      mapping.attributeMappings = model.attributes(of: entity.name).filter { !$0.isTransient }.map {
        .init(name: $0.name)
      }
      mapping.relationshipMappings = model.relationships(of: entity.name).filter { !$0.isTransient }.map {
        .init(name: $0.name)
      }
      return mapping
    }
    var mapping = MappingModel(name: "identity", entityMappings: mappings)
    mapping.sourceHashes = model.versionHashes
    mapping.destinationHashes = mapping.sourceHashes
    mapping.sourceModelName = model.name
    mapping.destinationModelName = model.name
    return mapping
  }
}
