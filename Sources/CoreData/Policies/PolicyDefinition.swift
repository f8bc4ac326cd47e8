/// How a program knows a class of NSEntityMigrationPolicy; `godwit policies build` writes one for each.
public protocol PolicyDefinition {
  /// The name in mapping models, without a module.
  static var className: String { get }
  /// Changes with the sources: a resume refuses another version.
  static var version: String { get }
  /// Whether the class overrides `createRelationships`. If so the rows are read a second time.
  static var createsRelationships: Bool { get }
  /// What mapping models call by selector: `FUNCTION($entityPolicy, "name:", …)`.
  static var functions: [String: PolicyFunction] { get }
  /// Attributes by which fetches may look for objects of the destination, however many there are.
  static var lookups: [PolicyLookup] { get }
  /// Makes a policy.
  static func make() -> NSEntityMigrationPolicy
}

/// Calls a method of a policy.
public typealias PolicyFunction = (_ policy: NSEntityMigrationPolicy, _ arguments: PolicyArguments) throws -> Any?

/// An attribute by which objects of the destination are found; where the model has none such, it says nothing.
public struct PolicyLookup: Sendable {
  let entity: String
  let attribute: String

  /// Makes one.
  public init(entity: String, attribute: String) { (self.entity, self.attribute) = (entity, attribute) }
}

extension PolicyDefinition {
  /// `1`
  public static var version: String { "1" }
  /// Yes: it is not known.
  public static var createsRelationships: Bool { true }
  /// None.
  public static var functions: [String: PolicyFunction] { [:] }
  /// None.
  public static var lookups: [PolicyLookup] { [] }
}
