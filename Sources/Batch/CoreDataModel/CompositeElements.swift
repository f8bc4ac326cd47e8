extension AttributeDescription {
  /// What of the attribute has a column: itself under its name, or, of a composite, its stored elements at any depth,
  /// named by path as `composite.element`.
  public var leaves: [(path: String, attribute: AttributeDescription)] { leaves(at: name) }

  /// What of another attribute an element takes over, where that attribute becomes this one: the element of the same
  /// path. The only element takes over the only one if both are named as their attributes, as SwiftData names those of
  /// enumerations, or where one of the attributes is no composite. Nil for an element that nothing becomes.
  ///
  /// `leaf` and the result are paths of ``leaves``, this attribute's and the other's.
  package func origin(of leaf: String, in other: AttributeDescription) -> String? {
    let (path, others) = (other.name + leaf.dropFirst(name.count), other.leaves)
    if others.contains(where: { $0.path == path }) { return path }
    guard others.count == 1, leaves.count == 1 else { return nil }
    let isScalar = type != .composite || other.type != .composite
    return isScalar || isNamedByElement && other.isNamedByElement ? others[0].path : nil
  }

  /// Paths of the elements without which a value of this composite attribute is none, and which no default gives a value.
  /// The only element of an enumeration is optional, whatever the attribute is.
  package var neededElements: [String] {
    guard type == .composite, !isOptional, !isTransient else { return [] }
    let leaves = leaves
    return leaves.filter { ($0.attribute.isOptional == false || leaves.count == 1) && $0.attribute.defaultValue == nil }
      .map(\.path)
  }

  /// Whether a value has one of the elements, whichever: an enumeration without raw values that must have one, and that
  /// no default gives one.
  package var needsAnyElement: Bool {
    userInfo[Self.enumeration] != nil && type == .composite && !isOptional && !isTransient
      && leaves.allSatisfy { $0.attribute.defaultValue == nil }
  }

  /// Whether an element has the values of each one of another enumeration that must have one.
  package func takesAnyElement(of old: AttributeDescription?) -> Bool {
    guard let old, old.needsAnyElement else { return false }
    let origins = Set(leaves.compactMap { origin(of: $0.path, in: old) })
    return old.leaves.allSatisfy { origins.contains($0.path) }
  }

  private var isNamedByElement: Bool { elements.count == 1 && elements[0].name == name }

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

  /// The same by path.
  package func leaves(of entity: String) -> [String: AttributeDescription] {
    Dictionary(storedAttributes(of: entity).map { ($0.path, $0.attribute) }) { first, _ in first }
  }
}
