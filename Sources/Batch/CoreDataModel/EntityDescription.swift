/// An entity, as NSEntityDescription describes it. Only its own properties are listed; inherited ones come through the
/// model.
public struct EntityDescription: Sendable, Equatable {
  /// An index over properties, as NSFetchIndexDescription describes it.
  public struct FetchIndex: Sendable, Equatable {
    /// One property of an index.
    public struct Element: Sendable, Equatable {
      /// The property's name; `self` for the object, by its key; empty where the element indexes an expression.
      public var property: String
      /// The indexed expression, which only Core Data itself can evaluate.
      public var expression: String?
      /// The type of the expression's value.
      public var expressionType: AttributeType?
      /// `Binary` or `RTree`.
      public var type = "Binary"
      /// Ascending order.
      public var isAscending = true
      /// Makes an element.
      public init(property: String, type: String = "Binary", isAscending: Bool = true) {
        self.property = property
        self.type = type
        self.isAscending = isAscending
      }
    }
    /// The name that stands for the object itself, where no property is called so.
    package static let object = "self"

    /// The index's name, unique in its entity.
    public var name: String
    /// Its properties, in order.
    public var elements: [Element]
    /// A predicate that limits the index, in predicate format.
    public var partialPredicate: String?
    /// XML attributes of the model file that are not understood, by name.
    public var unknown: [String: String] = [:]
    /// Makes an index.
    public init(name: String, elements: [Element]) {
      self.name = name
      self.elements = elements
    }

    /// Whether it is SwiftData's form of an old-style index over these properties.
    func stands(for properties: [String]) -> Bool {
      name.hasPrefix("SwiftDataIndexOn") && elements.map(\.property) == properties && partialPredicate == nil
        && elements.allSatisfy { $0.expression == nil && $0.isAscending && $0.type == "Binary" }
    }
  }

  /// The name, unique in the model.
  public var name: String
  /// The name of the parent entity.
  public var superentity: String?
  /// An abstract entity has no objects of its own.
  public var isAbstract = false
  /// The class of its objects.
  public var managedObjectClassName: String?
  /// Own attributes, in declared order.
  public var attributes: [AttributeDescription] = []
  /// Own relationships, in declared order.
  public var relationships: [RelationshipDescription] = []
  /// Fetched properties, in declared order; they have no column and take no part in hashes.
  public var fetchedProperties: [FetchedPropertyDescription] = []
  /// Uniqueness constraints: each a list of property names.
  public var uniquenessConstraints: [[String]] = []
  /// Fetch indexes, in declared order.
  public var indexes: [FetchIndex] = []
  /// Old compound indexes: each a list of property names.
  public var compoundIndexes: [[String]] = []
  /// The identifier by which a renamed entity is found; nil means the name.
  public var renamingIdentifier: String?
  /// Changes the version hash without changing the entity.
  public var versionHashModifier: String?
  /// What Xcode makes of the entity's class: `class`, `category`, or nil for nothing.
  public var codeGenerationType: String?
  /// Whether it takes part in Sync Services. Nil if the model does not say.
  public var isSyncable: Bool?
  /// The expression of the name that Spotlight shows for an object.
  public var coreSpotlightDisplayNameExpression: String?
  /// Free entries of the model's author.
  public var userInfo: [String: String] = [:]
  /// XML attributes of the model file that are not understood, by name.
  public var unknown: [String: String] = [:]

  /// Makes an entity.
  public init(
    name: String, superentity: String? = nil, isAbstract: Bool = false, attributes: [AttributeDescription] = [],
    relationships: [RelationshipDescription] = []
  ) {
    self.name = name
    self.superentity = superentity
    self.isAbstract = isAbstract
    self.attributes = attributes
    self.relationships = relationships
  }
}

extension EntityDescription {
  /// Old-style indexes that stand for themselves: each a list of property names. SwiftData says every index twice, as an
  /// old-style one and as a fetch index; its stores have the latter.
  package var ownOldIndexes: [[String]] {
    let single = attributes.filter(\.isIndexed).map { [$0.name] }.sorted {
      $0[0].utf8.lexicographicallyPrecedes($1[0].utf8)
    }
    return (single + compoundIndexes).filter { properties in !indexes.contains { $0.stands(for: properties) } }
  }

  /// Whether there are old-style indexes that only repeat fetch indexes.
  package var repeatsIndexes: Bool {
    ownOldIndexes.count < attributes.count(where: \.isIndexed) + compoundIndexes.count
  }
}
