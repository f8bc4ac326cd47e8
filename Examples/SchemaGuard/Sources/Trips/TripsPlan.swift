import Foundation
import SwiftData

/// How stores of each version become the next one.
enum TripsPlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [SchemaV1.self, SchemaV2.self, SchemaV3.self] }
  static var stages: [MigrationStage] { [first, second] }

  static let first = MigrationStage.lightweight(fromVersion: SchemaV1.self, toVersion: SchemaV2.self)

  /// SwiftData gives all trips one identifier, the default: each gets its own here, and in Mappings/Identifiers.yaml.
  static let second = MigrationStage.custom(
    fromVersion: SchemaV2.self, toVersion: SchemaV3.self, willMigrate: nil,
    didMigrate: { context in
      for trip in try context.fetch(FetchDescriptor<SchemaV3.Trip>()) { trip.id = UUID() }
      try context.save()
    })
}
