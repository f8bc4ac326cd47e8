import CoreDataModel
import CoreDataStore

/// A relationship followed back to the first version.
struct RelationshipTrail {
  /// Its name there.
  let name: String
  private var firstOrders: [Bool]
  /// Orders that a version on the way did not keep.
  private var lostOrders: [Bool]
  /// Whether keys of the first version are links of a join table since.
  private var hasJoined = false

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
      let trail = from.isAlike(to) ? self : joined(from, to, in: destination)
    else { throw MappingComposition.Obstacle(reason: "\(newEntity).\(new) keeps its links in another way than before") }
    return try trail.ordered(destination.orders(to), as: "\(newEntity).\(new)")
  }

  /// The trail where each key becomes a link of a join table: all links are kept, and one step makes of the first
  /// version what several do. Nil for other changes, and where objects have places: what a step makes of them depends
  /// on more than the links.
  private func joined(
    _ from: RelationshipStorage, _ to: RelationshipStorage, in destination: StoreLayout
  ) -> RelationshipTrail? {
    let orders = destination.orders(to)
    guard from.becomesLinks(to), !firstOrders.contains(true), !orders.contains(true) else { return nil }
    var trail = self
    (trail.firstOrders, trail.lostOrders) = (orders, orders)
    trail.hasJoined = true
    return trail
  }

  /// The trail where the latest version keeps the places that `orders` says.
  private func ordered(_ orders: [Bool], as name: String) throws -> RelationshipTrail {
    var trail = self
    for (index, isKept) in orders.enumerated() {
      // An order that was lost and rebuilt is not the one that the first version has.
      guard !(isKept && (hasJoined || firstOrders[index] && lostOrders[index])) else {
        throw MappingComposition.Obstacle(reason: "\(name) is ordered again")
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

  /// Whether keys of rows become links of a join table.
  fileprivate func becomesLinks(_ other: RelationshipStorage) -> Bool {
    switch (self, other) {
    case (.ownKey, .join), (.inverseKey, .join): true
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
