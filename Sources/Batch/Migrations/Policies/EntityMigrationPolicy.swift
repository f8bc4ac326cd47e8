import MappingModels
import RunSupport
import Streams

/// Code that decides how the objects of one entity mapping are migrated: NSEntityMigrationPolicy's seven calls, in its
/// order.
///
/// All creations of a step come before all relationships, and these before all validations. A policy is a value without
/// state between calls: what must survive from row to row belongs into a ``Lookup`` or into the destination, because a
/// resumed run makes a new policy (I11). An error that a call throws stops the run; it is reported with the entity and
/// key concerned.
public protocol EntityMigrationPolicy: Sendable {
  /// The class name by which mapping models know the policy.
  static var className: String { get }
  /// Changes whenever the policy would give another result: a resume refuses a policy of another version.
  static var version: String { get }
  /// Makes a policy for one entity mapping.
  init()

  /// Look-ups that the policy uses in this entity mapping. One policy may serve several steps: it declares only what
  /// the destination of this one has.
  func lookups(for mapping: EntityMapping) -> [Lookup]
  /// Destination entities whose objects the policy makes or changes, those of its mapping included; sub-entities go
  /// with them. Empty, as is ``reads(for:)``, where the policy does not say: it may then write anything, and its
  /// mapping model cannot be split. Where it says something, anything else that it writes is an error.
  func writes(for mapping: EntityMapping) -> [String]
  /// Destination entities whose objects must be finished before, apart from those that it looks up. To look for objects
  /// of an entity that is neither its own nor declared, here or in ``lookups(for:)``, is an error.
  func reads(for mapping: EntityMapping) -> [String]
  /// Whether ``createRelationships(forDestination:in:manager:)`` does anything. If so the rows are read a second time.
  var createsRelationships: Bool { get }

  /// Called once before the mapping's first object.
  func begin(_ mapping: EntityMapping, with manager: MigrationManager) throws
  /// Called for each source object, in key order. The default makes one destination object by the mapping's properties.
  func createDestinationInstances(forSource source: SourceObject, in mapping: EntityMapping, manager: MigrationManager)
    throws
  /// Called once after the mapping's last object was created.
  func endInstanceCreation(forMapping mapping: EntityMapping, manager: MigrationManager) throws
  /// Called for each destination object of the mapping when all objects of the step exist.
  func createRelationships(
    forDestination destination: DestinationObject, in mapping: EntityMapping, manager: MigrationManager)
    throws
  /// Called once after the mapping's last relationship.
  func endRelationshipCreation(forMapping mapping: EntityMapping, manager: MigrationManager) throws
  /// Called once when all relationships of the step are there.
  func performCustomValidation(forMapping mapping: EntityMapping, manager: MigrationManager) throws
  /// Called once at the end of the step.
  func end(_ mapping: EntityMapping, manager: MigrationManager) throws
  /// Computes a value for an expression that calls the policy: `FUNCTION($entityPolicy, "name:", …)`. Arguments that
  /// are objects come as their keys. The value has to be one that the attribute can hold.
  func value(ofFunction name: String, arguments: [Value], source: SourceObject, manager: MigrationManager) throws
    -> Value
}

extension EntityMigrationPolicy {
  /// The type's own name.
  public static var className: String { String(describing: Self.self) }
  /// `1`
  public static var version: String { "1" }
  /// None.
  public func lookups(for mapping: EntityMapping) -> [Lookup] { [] }
  /// None, which says nothing.
  public func writes(for mapping: EntityMapping) -> [String] { [] }
  /// None.
  public func reads(for mapping: EntityMapping) -> [String] { [] }
  /// No.
  public var createsRelationships: Bool { false }
  /// Does nothing.
  ///
  /// - Throws: nothing by itself; what a policy throws here ends the run, as the cause of a ``BatchError``.
  public func begin(_ mapping: EntityMapping, with manager: MigrationManager) throws {}
  /// Makes one destination object by the mapping's properties.
  ///
  /// - Throws: nothing by itself; what a policy throws here ends the run, as the cause of a ``BatchError``.
  public func createDestinationInstances(
    forSource source: SourceObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {
    _ = try manager.createDestinationInstance(forSource: source, in: mapping)
  }
  /// Does nothing.
  ///
  /// - Throws: nothing by itself; what a policy throws here ends the run, as the cause of a ``BatchError``.
  public func endInstanceCreation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {}
  /// Does nothing.
  ///
  /// - Throws: nothing by itself; what a policy throws here ends the run, as the cause of a ``BatchError``.
  public func createRelationships(
    forDestination destination: DestinationObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {}
  /// Does nothing.
  ///
  /// - Throws: nothing by itself; what a policy throws here ends the run, as the cause of a ``BatchError``.
  public func endRelationshipCreation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {}
  /// Does nothing.
  ///
  /// - Throws: nothing by itself; what a policy throws here ends the run, as the cause of a ``BatchError``.
  public func performCustomValidation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {}
  /// Does nothing.
  ///
  /// - Throws: nothing by itself; what a policy throws here ends the run, as the cause of a ``BatchError``.
  public func end(_ mapping: EntityMapping, manager: MigrationManager) throws {}
  /// Refuses: the policy has no functions.
  ///
  /// - Throws: nothing by itself; what a policy throws here ends the run, as the cause of a ``BatchError``.
  public func value(ofFunction name: String, arguments: [Value], source: SourceObject, manager: MigrationManager) throws
    -> Value
  {
    throw BatchError(
      .policyFailed, "the policy \(Self.className) has no function \(name)",
      hint: "Answer to that name in value(ofFunction:arguments:source:manager:)")
  }
}
