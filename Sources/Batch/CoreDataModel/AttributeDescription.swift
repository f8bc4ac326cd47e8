import Streams

/// The types an attribute can have. Raw values are Core Data's own and take part in version hashes (FORMAT of the hash:
/// A.2).
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
  /// Whether the value may be nil.
  public var isOptional = true
  /// A transient attribute has no column and takes no part in version hashes.
  public var isTransient = false
  /// A read-only attribute; takes part in version hashes (A.1). Xcode has no field for it.
  public var isReadOnly = false
  /// The value of a new object; dates as seconds since 2001, Booleans as 0 and 1, UUIDs as 16 bytes.
  public var defaultValue: Value?
  /// Whether large values may live in files beside the store.
  public var allowsExternalBinaryDataStorage = false
  /// Whether the value is kept in history after a deletion.
  public var preservesValueInHistoryOnDeletion = false
  /// Whether the value may be encrypted in CloudKit.
  public var allowsCloudEncryption = false
  /// Whether Xcode makes a property of a plain number type for it. Nil if the model does not say. No influence on
  /// stores.
  public var usesScalarValueType: Bool?
  /// Whether the value is copied into the external records that Spotlight reads (`storedInTruthFile`).
  public var isStoredInExternalRecord = false
  /// Whether Spotlight indexes it.
  public var isIndexedBySpotlight = false
  /// Whether it takes part in Sync Services. Nil if the model does not say.
  public var isSyncable: Bool?
  /// An old-style index on this attribute.
  public var isIndexed = false

  /// What few attributes have; nil for all others. Models have thousands of attributes, and a copy of one counts a
  /// reference to each text and list in it.
  private var rare: Shared?

  /// Makes an attribute, an optional one unless stated otherwise.
  public init(name: String, type: AttributeType, isOptional: Bool = true, defaultValue: Value? = nil) {
    self.name = name
    self.type = type
    self.isOptional = isOptional
    self.defaultValue = defaultValue
  }
}

extension AttributeDescription {
  /// The digits of a decimal default that ``defaultValue`` cannot hold exactly; nil if it can.
  public var exactDefaultValue: String? {
    get { self[\.exactDefaultValue] }
    set { self[\.exactDefaultValue] = newValue }
  }

  /// The smallest value; of a string the least number of characters, of a date seconds since 2001. No influence on
  /// hashes. A decimal that no Double holds exactly stands here as text.
  public var minimumValue: Value? {
    get { self[\.minimumValue] }
    set { self[\.minimumValue] = newValue }
  }

  /// The greatest value, as ``minimumValue`` has the smallest.
  public var maximumValue: Value? {
    get { self[\.maximumValue] }
    set { self[\.maximumValue] = newValue }
  }

  /// The regular expression that a string has to match as a whole.
  public var regularExpression: String? {
    get { self[\.regularExpression] }
    set { self[\.regularExpression] = newValue }
  }

  /// Further conditions of validation, in predicate format; only models made in code or compiled have them.
  public var validationPredicates: [String] {
    get { self[\.validationPredicates] }
    set { self[\.validationPredicates] = newValue }
  }

  /// The name of the value transformer of a transformable attribute.
  public var valueTransformerName: String? {
    get { self[\.valueTransformerName] }
    set { self[\.valueTransformerName] = newValue }
  }

  /// The class of a transformable attribute's value.
  public var attributeValueClassName: String? {
    get { self[\.attributeValueClassName] }
    set { self[\.attributeValueClassName] = newValue }
  }

  /// The derivation expression of a derived attribute.
  public var derivationExpression: String? {
    get { self[\.derivationExpression] }
    set { self[\.derivationExpression] = newValue }
  }

  /// The predicate that limits what a derivation counts or sums, in predicate format; takes part in version hashes
  /// (A.4).
  public var derivationFilter: String? {
    get { self[\.derivationFilter] }
    set { self[\.derivationFilter] = newValue }
  }

  /// The name of the composite that a composite attribute uses, where the model names its composites.
  public var compositeName: String? {
    get { self[\.compositeName] }
    set { self[\.compositeName] = newValue }
  }

  /// Elements of a composite attribute, in declared order.
  public var elements: [AttributeDescription] {
    get { self[\.elements] }
    set { self[\.elements] = newValue }
  }

  /// The identifier by which a renamed property is found; nil means the name.
  public var renamingIdentifier: String? {
    get { self[\.renamingIdentifier] }
    set { self[\.renamingIdentifier] = newValue }
  }

  /// Changes the version hash without changing the attribute.
  public var versionHashModifier: String? {
    get { self[\.versionHashModifier] }
    set { self[\.versionHashModifier] = newValue }
  }

  /// Free entries of the model's author.
  public var userInfo: [String: String] {
    get { self[\.userInfo] }
    set { self[\.userInfo] = newValue }
  }

  /// XML attributes of the model file that are not understood, by name.
  public var unknown: [String: String] {
    get { self[\.unknown] }
    set { self[\.unknown] = newValue }
  }

  private struct Rare: Equatable {
    var exactDefaultValue: String?
    var minimumValue: Value?
    var maximumValue: Value?
    var regularExpression: String?
    var validationPredicates: [String] = []
    var valueTransformerName: String?
    var attributeValueClassName: String?
    var derivationExpression: String?
    var derivationFilter: String?
    var compositeName: String?
    var elements: [AttributeDescription] = []
    var renamingIdentifier: String?
    var versionHashModifier: String?
    var userInfo: [String: String] = [:]
    var unknown: [String: String] = [:]

    static let none = Self()
  }

  private final class Shared: Sendable, Equatable {
    let fields: Rare

    init(_ fields: Rare) { self.fields = fields }

    static func == (left: Shared, right: Shared) -> Bool { left === right || left.fields == right.fields }
  }

  @inline(__always) private subscript<Field>(_ field: WritableKeyPath<Rare, Field>) -> Field {
    get { rare.map { $0.fields[keyPath: field] } ?? Rare.none[keyPath: field] }
    set {
      var fields = rare?.fields ?? .none
      fields[keyPath: field] = newValue
      rare = fields == .none ? nil : Shared(fields)
    }
  }
}

extension AttributeDescription {
  /// Whether the attribute is derived, and from the same as another one.
  package func isDerived(like other: AttributeDescription) -> Bool {
    derivationExpression != nil && derivationExpression == other.derivationExpression
      && derivationFilter ?? "" == other.derivationFilter ?? ""
  }
}
