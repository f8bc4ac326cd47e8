import CoreDataModel
import CoreDataStore

/// A relationship followed back to the first version.
struct RelationshipTrail {
  /// Which places of the links are stored.
  private enum Orders {
    /// In the first version; and those that a version on the way did not keep.
    case followed(first: [Bool], lost: [Bool])
    /// None: the links were keys, and are rows of a join table.
    case none
  }

  /// Its name there.
  let name: String
  private var orders: Orders

  /// Begins with a relationship as it is; nil for one that is not stored.
  init?(_ name: String, of entity: String, in layout: StoreLayout) {
    guard let storage = layout.storage(of: name, entity: entity) else { return nil }
    self.name = name
    let first = layout.orders(storage)
    orders = .followed(first: first, lost: first.map { _ in false })
  }

  var expression: Expression {
    .destinationInstances(ofRelationship: name, source: .keyPath(operand: .variable("source"), path: [name]))
  }

  /// Whether keys of the first version are rows of a join table since.
  var isJoined: Bool { if case .none = orders { true } else { false } }

  /// The trail one step further.
  func continued(
    _ old: String, of entity: String, in source: VersionLayout, as new: String, of newEntity: String,
    in destination: VersionLayout
  ) throws -> RelationshipTrail {
    let (before, after) = (try source.layout(), try destination.layout())
    guard let from = before.storage(of: old, entity: entity), let to = after.storage(of: new, entity: newEntity),
      from.isAlike(to) || from.becomesLinks(to) && source.model.isSingleKey(old, of: entity) && !isOrdered
    else { throw MappingComposition.Obstacle(reason: "\(newEntity).\(new) keeps its links in another way than before") }
    var trail = self
    if !from.isAlike(to) { trail.orders = .none }
    return try trail.keeping(after.orders(to), as: "\(newEntity).\(new)")
  }

  private var isOrdered: Bool { if case .followed(let first, _) = orders { first.contains(true) } else { false } }

  /// The trail, if the latest version stores these orders.
  private func keeping(_ stored: [Bool], as name: String) throws -> RelationshipTrail {
    guard case .followed(let first, var lost) = orders else {
      guard stored.contains(true) else { return self }
      throw MappingComposition.Obstacle(reason: "\(name) is ordered, and its links were keys")
    }
    for (index, isKept) in stored.enumerated() {
      // An order that was lost and rebuilt is not the one that the first version has.
      guard !(first[index] && lost[index] && isKept) else {
        throw MappingComposition.Obstacle(reason: "\(name) is ordered again")
      }
      lost[index] = lost[index] || !isKept
    }
    var trail = self
    trail.orders = .followed(first: first, lost: lost)
    return trail
  }
}

extension ManagedObjectModel {
  /// Whether one key for each link holds a relationship and its inverse.
  fileprivate func isSingleKey(_ name: String, of entity: String) -> Bool {
    guard let inverse = plainInverse(name, of: entity) else { return false }
    return inverse.isToMany != relationship(name, of: entity)?.isToMany
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
