import Streams

/// One inferred step, as a composition looks at it.
struct ComposedStep {
  let source: StoreLayout
  let destination: StoreLayout
  /// By source entity, the destination entity of its objects.
  let heirs: [String: String]

  /// Do the rows of every table go into one table, and no others into that?
  var keepsTables: Bool {
    var targets: [Int: Int] = [:]
    for (old, new) in heirs {
      guard let from = source.tablePosition(ofEntity: old), let to = destination.tablePosition(ofEntity: new) else {
        return false
      }
      if let known = targets[from], known != to { return false }
      targets[from] = to
    }
    return Set(targets.values).count == targets.count
  }

  /// Orders destination entities as the step makes their objects: table by table of the source, by first mention, the tables
  /// of entities without objects included.
  func ordered(_ destinations: [String], _ sources: [String]) -> [String] {
    var mentions: [Int: Int] = [:]
    let ranks = sources.enumerated().map { index, name in
      let table = source.tablePosition(ofEntity: name) ?? 0
      let rank = mentions[table] ?? index
      mentions[table] = rank
      return rank
    }
    return zip(ranks, destinations).enumerated().sorted { ($0.element.0, $0.offset) < ($1.element.0, $1.offset) }.map(\.element.1)
  }

  /// Which of the source entity's attributes a mapping copies, down to the element that `rest` names; nil for a new value.
  func source(
    _ property: PropertyMapping, _ attributes: [String: AttributeDescription], _ rest: Substring
  ) throws -> (path: String, attribute: AttributeDescription)? {
    let path: String
    switch property.valueExpression {
    case nil: path = property.name + rest
    case .keyPath(.variable("source"), let names) where names.count == 1: path = names[0] + rest
    case .constant: return nil
    case .some(let expression): throw MappingComposition.Obstacle(reason: "\(property.name) is computed by \(expression)")
    }
    return attributes[path].map { (path, $0) }
  }

  /// The value, as stored, of an attribute that is taken from no other.
  func constant(_ property: PropertyMapping?, _ attribute: AttributeDescription) throws -> Value {
    if case .constant(let value) = property?.valueExpression { return attribute.type.stored(value) }
    return attribute.defaultValue.map(attribute.type.stored) ?? .null
  }

  /// The source relationship that a relationship mapping carries over; nil for none.
  func relationship(_ property: PropertyMapping, _ entity: String) throws -> String? {
    switch property.valueExpression {
    case nil: return source.model.relationship(property.name, of: entity) == nil ? nil : property.name
    case .constant(.null): return nil
    case .function(
      .some(.variable("manager")), "destinationInstancesForSourceRelationshipNamed:sourceInstances:", let arguments):
      if arguments.count == 2, case .keyPath(.variable("source"), let path) = arguments[1], path.count == 1 { return path[0] }
    default: break
    }
    throw MappingComposition.Obstacle(reason: "\(property.name) is computed")
  }

  /// Makes sure that whatever a relationship leads to is still led to, or is gone with its entity.
  func checkHeirs(of name: String, _ entity: String, as newName: String, _ newEntity: String) throws {
    guard let old = source.model.relationship(name, of: entity),
      let new = destination.model.relationship(newName, of: newEntity)
    else { throw MappingComposition.Obstacle(reason: "\(name) is not known") }
    for candidate in source.model.entities where source.model.isKind(candidate.name, of: old.destinationEntity) {
      guard let heir = heirs[candidate.name] else { continue }
      guard destination.model.isKind(heir, of: new.destinationEntity) else {
        throw MappingComposition.Obstacle(reason: "\(newName) has no place for objects of \(heir)")
      }
    }
  }
}

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
    _ old: String, of entity: String, in source: StoreLayout, as new: String, of newEntity: String, in destination: StoreLayout
  ) throws -> RelationshipTrail {
    guard let from = source.storage(of: old, entity: entity), let to = destination.storage(of: new, entity: newEntity),
      from.isAlike(to)
    else { throw MappingComposition.Obstacle(reason: "\(newEntity).\(new) keeps its links in another way than before") }
    var trail = self
    for (index, isKept) in destination.orders(to).enumerated() {
      // An order that was lost and made anew is not the one that the first version has.
      guard !(firstOrders[index] && lostOrders[index] && isKept) else {
        throw MappingComposition.Obstacle(reason: "\(newEntity).\(new) is ordered again")
      }
      trail.lostOrders[index] = trail.lostOrders[index] || !isKept
    }
    return trail
  }
}

extension RelationshipStorage {
  /// Are links kept in the same way: on this side, on the other side, or in a join table?
  fileprivate func isAlike(_ other: RelationshipStorage) -> Bool {
    switch (self, other) {
    case (.ownKey, .ownKey), (.inverseKey, .inverseKey), (.ownerKey, .ownerKey), (.join, .join): true
    default: false
    }
  }
}

extension StoreLayout {
  /// Which places of links are stored: of the others among the owner's, in a join table also of the owner among the others'.
  fileprivate func orders(_ storage: RelationshipStorage) -> [Bool] {
    switch storage {
    case .ownKey(_, _, _, let order), .inverseKey(_, _, let order), .ownerKey(_, _, let order): return [order != nil]
    case .join(let table, let ownerIsSource):
      let (source, destination) = (joinTables[table].sourceOrderColumn, joinTables[table].destinationOrderColumn)
      return ownerIsSource ? [destination != nil, source != nil] : [source != nil, destination != nil]
    }
  }
}
