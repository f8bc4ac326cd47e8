import CoreDataModel

/// What a step takes over as it is. Entity mappings are those without policy, rules and filter.
package struct KeptEntities {
  let changes: ModelChanges
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

/// Attributes of an entity that a mapping copies, one by one.
struct CopiedAttributes {
  private let old: [AttributeDescription]
  private let places: [String: Int]
  /// Whether a mapping's first property of a name is a copy.
  private let copied: [String: Bool]

  /// `old` are the source entity's, own and inherited.
  init(_ mapping: EntityMapping, of old: [AttributeDescription]) {
    self.old = old
    places = Dictionary(old.indices.map { (old[$0].name, $0) }) { first, _ in first }
    copied = Dictionary(mapping.attributeMappings.map { ($0.name, $0.isPlainCopy) }) { first, _ in first }
  }

  /// Whether an attribute is copied from one that is the same in every respect, and has one column.
  func keep(_ attribute: AttributeDescription) -> Bool {
    guard attribute.type != .composite, copied[attribute.name] == true, let place = places[attribute.name] else {
      return false
    }
    return old[place] == attribute
  }
}

extension PropertyMapping {
  /// Whether it copies the property of its name, and nothing more.
  fileprivate var isPlainCopy: Bool { valueExpression == nil && valueForNull == nil && passedTypes.isEmpty }
}

extension [PropertyMapping] {
  /// Whether they copy properties of these names, one after the other.
  fileprivate func takeOver(_ names: [String]) -> Bool {
    guard count == names.count else { return false }
    return indices.allSatisfy { index in
      self[index].isPlainCopy && self[index].name == names[index]
    }
  }
}
