import CoreDataModel

extension MappingModel {
  /// The same mapping model without what says nothing: properties by default that have no source. They get their default
  /// value or no object with and without a mapping of theirs.
  ///
  /// `source` is the source version, as far as it is known.
  package func tidied(source: ManagedObjectModel?) -> MappingModel {
    var model = self
    for index in model.entityMappings.indices { model.entityMappings[index].tidy(source) }
    return model
  }
}

extension EntityMapping {
  fileprivate mutating func tidy(_ source: ManagedObjectModel?) {
    attributeMappings = attributeMappings.filter { $0.valueExpression != nil || hasSource($0.name, in: source) }
    relationshipMappings = relationshipMappings.filter { $0.valueExpression != nil || hasSource($0.name, in: source) }
    // Without a source nothing can be mapped by its name.
    if sourceEntity == nil { mapsByName = true }
  }

  /// Whether the source has a property of that name, as far as it is known.
  func hasSource(_ property: String, in source: ManagedObjectModel?) -> Bool {
    guard let entity = sourceEntity else { return false }
    guard let source, source.entity(entity) != nil else { return true }
    return source.attribute(property, of: entity) != nil || source.relationship(property, of: entity) != nil
  }
}
