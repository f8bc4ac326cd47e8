/// What becomes of one object of a store on its way to another version, step by step: see
/// ``MigrationJob/trace(_:key:in:result:values:)``.
public struct ObjectTrace: Sendable, Codable, Equatable {
  /// An object of one version.
  public struct Object: Sendable, Codable, Hashable {
    /// Its entity.
    public var entity: String
    /// Its key (Z_PK).
    public var key: Int64
    /// Whether the key is that of a whole run. The key of an object that a policy or a rule creates follows from the
    /// objects before it.
    public var isExact = true
  }

  /// A property of an object.
  public struct Property: Sendable, Codable, Equatable {
    /// Its name.
    public var name: String
    /// The attribute's type, or `to-one` or `to-many` with the entity.
    public var type: String
    /// Where it comes from; nil for a property of a source object, and of one that was created in addition.
    public var origin: String?
    /// The value, where values were asked for; a long one is shortened.
    public var value: String?
    /// The objects that a relationship leads to, ten at most.
    public var objects: [Object]?
  }

  /// What an entity mapping made of an object.
  public struct Taking: Sendable, Codable, Equatable {
    /// What became of the object.
    public enum Outcome: String, Sendable, Codable {
      /// It has an object of its own.
      case taken
      /// It was left out, by a filter, a policy or a skipped part.
      case leftOut
      /// It cannot be migrated: the run would end, or set it aside.
      case rejected
    }

    /// The mapping model's name.
    public var mappingModel: String
    /// The entity mapping's name.
    public var entityMapping: String
    /// Its policy.
    public var policy: String?
    /// What became of the object.
    public var outcome: Outcome
    /// By which rule; nil if there is none.
    public var reason: String?
    /// The object that stands for it.
    public var object: Object?
    /// The properties of that.
    public var properties: [Property] = []
    /// Objects that were created in addition, in order.
    public var made: [Made] = []
  }

  /// An object that a policy or a rule created in addition.
  public struct Made: Sendable, Codable, Equatable {
    /// The object.
    public var object: Object
    /// Its properties.
    public var properties: [Property]
  }

  /// The way of one object through a step.
  public struct Passage: Sendable, Codable, Equatable {
    /// The object before.
    public var object: Object
    /// What the entity mappings made of it; empty where none names its entity.
    public var takings: [Taking]
    /// Why there are none.
    public var reason: String?
  }

  /// A step of the path.
  public struct Step: Sendable, Codable, Equatable {
    /// The version before.
    public var from: String
    /// The version after.
    public var to: String
    /// Whether it is inferred.
    public var isInferred: Bool
    /// Why it was chosen.
    public var reason: String
    /// The object, then what earlier steps made of it.
    public var passages: [Passage]
  }

  /// An object in a finished store.
  public struct Found: Sendable, Codable, Equatable {
    /// The object.
    public var object: Object
    /// Whether it is there.
    public var isThere: Bool
    /// Attributes with other values than were predicted, and relationships that lead to other objects.
    public var differing: [String]
    /// Attributes whose values belong to the run that made the store, as random ones: nobody can foretell them.
    public var unforetold: [String]?
    /// What it has there.
    public var properties: [Property]
  }

  /// The store.
  public var store: String
  /// Its version.
  public var version: String
  /// The version that was asked for.
  public var target: String
  /// The object in the store.
  public var object: Object
  /// What it has there.
  public var properties: [Property]
  /// How many other objects were migrated with it, because it leads to them.
  public var near: Int
  /// Whether there were more.
  public var isCutOff: Bool
  /// The steps; empty if nothing is to be done.
  public var steps: [Step]
  /// What a finished store has of it; nil if none was named.
  public var found: [Found]?
}
