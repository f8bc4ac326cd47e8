/// What changes from one version of a model to another, facet by facet: what that means for version hashes, and whether
/// a mapping model can be inferred (E.1, E.2).
///
/// The keys of its JSON are the names of the properties here; they stay as they are.
public struct ModelDifference: Sendable, Equatable, Codable {
  /// The names of the two versions.
  public var source: String
  /// See ``source``.
  public var destination: String
  /// Changes of the model as a whole; none of them changes a version hash.
  public var changes: [FacetChange]
  /// Entities that were added, removed, renamed or changed, by their destination names, then the removed ones.
  public var entities: [EntityDifference]
  /// Why no mapping model can be inferred; empty when one can.
  public var obstacles: [Obstacle]
  /// Whether a mapping model can be inferred. ``MappingModel/inferred(from:to:)`` succeeds exactly then.
  public var isInferable: Bool
  /// Whether the versions differ for a store: an entity was added, was removed or got another version hash.
  public var changesVersionHashes: Bool
  /// Whether columns hold other attributes under the same version hashes: a composite attribute has another name (A.6).
  public var changesColumns: Bool
}

/// How a part of a model changed.
public enum ChangeKind: String, Sendable, Codable {
  case added, removed
  /// Found again by its renaming identifier under another name.
  case renamed
  /// A property that another entity of the hierarchy declares now.
  case moved
  case changed
}

/// What became of one entity.
public struct EntityDifference: Sendable, Equatable, Codable {
  /// What happened.
  public var kind: ChangeKind
  /// The name in the source; nil for an added entity.
  public var source: String?
  /// The name in the destination; nil for a removed entity.
  public var destination: String?
  /// Changes of the entity itself.
  public var changes: [FacetChange] = []
  /// Own properties that changed; none for added and removed entities.
  public var properties: [PropertyDifference] = []
  /// Whether the version hash changes. True for added and removed entities.
  public var changesVersionHash = true
}

/// What became of one property that an entity declares.
public struct PropertyDifference: Sendable, Equatable, Codable {
  /// The kind of property.
  public enum Property: String, Sendable, Codable { case attribute, relationship, fetchedProperty }

  /// What it is.
  public var property: Property
  /// What happened.
  public var kind: ChangeKind
  /// The name in the source, with `Entity.` before it when it moved; nil for an added property.
  public var source: String?
  /// The name in the destination, with `Entity.` before it when it moved; nil for a removed property.
  public var destination: String?
  /// Its changes; none for added and removed properties.
  public var changes: [FacetChange] = []
  /// Whether it changes the version hash of the entity.
  public var changesVersionHash: Bool
  /// What has to hold for the rows, so that the step can be inferred (E.2).
  public var condition: String?
}

/// The change of one facet.
public struct FacetChange: Sendable, Equatable, Codable {
  /// The facet: the name of a property of the description, such as `isOptional`.
  public var facet: String
  /// The value before; nil for none.
  public var old: String?
  /// The value after; nil for none.
  public var new: String?
  /// Whether it changes the version hash of the entity.
  public var changesVersionHash: Bool
}

/// Why no mapping model can be inferred.
public struct Obstacle: Sendable, Equatable, Codable {
  /// The destination entities.
  public var entities: [String]
  /// The destination properties of the one entity; empty where it is the entity.
  public var properties: [String]
  /// What forbids it.
  public var reason: String
  /// What mapping would do it.
  public var remedy: String
}
