import Batch
import BatchCommand
import CoreData

enum RowPolicyDefinition: PolicyDefinition {
  static var className: String { "RowPolicy" }
  static func make() -> NSEntityMigrationPolicy { RowPolicy() }
}

GodwitCommand.main(policies: [CoreDataPolicy<RowPolicyDefinition>.self])
