import CoreDataModel
import CoreDataStore

extension DestinationEntity {
  /// All entities of a step's destination; the same for all stores that take it, but where the layout is the store's
  /// own.
  static func all(of step: MigrationStep, layout: StoreLayout) throws -> [DestinationEntity] {
    let make = { try layout.entityNames.map { try DestinationEntity(name: $0, layout: layout) } }
    return step.isIdentity ? try make() : try step.destination.remembered(ModelFacts.destinationEntities, make: make)
  }
}

extension ModelFacts {
  fileprivate static let destinationEntities = Key<[DestinationEntity]>("entities of a destination")
}
