import CoreData

/// The policy of W7 as a class of Core Data: has something to do in all seven calls, and reads the row's group for every
/// row.
final class RowPolicy: NSEntityMigrationPolicy {
  override func begin(_ mapping: NSEntityMapping, with manager: NSMigrationManager) throws { try check(mapping) }

  override func createDestinationInstances(
    forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
    let rows = manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: [sInstance])
    let amount = sInstance.value(forKey: "amount") as? Double ?? 0
    let group = sInstance.value(forKey: "group") as? NSManagedObject
    let weight = group?.value(forKey: "weight") as? Int ?? 1
    rows.first?.setValue(amount * Double(weight), forKey: "amount")
  }

  override func endInstanceCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
    try check(mapping)
  }

  override func createRelationships(
    forDestination dInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    try super.createRelationships(forDestination: dInstance, in: mapping, manager: manager)
    guard !dInstance.objectID.isTemporaryID else { throw CocoaError(.featureUnsupported) }
  }

  override func endRelationshipCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
    try check(mapping)
  }

  override func performCustomValidation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
    try check(mapping)
  }

  override func end(_ mapping: NSEntityMapping, manager: NSMigrationManager) throws { try check(mapping) }

  private func check(_ mapping: NSEntityMapping) throws {
    guard mapping.sourceEntityName == "Row" else { throw CocoaError(.featureUnsupported) }
  }
}
