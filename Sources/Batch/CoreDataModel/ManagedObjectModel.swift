/// A version of a data model, as NSManagedObjectModel describes it: values, not objects, tied together by names.
public struct ManagedObjectModel: Sendable, Equatable {
  /// The version's name: the file's name without extension, or empty for a model made in code.
  public var name: String { didSet { facts = ModelFacts() } }
  /// All entities; they are kept sorted by name in code-unit order.
  public var entities: [EntityDescription] {
    get { sorted }
    set { arrange(newValue) }
  }
  /// `userDefinedModelVersionIdentifier`, as in NSStoreModelVersionIdentifiers.
  public var versionIdentifiers: [String] { didSet { facts = ModelFacts() } }
  /// Configurations: name to entity names.
  public var configurations: [String: [String]] = [:] { didSet { facts = ModelFacts() } }
  /// The configurations that CloudKit mirrors, as far as the model says so.
  public var cloudKitConfigurations: Set<String> = [] { didSet { facts = ModelFacts() } }
  /// Fetch request templates, by name.
  public var fetchRequestTemplates: [String: FetchRequestDescription] = [:] { didSet { facts = ModelFacts() } }
  /// Named composites, as the model file defines them; an attribute that uses one holds its elements itself.
  public var composites: [String: CompositeDescription] = [:] { didSet { facts = ModelFacts() } }
  /// Whether the model is meant for CloudKit.
  public var isUsedWithCloudKit = false { didSet { facts = ModelFacts() } }
  /// Whether the model is meant for SwiftData.
  public var isUsedWithSwiftData = false { didSet { facts = ModelFacts() } }
  /// Whether a store that SwiftData wrote carries the model; see ``markCarried()``.
  package internal(set) var isOfSwiftDataStore = false
  /// XML attributes of the model file that concern Xcode or are not understood, by name.
  public var unknown: [String: String] = [:] { didSet { facts = ModelFacts() } }
  /// Elements of the model file that are not understood and were left out, each with the names around it.
  public var unknownElements: [String] = [] { didSet { facts = ModelFacts() } }

  /// What ``entities`` gives, to be looked at in place: descriptions are large, and to copy one takes long.
  private(set) var sorted: [EntityDescription] = []
  private var positions: [String: Int] = [:]
  /// What was derived from the model as it is now.
  private(set) var facts = ModelFacts()

  /// Makes a model; entities are sorted by name. Nothing is checked: see ``validate()``.
  public init(name: String = "", entities: [EntityDescription], versionIdentifiers: [String] = []) {
    self.name = name
    self.versionIdentifiers = versionIdentifiers
    arrange(entities)
  }

  private mutating func arrange(_ entities: [EntityDescription]) {
    sorted = entities.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    (positions, facts) = ([:], ModelFacts())
    for (position, entity) in sorted.enumerated() { positions[entity.name] = position }
  }

  /// The entity of that name.
  public func entity(_ name: String) -> EntityDescription? { positions[name].map { sorted[$0] } }

  /// Where in ``sorted`` the entity of that name is.
  func position(of name: String) -> Int? { positions[name] }

  /// Whether there is an entity of that name.
  package func hasEntity(_ name: String) -> Bool { positions[name] != nil }

  /// The name of the entity's parent, whether that exists or not.
  package func superentity(of name: String) -> String? { positions[name].flatMap { sorted[$0].superentity } }

  /// The entity's parents, nearest first. Ends at a parent that is missing or was met before.
  public func ancestors(of name: String) -> [EntityDescription] {
    // Most entities have none; to copy an entity takes long.
    var next = superentity(of: name)
    guard next != nil else { return [] }
    var found: [EntityDescription] = []
    var seen: Set<String> = [name]
    while let parent = next, seen.insert(parent).inserted, let entity = entity(parent) {
      found.append(entity)
      next = entity.superentity
    }
    return found
  }

  /// The name of the topmost parent, or the name itself.
  public func root(of name: String) -> String {
    var top = name
    for _ in sorted.indices {
      guard let position = positions[top], let parent = sorted[position].superentity, positions[parent] != nil else {
        return top
      }
      top = parent
    }
    // Parents form a circle.
    return ancestors(of: name).last?.name ?? name
  }

