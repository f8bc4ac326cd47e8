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
  /// The entity that the model file names beside the inverse, where it is not ``destinationEntity``.
  public var inverseEntity: String?
  /// 1 for a to-one; 0 for a to-many without limit. Hashed as written (A.3).
  public var maxCount: Int32
  /// Hashed as written (A.3).
  public var minCount: Int32 = 0
  /// Whether the to-many is ordered.
  public var isOrdered = false
  /// Whether it may be empty.
  public var isOptional = true
  /// A transient relationship has no column and takes no part in version hashes.
  public var isTransient = false
  /// A read-only relationship; takes part in version hashes (A.1). Xcode has no field for it.
  public var isReadOnly = false
  /// The delete rule; no influence on hashes.
  public var deleteRule = DeleteRule.nullify
  /// The identifier by which a renamed property is found; nil means the name.
  public var renamingIdentifier: String?
  /// Changes the version hash without changing the relationship.
  public var versionHashModifier: String?
  /// An old-style index on this relationship.
  public var isIndexed = false
  /// Whether it is copied into the external records that Spotlight reads (`storedInTruthFile`).
  public var isStoredInExternalRecord = false
  /// Whether Spotlight indexes it.
  public var isIndexedBySpotlight = false
  /// Whether it takes part in Sync Services. Nil if the model does not say.
  public var isSyncable: Bool?
  /// Conditions of validation, in predicate format; only models made in code or compiled have them.
  public var validationPredicates: [String] = []
  /// Free entries of the model's author.
  public var userInfo: [String: String] = [:]
  /// XML attributes of the model file that are not understood, by name.
  public var unknown: [String: String] = [:]

  /// True when more than one object can be at the other end.
  public var isToMany: Bool { maxCount != 1 }

  /// Makes an optional relationship that nullifies.
  public init(name: String, destinationEntity: String, inverseName: String?, maxCount: Int32) {
    self.name = name
    self.destinationEntity = destinationEntity
    self.inverseName = inverseName
    self.maxCount = maxCount
  }

  /// An optional to-one relationship.
  public static func toOne(
    _ name: String, _ destination: String, inverse: String? = nil, deleteRule: DeleteRule = .nullify
  ) -> Self {
    var relationship = Self(name: name, destinationEntity: destination, inverseName: inverse, maxCount: 1)
    relationship.deleteRule = deleteRule
    return relationship
  }

  /// An optional to-many relationship without limit.
  public static func toMany(
    _ name: String, _ destination: String, inverse: String? = nil, isOrdered: Bool = false,
    deleteRule: DeleteRule = .nullify
  ) -> Self {
    var relationship = Self(name: name, destinationEntity: destination, inverseName: inverse, maxCount: 0)
    relationship.isOrdered = isOrdered
    relationship.deleteRule = deleteRule
    return relationship
  }
}
