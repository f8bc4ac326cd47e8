import Batch
import Streams

/// The policy of W7: has something to do in all seven calls, and reads the row's group for every row.
struct RowPolicy: EntityMigrationPolicy {
  var createsRelationships: Bool { true }

  func begin(_ mapping: EntityMapping, with manager: MigrationManager) throws { try check(mapping) }

  func createDestinationInstances(
    forSource source: SourceObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {
    let row = try manager.createDestinationInstance(forSource: source, in: mapping)
    let amount = try source.double("amount") ?? 0
    let weight = try source.object("group")?.integer("weight") ?? 1
    try row.set("amount", .real(amount * Double(weight)))
  }

  func endInstanceCreation(forMapping mapping: EntityMapping, manager: MigrationManager) throws { try check(mapping) }

  func createRelationships(
    forDestination destination: DestinationObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {
    // The key is all that most policies need here: what it decides is rare.
    guard destination.key > 0 else { throw BatchError(.policyFailed, "a row without key") }
  }

  func endRelationshipCreation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {
    try check(mapping)
  }

  func performCustomValidation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {
    try check(mapping)
  }

  func end(_ mapping: EntityMapping, manager: MigrationManager) throws { try check(mapping) }

  private func check(_ mapping: EntityMapping) throws {
    guard mapping.sourceEntity == "Row" else { throw BatchError(.policyFailed, "the policy is made for rows") }
  }
}
