import CoreDataModel
import CoreDataStore
import MappingModels
import RunSupport
import Streams

/// Keys that rules set from the other side of a relationship: each leads to one object, so rules that link two objects
/// with the same one would leave out one of both links.
struct ClaimedKeys {
  private struct Side {
    /// The entity that has the relationship, and its name.
    var entity: String
    var relationship: String
    /// What holds the key, and of which entity.
    var inverse: String
    var destination: String
  }

  /// By table and column of the key.
  private var sides: [Int: [Int: Side]] = [:]

  init(_ plan: StepPlan) {
    for mapping in plan.mappings {
      guard let rules = mapping.mapping.rules else { continue }
      let own = rules.relationships.map(\.name) + rules.objects.compactMap(\.link)
      for name in own { add(name, of: mapping.destination, plan.layout) }
      for rule in rules.objects {
        guard let entity = plan.entities.first(where: { $0.name == rule.entity }) else { continue }
        for relationship in rule.relationships { add(relationship.name, of: entity, plan.layout) }
      }
    }
  }

  private mutating func add(_ name: String, of entity: DestinationEntity, _ layout: StoreLayout) {
    guard let relationship = entity.relationships[name] else { return }
    let place: (table: Int, column: Int)
    switch relationship.storage {
    case .join: return
    case .inverseKey(let table, let column, _), .ownerKey(let table, let column, _): place = (table, column)
    case .ownKey:
      guard relationship.hasToOneInverse, let inverse = relationship.inverse,
        case .ownKey(let table, let column, _, _)? = layout.storage(of: inverse, entity: relationship.destination)
      else { return }
      place = (table, column)
    }
    let inverse = relationship.inverse.map { "\(relationship.destination).\($0)" }
    sides[place.table, default: [:]][place.column] = Side(
      entity: entity.name, relationship: name, inverse: inverse ?? relationship.destination,
      destination: relationship.destination)
  }

  /// Throws `policyFailed` for an object that was given to one object, and now to another one.
  func check(table: Int, column: Int, key: Int64, from old: Value, to new: Value) throws {
    guard old != new, case .integer(let first) = old, case .integer(let second) = new,
      let side = sides[table]?[column]
    else { return }
    throw BatchError(
      .policyFailed,
      "the rules give one object to two: \(side.entity).\(side.relationship) of the objects with the keys \(first) and "
        + "\(second) leads to it, and its inverse \(side.inverse) leads to one",
      hint: "Let the rules of \(side.entity).\(side.relationship) lead to each object once, or make \(side.inverse) a "
        + "to-many relationship in the model",
      entity: side.destination, key: key)
  }
}
