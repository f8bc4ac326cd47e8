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
package struct CopiedAttributes {
  private let old: [AttributeDescription]
  private let mappings: [PropertyMapping]
  /// Behind what was found last: most keep their order.
  private var (place, mapped) = (0, 0)

  /// `old` are the source entity's, own and inherited. Of a mapping that names an attribute twice nothing is said.
  package init(_ mapping: EntityMapping, of old: [AttributeDescription]) {
    let names = Set(mapping.attributeMappings.lazy.map(\.name))
    (self.old, mappings) = (old, names.count == mapping.attributeMappings.count ? mapping.attributeMappings : [])
  }

  /// Whether an attribute is copied from one that is the same in every respect, and has one column.
  package mutating func keep(_ attribute: AttributeDescription) -> Bool {
    guard attribute.type != .composite,
      let mapping = Self.find(in: mappings, from: &mapped, { $0.name == attribute.name }), mapping.isPlainCopy,
      let same = Self.find(in: old, from: &place, { $0.name == attribute.name })
    else { return false }
    return same == attribute
  }

  /// The element that is meant. Names are not repeated: the model was checked.
  private static func find<Element>(
    in elements: [Element], from place: inout Int, _ isMeant: (Element) -> Bool
  ) -> Element? {
    if elements.indices.contains(place), isMeant(elements[place]) {
      place += 1
      return elements[place - 1]
    }
    guard let found = elements.firstIndex(where: isMeant) else { return nil }
    place = found + 1
    return elements[found]
  }
}

extension Dictionary where Key == String {
  /// What these names have, and others. A copy that is changed is made sooner than a new dictionary is filled.
  func keeping(_ names: [String], and others: Self) -> Self {
    let kept = Set(names)
    let isComplete = kept.count + others.keys.count { self[$0] != nil && !kept.contains($0) } == count
    let found = isComplete ? self : filter { kept.contains($0.key) }
    return others.isEmpty ? found : found.merging(others) { $1 }
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
