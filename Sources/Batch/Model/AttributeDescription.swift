import Streams

/// The types an attribute can have. Raw values are Core Data's own and take part in version hashes (FORMAT of the hash: A.2).
public enum AttributeType: Int32, Sendable, Codable {
  case undefined = 0
  case integer16 = 100
  case integer32 = 200
  case integer64 = 300
  case decimal = 400
  case double = 500
  case float = 600
  case string = 700
  case boolean = 800
  case date = 900
  case binaryData = 1000
  case uuid = 1100
  case uri = 1200
  case transformable = 1800
  case objectID = 2000
  case composite = 2100
}

/// An attribute of an entity, as NSAttributeDescription describes it.
public struct AttributeDescription: Sendable, Equatable {
  /// The name, unique among the entity's properties.
  public var name: String
  /// The type; ``AttributeType/undefined`` only for transient attributes.
  public var type: AttributeType
  /// May the value be nil?
  public var isOptional = true
  /// A transient attribute has no column and takes no part in version hashes.
  public var isTransient = false
  /// The value of a new object; dates as seconds since 2001, Booleans as 0 and 1, UUIDs as 16 bytes.
  public var defaultValue: Value?
  /// May large values live in files beside the store?
  public var allowsExternalBinaryDataStorage = false
  /// Is the value kept in history after a deletion?
  public var preservesValueInHistoryOnDeletion = false
  /// The name of the value transformer of a transformable attribute.
  public var valueTransformerName: String?
  /// The class of a transformable attribute's value.
  public var attributeValueClassName: String?
  /// The derivation expression of a derived attribute.
  public var derivationExpression: String?
  /// Elements of a composite attribute, in declared order.
  public var elements: [AttributeDescription] = []
  /// The identifier by which a renamed property is found; nil means the name.
  public var renamingIdentifier: String?
  /// Changes the version hash without changing the attribute.
  public var versionHashModifier: String?
  /// An old-style index on this attribute.
  public var isIndexed = false
  /// Free entries of the model's author.
  public var userInfo: [String: String] = [:]
  /// XML attributes of the model file that are not understood, by name.
  public var unknown: [String: String] = [:]

  /// Makes an optional attribute.
  public init(name: String, type: AttributeType) {
    self.name = name
    self.type = type
  }
}
