/// What stays as it is from one version to the next. Versions that were read together share the memory of what they have
/// alike, so that this is cheap to ask.
package struct ModelChanges {
  private let source: ManagedObjectModel
  private let destination: ManagedObjectModel
  /// Whether every entity of the source is in the destination under its name, abstract or not as before, and below the
  /// same parent.
  package let keepsEntities: Bool
  /// What stays of the own properties of every entity of the source, in their order.
  private let own: [Kept]

  private struct Kept {
    var attributes: Bool
    var relationships: Bool
  }

  /// Compares two versions.
  package init(from source: ManagedObjectModel, to destination: ManagedObjectModel) {
    (self.source, self.destination) = (source, destination)
    let places = source.sorted.indices.map { destination.position(of: source.sorted[$0].name) }
    keepsEntities = zip(source.sorted.indices, places).allSatisfy { old, new in
      guard let new else { return false }
      return destination.sorted[new].superentity == source.sorted[old].superentity
        && destination.sorted[new].isAbstract == source.sorted[old].isAbstract
    }
    guard keepsEntities else {
      own = []
      return
    }
    own = zip(source.sorted.indices, places).map { old, new in
      Kept(
        attributes: source.sorted[old].attributes == new.map { destination.sorted[$0].attributes },
        relationships: source.sorted[old].relationships == new.map { destination.sorted[$0].relationships })
    }
  }

  /// Whether an entity has the same attributes as before, inherited ones included. False where entities are not kept.
  package func keepsAttributes(of name: String) -> Bool { kept(name)?.attributes ?? false }

  /// The same of relationships.
  package func keepsRelationships(of name: String) -> Bool { kept(name)?.relationships ?? false }

  /// Whether all relationships of an entity keep their links: they stay as they are, and so do their inverses, or all
  /// relationships of the entity at the other end of one that has none.
  package func keepsLinks(of name: String) -> Bool {
    guard keepsRelationships(of: name) else { return false }
    var place = source.position(of: name)
    for _ in source.sorted.indices {
      guard let here = place else { return true }
      for index in source.sorted[here].relationships.indices where !keepsInverse(ofRelationship: index, at: here) {
        return false
      }
      place = source.sorted[here].superentity.flatMap(source.position)
    }
    return place == nil
  }

  private func keepsInverse(ofRelationship index: Int, at position: Int) -> Bool {
    let other = source.sorted[position].relationships[index].destinationEntity
    guard !keepsRelationships(of: other) else { return true }
    guard let inverse = source.sorted[position].relationships[index].inverseName else { return false }
    return source.relationship(inverse, of: other) == destination.relationship(inverse, of: other)
  }

  private func kept(_ name: String) -> Kept? {
    guard keepsEntities, let first = source.position(of: name) else { return nil }
    var (place, all) = (Optional(first), Kept(attributes: true, relationships: true))
    // Parents may form a circle.
    for _ in source.sorted.indices {
      guard let here = place else { return all }
      all.attributes = all.attributes && own[here].attributes
      all.relationships = all.relationships && own[here].relationships
      guard let parent = source.sorted[here].superentity else { return all }
      place = source.position(of: parent)
      if place == nil { return nil }
    }
    return nil
  }
}
