import CoreDataModel

/// A relationship of an entity.
open class NSRelationshipDescription: NSPropertyDescription {
  private let relationship: RelationshipDescription

  init(_ relationship: RelationshipDescription) {
    self.relationship = relationship
    super.init(
      name: relationship.name, isOptional: relationship.isOptional, isTransient: relationship.isTransient,
      userInfo: relationship.userInfo)
  }

  /// Whether it leads to more than one object.
  public var isToMany: Bool { relationship.isToMany }
  /// Whether its objects have an order.
  public var isOrdered: Bool { relationship.isOrdered }
  /// The most objects; 0 for any number.
  public var maxCount: Int { Int(relationship.maxCount) }
  /// The least number of objects.
  public var minCount: Int { Int(relationship.minCount) }
}
