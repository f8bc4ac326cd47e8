/// A relationship of an entity, as NSRelationshipDescription describes it.
public struct RelationshipDescription: Sendable, Equatable {
  /// What happens to the objects at the other end when an object is deleted.
  public enum DeleteRule: String, Sendable, Codable {
    case noAction = "No Action"
    case nullify = "Nullify"
    case cascade = "Cascade"
    case deny = "Deny"
  }

  /// The name, unique among the entity's properties.
  public var name: String
  /// The name of the destination entity.
  public var destinationEntity: String
  /// The name of the inverse relationship, declared by the destination entity or one of its parents.
  public var inverseName: String?
  /// 1 for a to-one; 0 for a to-many without limit. Hashed as written (A.3).
  public var maxCount: Int32
  /// Hashed as written (A.3).
  public var minCount: Int32 = 0
  /// Is the to-many ordered?
  public var isOrdered = false
  /// May it be empty?
  public var isOptional = true
  /// A transient relationship has no column and takes no part in version hashes.
  public var isTransient = false
  /// The delete rule; no influence on hashes.
  public var deleteRule = DeleteRule.nullify
  /// The identifier by which a renamed property is found; nil means the name.
  public var renamingIdentifier: String?
  /// Changes the version hash without changing the relationship.
  public var versionHashModifier: String?
  /// Free entries of the model's author.
  public var userInfo: [String: String] = [:]
  /// XML attributes of the model file that are not understood, by name.
  public var unknown: [String: String] = [:]

  /// True when more than one object can be at the other end.
  public var isToMany: Bool { maxCount != 1 }

  /// Makes an optional relationship.
  public init(name: String, destinationEntity: String, inverseName: String?, maxCount: Int32) {
    self.name = name
    self.destinationEntity = destinationEntity
    self.inverseName = inverseName
    self.maxCount = maxCount
  }
}
