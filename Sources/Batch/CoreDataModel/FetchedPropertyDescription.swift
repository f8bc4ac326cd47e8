/// A fetched property of an entity, as NSFetchedPropertyDescription describes it.
public struct FetchedPropertyDescription: Sendable, Equatable {
  /// The name, unique among the entity's properties.
  public var name: String
  /// What it fetches.
  public var fetchRequest: FetchRequestDescription
  /// Whether it may be empty.
  public var isOptional = true
  /// Whether it is transient.
  public var isTransient = false
  /// Whether it is read-only.
  public var isReadOnly = false
  /// Whether Spotlight indexes it.
  public var isIndexedBySpotlight = false
  /// Whether it takes part in Sync Services. Nil if the model does not say.
  public var isSyncable: Bool?
  /// The identifier by which a renamed property is found; nil means the name.
  public var renamingIdentifier: String?
  /// Kept with the model; a fetched property takes no part in version hashes (A.5).
  public var versionHashModifier: String?
  /// Free entries of the model's author.
  public var userInfo: [String: String] = [:]
  /// XML attributes of the model file that are not understood, by name.
  public var unknown: [String: String] = [:]

  /// Makes an optional fetched property.
  public init(name: String, fetchRequest: FetchRequestDescription = FetchRequestDescription()) {
    self.name = name
    self.fetchRequest = fetchRequest
  }
}

/// A fetch request of a model, as NSFetchRequest describes it: a template, or what a fetched property fetches.
public struct FetchRequestDescription: Sendable, Equatable {
  /// The name of the entity; nil if the model names none.
  public var entity: String?
  /// The predicate, in predicate format; nil for all objects.
  public var predicate: String?
  /// The greatest number of objects; 0 for all.
  public var fetchLimit = 0
  /// The number of leading objects that are skipped.
  public var fetchOffset = 0
  /// The number of objects fetched at a time; 0 for all at once.
  public var fetchBatchSize = 0
  /// NSFetchRequestResultType: 0 objects, 1 their identifiers, 2 dictionaries, 4 their number.
  public var resultType = 0
  /// Whether objects of sub-entities are fetched as well.
  public var includesSubentities = true
  /// Whether the values are read at once.
  public var includesPropertyValues = true
  /// Whether unsaved changes count.
  public var includesPendingChanges = true
  /// Whether objects come without values.
  public var returnsObjectsAsFaults = true
  /// Whether each value comes only once.
  public var returnsDistinctResults = false
  /// XML attributes of the model file that are not understood, by name.
  public var unknown: [String: String] = [:]

  /// Makes a fetch request.
  public init(entity: String? = nil, predicate: String? = nil) {
    self.entity = entity
    self.predicate = predicate
  }
}
