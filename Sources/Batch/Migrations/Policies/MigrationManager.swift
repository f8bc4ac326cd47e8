import CoreDataModel
import MappingModels
import RunSupport
import Streams

/// What a policy can ask of the running migration, as NSMigrationManager offers it: make objects, find them, follow
/// mappings.
///
/// It is the policies' view of the engine's own state, and has none itself.
public struct MigrationManager {
  let step: StepObjects

  init(_ step: StepObjects) { self.step = step }

  /// The source model of the step.
  public var sourceModel: ManagedObjectModel { step.sourceModel }
  /// The destination model of the step.
  public var model: ManagedObjectModel { step.model }

  /// Makes the destination object that stands for a source object, by the mapping's properties; it keeps the source's
  /// key, moved where several entities come together in one table. One call a source object.
  ///
  /// - Throws: ``BatchError``: `policyFailed` for a second object or another mapping.
  public func createDestinationInstance(forSource source: SourceObject, in mapping: EntityMapping) throws
    -> DestinationObject
  {
    try step.createDestinationInstance(forSource: source, in: mapping)
  }

  /// Makes a further object with a key of its own.
  ///
  /// - Throws: ``BatchError``: `policyFailed` for an entity that the model does not have, that is abstract, or that the
  ///   policy does not declare.
  public func insert(entity name: String) throws -> DestinationObject { try step.insert(entity: name) }

  /// Finds an object by the value of an attribute, through a look-up that the policy declares. NULL finds nothing.
  ///
  /// - Throws: ``BatchError``, and `StreamsError` of the disk below.
  public func find(_ entity: String, where attribute: String, is value: Value) throws -> DestinationObject? {
    try step.find(entity, attribute: attribute, value: value)
  }

  /// Finds an object by the value of an attribute, or makes one with that value.
  ///
  /// - Throws: ``BatchError``, and `StreamsError` of the disk below.
  public func findOrCreate(_ entity: String, where attribute: String, is value: Value) throws -> DestinationObject {
    try step.findOrCreate(entity, attribute: attribute, value: value)
  }

  /// Finds an object by the value that an attribute of a source object has, or makes one with that value; nil if it is
  /// NULL. Quicker than with the value itself, which is not read.
  ///
  /// - Throws: ``BatchError``, and `StreamsError` of the disk below.
  public func findOrCreate(_ entity: String, where attribute: String, from source: SourceObject, _ name: String) throws
    -> DestinationObject?
  {
    try step.findOrCreate(entity, attribute: attribute, from: source, name: name)
  }

  /// The objects that an entity mapping makes of source objects: its own ones, whether they are written already or will
  /// be.
  ///
  /// - Throws: ``BatchError``, and `StreamsError` of the disk below.
  public func destinationInstances(forEntityMappingNamed name: String, sourceInstances: [SourceObject]) throws
    -> [DestinationObject]
  {
    try step.destinationInstances(forEntityMappingNamed: name, sourceInstances: sourceInstances)
  }

  /// The destination objects of what a relationship of a source object leads to, whichever entity mapping makes them. A
  /// to-one is followed by its key alone, without a look at the other row.
  ///
  /// - Throws: ``BatchError``, and `StreamsError` of the disk below.
  public func destinationInstances(forSourceRelationshipNamed name: String, sourceInstances: [SourceObject]) throws
    -> [DestinationObject]
  {
    try step.destinationInstances(forSourceRelationshipNamed: name, sourceInstances: sourceInstances)
  }

  /// The source object of a destination object that an entity mapping made; nil for others.
  ///
  /// - Throws: ``BatchError``, and `StreamsError` of the disk below.
  public func sourceInstance(forEntityMappingNamed name: String, destination: DestinationObject) throws -> SourceObject?
  {
    try step.sourceInstance(forEntityMappingNamed: name, destination: destination)
  }

  /// The error to throw for a source object that cannot be migrated: it names entity, key and reason, which must not
  /// hold values.
  public func rejection(of source: SourceObject, _ reason: String) -> BatchError {
    BatchError(.policyFailed, "the policy refuses the object: \(reason)", entity: source.entityName, key: source.key)
  }

  /// Ends the migration with an error when the policy's call returns, as NSMigrationManager's function of that name
  /// does; what the call has made is not written. As with an error that is thrown, the run stays and can be resumed.
  public func cancelMigration(with error: any Error) { step.cancelMigration(with: error) }
}
