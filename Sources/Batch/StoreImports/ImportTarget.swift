import CoreDataModel
import Streams

/// The object that a relationship leads to, as a file names it.
enum ImportTarget {
  /// By its key; the entity is nil if the file does not name it.
  case object(entity: String?, key: Int64)
  /// By the value of an attribute.
  case value(attribute: String, Value)

  /// Reads a relationship's value: of a to-one one object, of a to-many a list. `attribute` is the attribute that a
  /// column of CSV names after the relationship. Throws ``ImportProblem``.
  static func read(
    _ value: ImportValue, attribute: String?, of relationship: ImportPlan.Relationship, _ plan: ImportPlan
  ) throws -> [ImportTarget] {
    switch value {
    case .null: return []
    case .list(let members):
      guard relationship.isToMany else {
        throw ImportProblem("\(relationship.name) leads to one object, and the line has a list")
      }
      return try members.map { try target($0, by: attribute, of: relationship, plan) }
    case .field(let text) where relationship.isToMany:
      return try text.split(separator: " ").map {
        try target(.field(String($0)), by: attribute, of: relationship, plan)
      }
    case .boolean, .integer, .real, .text, .field, .object:
      guard !relationship.isToMany else {
        throw ImportProblem("\(relationship.name) leads to many objects, and the line has no list")
      }
      return [try target(value, by: attribute, of: relationship, plan)]
    }
  }

  private static func target(
    _ value: ImportValue, by attribute: String?, of relationship: ImportPlan.Relationship, _ plan: ImportPlan
  ) throws -> ImportTarget {
    if let attribute { return try .value(attribute: attribute, stored(value, by: attribute, of: relationship, plan)) }
    switch value {
    case .integer(let key): return .object(entity: nil, key: key)
    case .field(let text): if let key = Int64(text) { return .object(entity: nil, key: key) } else { fallthrough }
    case .text: return try uri(value, of: relationship, plan)
    case .object(let members): return try object(members, of: relationship, plan)
    case .null, .boolean, .real, .list: throw unreadable(relationship)
    }
  }

  private static func unreadable(_ relationship: ImportPlan.Relationship) -> ImportProblem {
    ImportProblem(
      "\(relationship.name) is read from a key, a URI, {\"entity\", \"key\"}, or {an attribute: its value}")
  }

  /// `x-coredata://UUID/Entity/p7`
  private static func uri(
    _ value: ImportValue, of relationship: ImportPlan.Relationship, _ plan: ImportPlan
  ) throws -> ImportTarget {
    let text =
      switch value {
      case .text(let text), .field(let text): text
      default: ""
      }
    let parts = text.split(separator: "/").map(String.init)
    guard parts.count == 4, parts[0] == "x-coredata:", parts[3].hasPrefix("p"), let key = Int64(parts[3].dropFirst())
    else { throw unreadable(relationship) }
    return try .object(entity: checked(parts[2], of: relationship, plan), key: key)
  }

  private static func object(
    _ members: [ImportValue.Member], of relationship: ImportPlan.Relationship, _ plan: ImportPlan
  ) throws -> ImportTarget {
    var (entity, rest) = (String?.none, members)
    if let place = rest.firstIndex(where: { $0.name == "entity" }), case .text(let name) = rest[place].value {
      entity = try checked(name, of: relationship, plan)
      rest.remove(at: place)
    }
    guard rest.count == 1, let only = rest.first else { throw unreadable(relationship) }
    if only.name == "key", case .integer(let key) = only.value { return .object(entity: entity, key: key) }
    return try .value(attribute: only.name, stored(only.value, by: only.name, of: relationship, plan))
  }

  private static func checked(
    _ entity: String, of relationship: ImportPlan.Relationship, _ plan: ImportPlan
  ) throws -> String {
    guard plan.entities[entity] != nil, plan.layout.model.isKind(entity, of: relationship.destination) else {
      throw ImportProblem("\(relationship.name) leads to objects of \(relationship.destination), not of \(entity)")
    }
    return entity
  }

  private static func stored(
    _ value: ImportValue, by attribute: String, of relationship: ImportPlan.Relationship, _ plan: ImportPlan
  ) throws -> Value {
    guard let found = plan.entities[relationship.destination]?.attributes[attribute] else {
      throw ImportProblem("\(relationship.destination) has no attribute \(attribute)")
    }
    return try found.stored(value)
  }
}
