/// An attribute as it lies in a table.
struct StoredAttribute: Sendable {
  /// Position in the source's record, or the destination's column.
  var position: Int
  var type: AttributeType
  /// May values lie in files beside the store? Then each begins with a byte that tells.
  var isExternal: Bool
}

/// A relationship as it is stored.
struct StoredRelationship: Sendable {
  var storage: RelationshipStorage
  var destination: String
  var inverse: String?
  var isOrdered: Bool
}

extension StoreLayout {
  /// The relationships of an entity that are stored, by name.
  func storedRelationships(of entity: String) -> NameTable<StoredRelationship> {
    var found: [String: StoredRelationship] = [:]
    for relationship in model.relationships(of: entity) {
      guard let storage = storage(of: relationship.name, entity: entity) else { continue }
      found[relationship.name] = StoredRelationship(
        storage: storage, destination: relationship.destinationEntity, inverse: relationship.inverseName,
        isOrdered: relationship.isOrdered)
    }
    return NameTable(found)
  }
}
