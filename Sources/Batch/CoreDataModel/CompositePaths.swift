extension ManagedObjectModel {
  /// Whether columns hold the same properties in another version with the same version hashes. The hash of a composite
  /// attribute leaves out its name (A.6), from which its columns follow.
  package func hasColumns(of other: ManagedObjectModel) -> Bool {
    self == other || compositePaths == other.compositePaths
  }

  /// By entity, the paths of the elements of its composite attributes.
  private var compositePaths: [String: Set<String>] {
    entities.reduce(into: [:]) { paths, entity in
      let found = entity.attributes.filter { $0.type == .composite }.flatMap { $0.leaves.map(\.path) }
      if !found.isEmpty { paths[entity.name] = Set(found) }
    }
  }
}
