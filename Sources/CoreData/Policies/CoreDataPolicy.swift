import CoreDataModel
import MappingModels
import Migrations
import RunSupport
import Streams

/// A class of NSEntityMigrationPolicy as a policy of the engine: what `GodwitCommand.main(policies:)` takes.
public struct CoreDataPolicy<Definition: PolicyDefinition>: EntityMigrationPolicy {
  /// The name in mapping models.
  public static var className: String { Definition.className }
  /// Changes with the sources.
  public static var version: String { Definition.version }
  private let instance = PolicyInstance(
    Definition.className, functions: Definition.functions, make: { Definition.make() })

  /// Makes a policy for one entity mapping.
  public init() {}

  /// What fetches may look for.
  public func lookups(for mapping: EntityMapping) -> [Lookup] {
    Definition.lookups.map { Lookup(wish: $0.entity, by: $0.attribute) }
  }

  /// Whether the class overrides `createRelationships`.
  public var createsRelationships: Bool { Definition.createsRelationships }

  /// Calls the class.
  ///
  /// - Throws: what the class throws, and what its KVC met.
  public func begin(_ mapping: EntityMapping, with manager: MigrationManager) throws {
    try instance.call(mapping, manager: manager, isLate: false, begins: true) { try $0.begin($1, with: $2) }
  }

  /// Calls the class.
  ///
  /// - Throws: as above.
  public func createDestinationInstances(
    forSource source: SourceObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {
    try instance.create(source, in: mapping, manager: manager)
  }

  /// Calls the class.
  ///
  /// - Throws: as above.
  public func endInstanceCreation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {
    try instance.call(mapping, manager: manager, isLate: false) {
      try $0.endInstanceCreation(forMapping: $1, manager: $2)
    }
  }

  /// Calls the class.
  ///
  /// - Throws: as above.
  public func createRelationships(
    forDestination destination: DestinationObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {
    try instance.relate(destination, in: mapping, manager: manager)
  }

  /// Calls the class.
  ///
  /// - Throws: as above.
  public func endRelationshipCreation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {
    try instance.call(mapping, manager: manager, isLate: true) {
      try $0.endRelationshipCreation(forMapping: $1, manager: $2)
    }
  }

  /// Calls the class.
  ///
  /// - Throws: as above.
  public func performCustomValidation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {
    try instance.call(mapping, manager: manager, isLate: true) {
      try $0.performCustomValidation(forMapping: $1, manager: $2)
    }
  }

  /// Calls the class.
  ///
  /// - Throws: as above.
  public func end(_ mapping: EntityMapping, manager: MigrationManager) throws {
    try instance.call(mapping, manager: manager, isLate: true) { try $0.end($1, manager: $2) }
  }
}

extension CoreDataPolicy: TypedFunctionPolicy {
  package func value(ofFunction name: String, typed arguments: [FunctionArgument], manager: MigrationManager) throws
    -> Value
  {
    try instance.value(ofFunction: name, arguments, manager: manager)
  }
}
