extension AttributeDescription {
  /// What of the attribute has a column: itself under its name, or, of a composite, its stored elements at any depth,
  /// named by path as `composite.element`.
  public var leaves: [(path: String, attribute: AttributeDescription)] { leaves(at: name) }

  private func leaves(at path: String) -> [(path: String, attribute: AttributeDescription)] {
    guard type == .composite else { return [(path, self)] }
    return elements.filter { !$0.isTransient }.flatMap { $0.leaves(at: "\(path).\($0.name)") }
  }
}

extension ManagedObjectModel {
  /// What of an entity's attributes, own and inherited, has a column, by path.
  public func storedAttributes(of entity: String) -> [(path: String, attribute: AttributeDescription)] {
    attributes(of: entity).filter { !$0.isTransient }.flatMap(\.leaves)
  }
}
