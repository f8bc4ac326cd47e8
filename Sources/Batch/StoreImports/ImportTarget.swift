import CoreDataModel
import Streams

/// The object that a relationship leads to, as a file names it.
enum ImportTarget {
  /// By its key; the entity is nil if the file does not name it.
  case object(entity: String?, key: Int64)
  /// By the value of an attribute.
  case value(attribute: String, Value)

}

/// Reads the value of a relationship.
struct ImportTargetReader {
  let relationship: ImportPlan.Relationship
  /// The attribute that a column of CSV names after the relationship.
  let attribute: String?
  let plan: ImportPlan
  let uris: ImportURIs

  /// Of a to-one one object, of a to-many a list. Throws ``ImportProblem``.
  func read(_ value: ImportValue) throws -> [ImportTarget] {
    switch value {
    case .null: return []
    case .list(let members):
      guard relationship.isToMany else {
        throw ImportProblem("\(relationship.name) leads to one object, and the line has a list")
      }
      return try members.map(target)
    case .field(let text) where relationship.isToMany:
      return try text.split(separator: " ").map { try target(.field(String($0))) }
    case .boolean, .integer, .real, .text, .field, .object:
      guard !relationship.isToMany else {
        throw ImportProblem("\(relationship.name) leads to many objects, and the line has no list")
      }
      return [try target(value)]
    }
  }

  private func target(_ value: ImportValue) throws -> ImportTarget {
    if let attribute { return try .value(attribute: attribute, stored(value, by: attribute)) }
    switch value {
    case .integer(let key): return try object(nil, key)
    case .field(let text): return try Int64(text).map { try object(nil, $0) } ?? uri(field: text)
    case .text(let text): return try uri(text)
    case .object(let members): return try object(members)
    case .null, .boolean, .real, .list: throw unreadable
    }
  }

  private var unreadable: ImportProblem {
    ImportProblem(
      "\(relationship.name) is read from a key, a URI, {\"entity\", \"key\"}, or {an attribute: its value}")
  }

  /// The same of a field of CSV; a long one is shortened.
  private func unreadable(field: String) -> ImportProblem {
    let shown = field.count <= 40 ? "\"\(field)\"" : "\"\(field.prefix(40))…\""
    let forms = relationship.isToMany ? "keys or URIs, with blanks between them" : "a key or a URI"
    return ImportProblem(
      "\(relationship.name) is read from \(forms), and \(shown) is none; "
        + "a column \(relationship.name).ATTRIBUTE takes values of a unique attribute")
  }

  private func object(_ entity: String?, _ key: Int64) throws -> ImportTarget {
    guard key > 0 else { throw ImportProblem("\(relationship.name) leads to the key \(key), and keys are above 0") }
    return .object(entity: entity, key: key)
  }

  private func uri(field text: String) throws -> ImportTarget {
    guard text.hasPrefix("x-coredata:") else { throw unreadable(field: text) }
    return try uri(text)
  }

  private func uri(_ text: String) throws -> ImportTarget {
    guard text.hasPrefix("x-coredata:") else { throw unreadable }
    let (entity, key) = try uris.read(text)
    return try object(checked(entity), key)
  }

  private func object(_ members: [ImportValue.Member]) throws -> ImportTarget {
    var (entity, rest) = (String?.none, members)
    if let place = rest.firstIndex(where: { $0.name == "entity" }), case .text(let name) = rest[place].value {
      entity = try checked(name)
      rest.remove(at: place)
    }
    guard rest.count == 1, let only = rest.first else { throw unreadable }
    switch (only.name, only.value) {
    case ("key", .integer(let key)): return try object(entity, key)
    case ("uri", .text(let text)) where takesURI(entity): return try checked(uri(text), by: text, of: entity)
    case ("uri", .field(let text)) where takesURI(entity): return try checked(uri(field: text), by: text, of: entity)
    default: return try .value(attribute: only.name, stored(only.value, by: only.name))
    }
  }

  private func takesURI(_ entity: String?) -> Bool {
    entity != nil && plan.entities[relationship.destination]?.attributes["uri"] == nil
  }

  private func checked(_ target: ImportTarget, by uri: String, of entity: String?) throws -> ImportTarget {
    guard case .object(entity, _) = target else {
      throw ImportProblem("\(relationship.name) leads to \(uri), and its entity is said to be \(entity ?? "")")
    }
    return target
  }

  private func checked(_ entity: String) throws -> String {
    guard plan.entities[entity] != nil, plan.layout.model.isKind(entity, of: relationship.destination) else {
      throw ImportProblem("\(relationship.name) leads to objects of \(relationship.destination), not of \(entity)")
    }
    return entity
  }

  private func stored(_ value: ImportValue, by attribute: String) throws -> Value {
    guard let found = plan.entities[relationship.destination]?.attributes[attribute] else {
      throw ImportProblem("\(relationship.destination) has no attribute \(attribute)")
    }
    let stored = try found.stored(value)
    guard stored != .null else {
      throw ImportProblem("\(relationship.name) leads to the object whose \(attribute) is null")
    }
    return stored
  }
}