  /// Names of the direct sub-entities, in code-unit order.
  public func subentities(of name: String) -> [String] {
    entities.filter { $0.superentity == name }.map(\.name)
  }

  /// Whether `name` is the entity `ancestor` or below it.
  public func isKind(_ name: String, of ancestor: String) -> Bool {
    guard name != ancestor else { return true }
    var position = positions[name]
    // Parents may form a circle. Asked often: names alone are looked at, no entity is copied.
    for _ in sorted.indices {
      guard let child = position, let parent = sorted[child].superentity, let next = positions[parent] else {
        return false
      }
      if parent == ancestor { return true }
      position = next
    }
    return false
  }

  /// Own and inherited attributes; own ones first.
  public func attributes(of name: String) -> [AttributeDescription] {
    guard let position = positions[name] else { return [] }
    let own = sorted[position].attributes
    return sorted[position].superentity == nil ? own : own + ancestors(of: name).flatMap(\.attributes)
  }

  /// Own and inherited relationships; own ones first.
  public func relationships(of name: String) -> [RelationshipDescription] {
    guard let position = positions[name] else { return [] }
    let own = sorted[position].relationships
    return sorted[position].superentity == nil ? own : own + ancestors(of: name).flatMap(\.relationships)
  }

  /// The relationship of that name, own or inherited.
  public func relationship(_ name: String, of entity: String) -> RelationshipDescription? {
    nearest(entity) { here in
      sorted[here].relationships.firstIndex { $0.name == name }.map { sorted[here].relationships[$0] }
    }
  }

  /// The relationship at the other end of one; nil for one without inverse.
  package func otherEnd(of relationship: RelationshipDescription) -> RelationshipDescription? {
    relationship.inverseName.flatMap { self.relationship($0, of: relationship.destinationEntity) }
  }

  /// The attribute of that name, own or inherited.
  public func attribute(_ name: String, of entity: String) -> AttributeDescription? {
    nearest(entity) { here in
      sorted[here].attributes.firstIndex { $0.name == name }.map { sorted[here].attributes[$0] }
    }
  }

  /// What the entity has, or the nearest of its parents that has it; `find` gets positions of entities. Descriptions are
  /// large: only what is found is copied.
  private func nearest<Property>(_ entity: String, _ find: (Int) -> Property?) -> Property? {
    var position = positions[entity]
    // Parents may form a circle.
    for _ in sorted.indices {
      guard let here = position else { return nil }
      if let found = find(here) { return found }
      position = sorted[here].superentity.flatMap { positions[$0] }
    }
    return nil
  }
}

extension ManagedObjectModel {
  /// What follows from the model alone, derived once for all copies of it. A change of the model forgets it.
  package func remembered<Fact: Sendable>(_ key: ModelFacts.Key<Fact>, make: () throws -> Fact) rethrows -> Fact {
    try facts.value(key, make: make)
  }

  /// The same model, for a fact that holds it: a fact must not hold itself.
  package var forFacts: ManagedObjectModel {
    var model = self
    model.facts = ModelFacts()
    return model
  }
}

extension ManagedObjectModel {
  /// Names of an entity's properties that stores have, own and inherited; own ones first.
  package struct StoredNames: Sendable {
    package fileprivate(set) var attributes: [String] = []
    package fileprivate(set) var relationships: [String] = []
  }

  private static let storedNames = ModelFacts.Key<[String: StoredNames]>("names of stored properties")

  /// ``StoredNames`` by entity.
  package var storedNames: [String: StoredNames] {
    remembered(Self.storedNames) {
      Dictionary(sorted.indices.map { (sorted[$0].name, storedNames(at: $0)) }) { first, _ in first }
    }
  }

  private func storedNames(at position: Int) -> StoredNames {
    var (names, place) = (StoredNames(), Optional(position))
    // Parents may form a circle.
    for _ in sorted.indices {
      guard let here = place else { break }
      let (attributes, relationships) = (sorted[here].attributes, sorted[here].relationships)
      for index in attributes.indices where !attributes[index].isTransient {
        names.attributes.append(attributes[index].name)
      }
      for index in relationships.indices where !relationships[index].isTransient {
        names.relationships.append(relationships[index].name)
      }
      place = sorted[here].superentity.flatMap { positions[$0] }
    }
    return names
  }
}
