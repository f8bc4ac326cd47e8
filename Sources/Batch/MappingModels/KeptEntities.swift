import CoreDataModel

/// What a step takes over as it is. Entity mappings are those without policy, rules and filter.
package struct KeptEntities {
  private let changes: ModelChanges
  private let names: [String: ManagedObjectModel.StoredNames]

  /// Compares two versions.
  package init(from source: ManagedObjectModel, to destination: ManagedObjectModel) {
    changes = ModelChanges(from: source, to: destination)
    names = destination.storedNames
  }

  /// Whether an entity mapping copies all attributes, and these stay as they are.
  package func keepsAttributes(_ mapping: EntityMapping) -> Bool {
    guard let (name, names) = kept(mapping), changes.keepsAttributes(of: name) else { return false }
    return mapping.attributeMappings.takeOver(names.attributes)
  }

  /// The same of relationships.
  package func keepsRelationships(_ mapping: EntityMapping) -> Bool {
    guard let (name, names) = kept(mapping), changes.keepsRelationships(of: name) else { return false }
    return mapping.relationshipMappings.takeOver(names.relationships)
  }

  /// The same of relationships and their inverses.
  package func keepsLinks(_ mapping: EntityMapping) -> Bool {
    keepsRelationships(mapping) && changes.keepsLinks(of: mapping.sourceEntity ?? "")
  }

  private func kept(_ mapping: EntityMapping) -> (String, ManagedObjectModel.StoredNames)? {
    guard let name = mapping.sourceEntity, name == mapping.destinationEntity else { return nil }
    return names[name].map { (name, $0) }
  }
}

extension [PropertyMapping] {
  /// Whether they copy properties of these names, one after the other.
  fileprivate func takeOver(_ names: [String]) -> Bool {
    guard count == names.count else { return false }
    return indices.allSatisfy { index in
      self[index].valueExpression == nil && self[index].valueForNull == nil && self[index].passedTypes.isEmpty
        && self[index].name == names[index]
    }
  }
}
