import Applications

/// A class in the sources of policies.
struct PolicyClass: Sendable, Equatable {
  /// A method that mapping models can call.
  struct Method: Sendable, Equatable {
    /// `noteForUsed:owner:`
    var selector: String
    /// As Swift calls it.
    var name: String
    /// The labels of its arguments; nil for none.
    var labels: [String?]
    var givesValue: Bool
  }

  /// The name in Swift, with those of the types around it.
  var name: String
  /// The name in mapping models: that of `@objc(Name)`, else the class's own.
  var exposedName: String
  var parent: String
  var line: Int
  var overridesRelationships = false
  /// Whether all its methods are exposed.
  var exposesMembers = false
}

/// What a file of Swift says of policies.
struct PolicyFile: Sendable {
  /// An import that is compiled whatever the platform.
  struct Import: Sendable, Equatable {
    var module: String
    var line: Int
  }

  var path: String
  var bytes: [UInt8]
  /// The same without what Apple's compiler alone knows; each line is where it was.
  var rewritten: String
  var imports: [Import] = []
  var classes: [PolicyClass] = []
  /// Methods by the class that declares or extends them.
  var methods: [String: [PolicyClass.Method]] = [:]
  var words = FetchWords()

  /// The first import of a module that is not here; nil if there is none.
  var foreignImport: Import? { imports.first { !PolicySource.modules.contains($0.module) } }
}

/// Which objects of the destination fetches may look for, by the texts of a file.
struct FetchWords: Sendable {
  /// Names of entities that requests are made with.
  var entities: Set<String> = []
  /// Names that predicates compare.
  var attributes: Set<String> = []
  /// All texts that may be names.
  var names: Set<String> = []
  /// Whether a request is made with a name that is no literal, or a predicate with `%K`.
  var hasOtherEntities = false
  var hasOtherAttributes = false

  mutating func add(_ other: FetchWords) {
    entities.formUnion(other.entities)
    attributes.formUnion(other.attributes)
    names.formUnion(other.names)
    hasOtherEntities = hasOtherEntities || other.hasOtherEntities
    hasOtherAttributes = hasOtherAttributes || other.hasOtherAttributes
  }

  /// Pairs of an entity and an attribute.
  var lookups: [(entity: String, attribute: String)] {
    let entities = hasOtherEntities ? entities.union(names.filter { $0.first?.isUppercase == true }) : entities
    let attributes = hasOtherAttributes ? attributes.union(names.filter { $0.first?.isLowercase == true }) : attributes
    return entities.sorted().flatMap { entity in attributes.sorted().map { (entity, $0) } }
  }
}
