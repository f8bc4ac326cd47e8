import CoreDataModel
import Streams

/// What a mapping file says beyond value expressions: which further objects are made, found and linked for each source
/// object.
///
/// Rules stand for a policy. They hold no dictionaries, so that their description is the same in every run.
public struct MappingRules: Sendable, Equatable {
  /// Attributes of the mapping's own object that take more than an expression.
  public var attributes: [RuleAttribute] = []
  /// Relationships of the mapping's own object that are looked up.
  public var relationships: [RuleRelationship] = []
  /// Objects beside the mapping's own one, in order.
  public var objects: [ObjectRule] = []

  /// Makes rules that do nothing.
  public init() {}

  /// Whether there is nothing to do.
  public var isEmpty: Bool { attributes.isEmpty && relationships.isEmpty && objects.isEmpty }
}

extension MappingModel {
  /// Attributes and relationships that are still to be decided, a sentence each.
  public var undecided: [String] {
    entityMappings.flatMap { mapping -> [String] in
      guard let rules = mapping.rules else { return [] }
      let own = (mapping.destinationEntity ?? mapping.name, rules.attributes, rules.relationships)
      let made = rules.objects.map { ($0.entity, $0.attributes, $0.relationships) }
      return ([own] + made).flatMap { entity, attributes, relationships in
        let reasons =
          attributes.map { ($0.name, $0.value.undecided) } + relationships.map { ($0.name, $0.target.undecided) }
        return reasons.compactMap { name, reason in reason.map { "\(entity).\(name): \($0)" } }
      }
    }
  }
}

/// An object that is made or found for each source object, or for each object that a relationship of it leads to.
public struct ObjectRule: Sendable, Equatable {
  /// Where the object comes from.
  public enum Kind: String, Sendable {
    case create, find, findOrCreate
  }
  /// Where the object comes from.
  public var kind: Kind
  /// Its entity, in the destination.
  public var entity: String
  /// The source's relationship whose objects are gone through, or its array whose elements are, each as `$item`; nil for
  /// once a source object.
  public var forEach: String?
  /// A predicate of the source object, and of `$item`; if it does not hold, nothing is done.
  public var condition: Predicate?
  /// The attribute and the value by which the object is found; nil for `create`.
  public var key: RuleAttribute?
  /// With `find`: the object that was written last counts, not the first.
  public var takesLast = false
  /// Attributes of a new object.
  public var attributes: [RuleAttribute] = []
  /// Relationships of a new object.
  public var relationships: [RuleRelationship] = []
  /// The relationship of the mapping's own object that leads to this one.
  public var link: String?
  /// The name by which later rules of the mapping mean the object.
  public var givenName: String?

  /// Makes a rule.
  public init(_ kind: Kind, entity: String) { (self.kind, self.entity) = (kind, entity) }
}

/// An attribute and where its value comes from.
public struct RuleAttribute: Sendable, Equatable {
  /// The destination attribute.
  public var name: String
  /// Its value.
  public var value: RuleValue

  /// Makes one.
  public init(name: String, value: RuleValue) { (self.name, self.value) = (name, value) }
}

/// A relationship and the objects that it leads to.
public struct RuleRelationship: Sendable, Equatable {
  /// The destination relationship.
  public var name: String
  /// The objects.
  public var target: RuleTarget

  /// Makes one.
  public init(name: String, target: RuleTarget) { (self.name, self.target) = (name, target) }
}

/// Destination objects that a rule means.
public indirect enum RuleTarget: Sendable, Equatable {
  /// `$destination`: the mapping's own object.
  case destination
  /// `$item`: what became of the object at hand.
  case item
  /// `$source.name`, `$item.name`: what became of the objects that a source relationship leads to.
  case related(String, ofItem: Bool)
  /// The object with that value.
  case found(entity: String, RuleAttribute, takesLast: Bool)
  /// `$name`: what an earlier rule has made or found; with the same `forEach` the one for the same `$item`.
  case made(String)
  /// The objects, if a predicate of the source object holds; else none.
  case when(Predicate, RuleTarget)
  /// The first or the last of the objects: in the order of an ordered relationship, else by their keys.
  case one(RuleTarget, takesLast: Bool)
  /// Nothing yet: why it is still to be decided.
  case undecided(String)

  /// Why the objects are still to be decided; nil if they are not.
  package var undecided: String? { if case .undecided(let reason) = self { reason } else { nil } }
  /// The entity of an object that is looked for by a value; nil for other targets.
  package var foundEntity: String? {
    switch self {
    case .found(let entity, _, _): entity
    case .when(_, let target), .one(let target, _): target.foundEntity
    case .destination, .item, .related, .made, .undecided: nil
    }
  }

  /// The objects without the condition.
  package var unconditional: RuleTarget { if case .when(_, let target) = self { target } else { self } }
}

/// A table of texts, read from a CSV file.
public struct MappingTable: Sendable, Equatable, CustomStringConvertible {
  /// The name in the mapping file.
  public let name: String
  /// Values by the bytes of the key: texts that only look alike are two.
  private let entries: [[UInt8]: String]
  private let digest: [UInt8]

  init(name: String, entries: [[UInt8]: String], digest: [UInt8]) {
    (self.name, self.entries, self.digest) = (name, entries, digest)
  }

  /// The value of a key.
  package subscript(_ key: String) -> String? { entries[Array(key.utf8)] }

  /// Name and digest of the file: what a plan's fingerprint holds of a table.
  public var description: String { "\(name) \(digest)" }
}
