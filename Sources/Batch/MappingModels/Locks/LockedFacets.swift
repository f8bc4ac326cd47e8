import CoreDataModel

/// A model as a lock keeps it: what version hashes hold (A.1 to A.5), and the identifiers by which a comparison finds
/// renamed things.
enum LockedFacets {
  static func of(_ model: ManagedObjectModel) -> ManagedObjectModel {
    ManagedObjectModel(name: model.name, entities: model.entities.map(entity))
  }

  private static func entity(_ entity: EntityDescription) -> EntityDescription {
    var kept = EntityDescription(
      name: entity.name, superentity: entity.superentity, isAbstract: entity.isAbstract,
      attributes: entity.attributes.filter { !$0.isTransient }.map(attribute).sorted { precedes($0.name, $1.name) },
      relationships: entity.relationships.filter { !$0.isTransient }.map(relationship)
        .sorted { precedes($0.name, $1.name) })
    kept.uniquenessConstraints = entity.uniquenessConstraints
    kept.versionHashModifier = modifier(entity.versionHashModifier)
    kept.renamingIdentifier = identifier(entity.renamingIdentifier, of: entity.name)
    return kept
  }

  private static func attribute(_ attribute: AttributeDescription) -> AttributeDescription {
    var kept = AttributeDescription(name: attribute.name, type: attribute.type, isOptional: attribute.isOptional)
    kept.isReadOnly = attribute.isReadOnly
    kept.isTransient = attribute.isTransient
    kept.allowsExternalBinaryDataStorage = attribute.allowsExternalBinaryDataStorage
    kept.preservesValueInHistoryOnDeletion = attribute.preservesValueInHistoryOnDeletion
    kept.derivationExpression = attribute.derivationExpression
    kept.derivationFilter = attribute.derivationExpression == nil ? nil : modifier(attribute.derivationFilter)
    kept.versionHashModifier = modifier(attribute.versionHashModifier)
    kept.renamingIdentifier = identifier(attribute.renamingIdentifier, of: attribute.name)
    kept.elements = attribute.elements.filter { !$0.isTransient }.map(self.attribute)
    return kept
  }

  private static func relationship(_ relationship: RelationshipDescription) -> RelationshipDescription {
    var kept = RelationshipDescription(
      name: relationship.name, destinationEntity: relationship.destinationEntity,
      inverseName: relationship.inverseName, maxCount: relationship.maxCount)
    kept.minCount = relationship.minCount
    kept.isOrdered = relationship.isOrdered
    kept.isOptional = relationship.isOptional
    kept.isReadOnly = relationship.isReadOnly
    kept.versionHashModifier = modifier(relationship.versionHashModifier)
    kept.renamingIdentifier = identifier(relationship.renamingIdentifier, of: relationship.name)
    return kept
  }

  /// An empty one is hashed like none.
  private static func modifier(_ text: String?) -> String? { text?.isEmpty == true ? nil : text }

  private static func identifier(_ text: String?, of name: String) -> String? { text == name ? nil : text }

  private static func precedes(_ left: String, _ right: String) -> Bool {
    left.utf8.lexicographicallyPrecedes(right.utf8)
  }
}
