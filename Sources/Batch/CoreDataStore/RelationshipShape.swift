import CoreDataModel

/// A property, named by the entity that declares it.
public struct PropertyReference: Sendable, Hashable, CustomStringConvertible {
  /// The declaring entity.
  public let entity: String
  /// The property's name.
  public let name: String
  /// Makes a reference.
  public init(entity: String, name: String) {
    self.entity = entity
    self.name = name
  }
  /// `Entity.name`.
  public var description: String { "\(entity).\(name)" }
}

/// Answers questions about relationships that decide how they are stored.
package struct RelationshipShape {
  package let model: ManagedObjectModel

  package init(model: ManagedObjectModel) {
    self.model = model
  }

  /// The topmost entity that declares the property: its column or join table carries that entity's number.
  func declarer(of property: String, entity name: String) -> String {
    model.ancestors(of: name).last { Self.declares($0, property) }?.name ?? name
  }

  /// Whether an ancestor declares the property too. Then it has its column there (B.4).
  func isInherited(_ property: String, by entity: String) -> Bool {
    model.ancestors(of: entity).contains { Self.declares($0, property) }
  }

  /// The inverse, when both sides name each other. With the inverse known on one side only the to-many is stored
  /// as one without inverse (B.5).
  package func mutualInverse(of relationship: RelationshipDescription) -> (
    reference: PropertyReference, RelationshipDescription
  )? {
    guard let name = relationship.inverseName,
      let inverse = model.relationship(name, of: relationship.destinationEntity),
      inverse.inverseName == relationship.name, !inverse.isTransient
    else { return nil }
    let entity = declarer(of: name, entity: relationship.destinationEntity)
    return (PropertyReference(entity: entity, name: name), inverse)
  }

  private static func declares(_ entity: EntityDescription, _ property: String) -> Bool {
    entity.relationships.contains { $0.name == property } || entity.attributes.contains { $0.name == property }
  }
}
