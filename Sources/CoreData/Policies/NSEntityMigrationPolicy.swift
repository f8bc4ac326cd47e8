import MappingModels

/// Core Data's class of that name: decides how the objects of one entity mapping are migrated.
///
/// There is one object of it for each entity mapping of a step. What it keeps in properties is lost with an
/// interruption; the run then ends with an error, and has to begin again.
open class NSEntityMigrationPolicy: NSObject {
  /// Makes a policy.
  public override init() {}

  /// Called once before the mapping's first object.
  ///
  /// - Throws: nothing by itself; what an override throws ends the migration.
  open func begin(_ mapping: NSEntityMapping, with manager: NSMigrationManager) throws {}

  /// Called for each source object, by key. Makes one destination object by the mapping's properties.
  ///
  /// - Throws: what ends the migration.
  open func createDestinationInstances(
    forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    try sInstance.session.createPrimary(sInstance)
  }

  /// Called once after the mapping's last object was created.
  ///
  /// - Throws: nothing by itself; what an override throws ends the migration.
  open func endInstanceCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {}

  /// Called for each destination object of the mapping when all objects of the step exist. What the mapping says of
  /// relationships is there already, whether an override calls `super` or not.
  ///
  /// - Throws: nothing by itself; what an override throws ends the migration.
  open func createRelationships(
    forDestination dInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {}

  /// Called once after the mapping's last relationship.
  ///
  /// - Throws: nothing by itself; what an override throws ends the migration.
  open func endRelationshipCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {}

  /// Called once when all relationships of the step are there.
  ///
  /// - Throws: nothing by itself; what an override throws ends the migration.
  open func performCustomValidation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {}

  /// Called once at the end of the step.
  ///
  /// - Throws: nothing by itself; what an override throws ends the migration.
  open func end(_ mapping: NSEntityMapping, manager: NSMigrationManager) throws {}
}
