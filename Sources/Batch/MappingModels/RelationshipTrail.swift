import CoreDataModel
import CoreDataStore

/// A relationship followed back to the first version.
struct RelationshipTrail {
  /// Its name there.
  let name: String
  private let firstOrders: [Bool]
  /// Orders that a version on the way did not keep.
  private var lostOrders: [Bool]

  /// Begins with a relationship as it is; nil for one that is not stored.
  init?(_ name: String, of entity: String, in layout: StoreLayout) {
    guard let storage = layout.storage(of: name, entity: entity) else { return nil }
    self.name = name
    firstOrders = layout.orders(storage)
    lostOrders = firstOrders.map { _ in false }
  }

  var expression: Expression {
    .destinationInstances(ofRelationship: name, source: .keyPath(operand: .variable("source"), path: [name]))
  }

  /// The trail one step further.
  func continued(
    _ old: String, of entity: String, in source: VersionLayout, as new: String, of newEntity: String,
    in destination: VersionLayout
  ) throws -> RelationshipTrail {
    let (source, destination) = (try source.layout(), try destination.layout())
    guard let from = source.storage(of: old, entity: entity), let to = destination.storage(of: new, entity: newEntity),
      from.isAlike(to)
    else { throw MappingComposition.Obstacle(reason: "\(newEntity).\(new) keeps its links in another way than before") }
    var trail = self
    for (index, isKept) in destination.orders(to).enumerated() {
      // An order that was lost and rebuilt is not the one that the first version has.
      guard !(firstOrders[index] && lostOrders[index] && isKept) else {
        throw MappingComposition.Obstacle(reason: "\(newEntity).\(new) is ordered again")
      }
      trail.lostOrders[index] = trail.lostOrders[index] || !isKept
    }
    return trail
  }
}

extension RelationshipStorage {
  /// Whether links are kept in the same way: on this side, on the other side, or in a join table.
  fileprivate func isAlike(_ other: RelationshipStorage) -> Bool {
    switch (self, other) {
    case (.ownKey, .ownKey), (.inverseKey, .inverseKey), (.ownerKey, .ownerKey), (.join, .join): true
    default: false
    }
  }
}

extension StoreLayout {
  /// Which places of links are stored: of the others among the owner's, in a join table also of the owner among the
  /// others'.
  fileprivate func orders(_ storage: RelationshipStorage) -> [Bool] {
    switch storage {
    case .ownKey(_, _, _, let order), .inverseKey(_, _, let order), .ownerKey(_, _, let order): return [order != nil]
    case .join(let table, let ownerIsSource):
      let (source, destination) = (joinTables[table].sourceOrderColumn, joinTables[table].destinationOrderColumn)
      return ownerIsSource ? [destination != nil, source != nil] : [source != nil, destination != nil]
    }
  }
}
