/// What stays as it is from one version to the next. Versions that were read together share the memory of what they have
/// alike, so that this is cheap to ask.
package struct ModelChanges {
  private let source: ManagedObjectModel
  private let destination: ManagedObjectModel
  /// Whether every entity of the source is in the destination under its name, abstract or not as before, and below the
  /// same parent.
  package let keepsEntities: Bool

  /// Compares two versions.
  package init(from source: ManagedObjectModel, to destination: ManagedObjectModel) {
    (self.source, self.destination) = (source, destination)
    keepsEntities = source.sorted.allSatisfy { old in
      destination.position(of: old.name).map { place in
        destination.sorted[place].superentity == old.superentity
          && destination.sorted[place].isAbstract == old.isAbstract
      } ?? false
    }
  }

  /// Whether an entity has the same relationships as before, inherited ones included. False where entities are not kept.
  package func keepsRelationships(of name: String) -> Bool {
    guard keepsEntities else { return false }
    var next: String? = name
    // Parents may form a circle.
    for _ in source.sorted.indices {
      guard let kind = next, let old = source.position(of: kind) else { return next != name }
      guard let new = destination.position(of: kind),
        source.sorted[old].relationships == destination.sorted[new].relationships
      else { return false }
      next = source.sorted[old].superentity
    }
    return next == nil
  }
}
