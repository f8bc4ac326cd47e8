import CoreDataModel
import Streams

/// How one step turns objects of a source version into objects of a destination version, as NSMappingModel describes
/// it.
///
/// A mapping model may cover a part of the entities; several of them can make up one step.
public struct MappingModel: Sendable, Equatable {
  /// The file's name without extension, or `inferred`.
  public var name: String
  /// Entity mappings in mapping order.
  public var entityMappings: [EntityMapping]
  /// Entity hashes of the source model that the mapping model was made for; empty when unknown.
  public var sourceHashes: [String: [UInt8]] = [:]
  /// Entity hashes of the destination model that the mapping model was made for; empty when unknown.
  public var destinationHashes: [String: [UInt8]] = [:]
  /// Names of the source and destination versions, if the file names them.
  public var sourceModelName: String?
  /// See ``sourceModelName``.
  public var destinationModelName: String?
  /// Checksums of the source and destination versions, if the file names them.
  public var sourceChecksum: String?
  /// See ``sourceChecksum``.
  public var destinationChecksum: String?
  /// Whether entities that both versions have and no mapping names are mapped by name.
  public var mapsOthers = false
  /// Why the step as a whole is still to be decided; nil if it is not.
  public var undecidedStep: String?
  /// A server that gets the result instead of another store, where this mapping model leads to the target version.
  public var destination: LoadDestination?

  /// Makes a mapping model.
  public init(name: String, entityMappings: [EntityMapping]) {
    self.name = name
    self.entityMappings = entityMappings
  }
}

/// How objects of one source entity become objects of one destination entity, as NSEntityMapping describes it.
public struct EntityMapping: Sendable, Equatable {
  /// The name by which expressions and policies find it.
  public var name: String
  /// The source entity; nil for an Add mapping.
  public var sourceEntity: String?
  /// The destination entity; nil for a Remove mapping.
  public var destinationEntity: String?
  /// The class name of the policy, when the mapping has one.
  public var policyClassName: String?
  /// A predicate that limits the source objects, in predicate format.
  public var filterPredicate: String?
  /// Entries that a policy can read.
  public var userInfo: [String: String] = [:]
  /// Attribute mappings, by the order of the file.
  public var attributeMappings: [PropertyMapping] = []
  /// Relationship mappings, by the order of the file.
  public var relationshipMappings: [PropertyMapping] = []
  /// Whether properties without a mapping are mapped by default all the same. They are in mapping files; in Xcode's
  /// they are left out.
  public var mapsByName = false
  /// What is done beyond the mappings, in place of a policy.
  public var rules: MappingRules?
  /// Which source objects are removed, and why; the filter has that already.
  public var removals: [Removal] = []
  /// Whether sub-entities of the source that no entity mapping names have the same mapping.
  public var takesSubentities = false
  /// Whether the run at hand leaves it out. It creates no object then; see ``PartSelection``.
  public var isSkipped = false

  /// Source objects that are removed, and why.
  public struct Removal: Sendable, Equatable {
    /// Which ones, in predicate format.
    public var predicate: String
    /// Why; nil if nobody said so.
    public var reason: String?
  }

  /// Whether it says that all objects of an entity go.
  package func removes(_ entity: String) -> Bool { sourceEntity == entity && destinationEntity == nil }

  /// Whether nothing but removals leaves objects out.
  package var isFilteredByRemovals: Bool {
    !removals.isEmpty && filterPredicate == Self.filter(nil, without: removals)
  }

  /// Whether what is removed is counted by its reasons: they are several, and nothing else leaves objects out.
  package var countsRemovals: Bool {
    removals.count > 1 && isFilteredByRemovals && !isSkipped && (policyClassName == nil || rules != nil)
  }

  /// Why objects are removed, in words; nil if nobody said so.
  package var removalReason: String? {
    let reasons = removals.compactMap(\.reason)
    return reasons.isEmpty ? nil : reasons.joined(separator: "; ")
  }

  /// The filter that takes what another one takes and no removal removes.
  static func filter(_ filter: String?, without removals: [Removal]) -> String? {
    let parts = [filter].compactMap { $0 }.map { "(\($0))" } + removals.map { "NOT (\($0.predicate))" }
    return parts.isEmpty ? nil : removals.isEmpty ? filter : parts.joined(separator: " AND ")
  }

  /// Makes an entity mapping; the default name is `<Source>To<Destination>`, for Add the destination's name (D.2).
  public init(name: String? = nil, sourceEntity: String?, destinationEntity: String?) {
    let joined = [sourceEntity, destinationEntity].compactMap { $0 }.joined(separator: "To")
    self.name = name ?? joined
    self.sourceEntity = sourceEntity
    self.destinationEntity = destinationEntity
  }
}

/// Where one property of a destination object comes from, as NSPropertyMapping describes it.
public struct PropertyMapping: Sendable, Equatable {
  /// The destination property.
  public var name: String
  /// The value; nil means by default: the source's property of the same name, else the default value (D.2).
  public var valueExpression: Expression?
  /// Types of an attribute in versions between, that its value passes one after the other where several steps are made
  /// in one.
  public var passedTypes: [AttributeType] = []
  /// What an attribute gets, as it is stored, where its source has no value: the default of one that an inferred step
  /// makes required.
  public var valueForNull: Value?

  /// Makes a property mapping.
  public init(name: String, valueExpression: Expression? = nil) {
    self.name = name
    self.valueExpression = valueExpression
  }
}

extension PropertyMapping {
  /// The source attribute whose values it takes as they are; nil for what is computed.
  package var copiedAttribute: String? {
    switch valueExpression {
    case nil: name
    case .keyPath(.variable("source"), let path) where path.count == 1: path[0]
    default: nil
    }
  }
}
