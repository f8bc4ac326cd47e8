import Streams

@testable import CoreDataModel

/// An object by its concrete entity and its key.
struct OracleKey: Hashable, Comparable, CustomStringConvertible {
  var entity: String
  var key: Int64
  static func < (left: Self, right: Self) -> Bool { (left.entity, left.key) < (right.entity, right.key) }
  var description: String { "\(entity)/\(key)" }
}

/// The objects of a store as its model means them: values and, on both sides of every relationship, lists of objects.
struct OracleGraph {
  struct Object {
    var values: [String: Value] = [:]
    var links: [String: [OracleKey]] = [:]
  }

  var model: ManagedObjectModel
  var objects: [OracleKey: Object] = [:]
  /// Ordered relationships whose order nothing determines, because they were not ordered before: `Entity.name`.
  var looseOrders: Set<String> = []
  /// The largest key ever given out, by root entity.
  var largestKeys: [String: Int64] = [:]

  /// Objects of an entity and its sub-entities, by key.
  func objects(of entity: String) -> [OracleKey] {
    let kinds = Set(model.entities.map(\.name).filter { model.isKind($0, of: entity) })
    return objects.keys.filter { kinds.contains($0.entity) }.sorted { $0.key < $1.key }
  }

  mutating func add(_ target: OracleKey, to name: String, of owner: OracleKey) {
    objects[owner]?.links[name, default: []].append(target)
  }

  /// Gives each side of every relationship what only the other one tells.
  mutating func closeInverses() {
    for owner in objects.keys.sorted() {
      for relationship in model.relationships(of: owner.entity) {
        guard let inverse = relationship.inverseName else { continue }
        for target in objects[owner]?.links[relationship.name] ?? [] {
          guard objects[target]?.links[inverse]?.contains(owner) != true else { continue }
          add(owner, to: inverse, of: target)
        }
      }
    }
  }

  /// Required attributes without value and required to-one relationships without object, each as `Entity.property`.
  func unset() -> Set<String> {
    var found: Set<String> = []
    for (key, object) in objects {
      for attribute in model.attributes(of: key.entity) where !attribute.isOptional && !attribute.isTransient {
        if object.values[attribute.name] ?? .null == .null { found.insert("\(key.entity).\(attribute.name)") }
      }
      for relationship in model.relationships(of: key.entity) where !relationship.isOptional && !relationship.isToMany {
        if object.links[relationship.name] ?? [] == [] { found.insert("\(key.entity).\(relationship.name)") }
      }
    }
    return found
  }

  /// Where another graph differs, the first few places: entity, key, property, both values.
  func differences(_ other: OracleGraph) -> [String] {
    var found = Set(objects.keys).subtracting(other.objects.keys).map { "\($0) is missing" }
    found += Set(other.objects.keys).subtracting(objects.keys).map { "\($0) is too much" }
    for (key, object) in objects {
      guard let twin = other.objects[key] else { continue }
      for attribute in model.attributes(of: key.entity) where !attribute.isTransient {
        let (mine, its) = (object.values[attribute.name] ?? .null, twin.values[attribute.name] ?? .null)
        if mine != its { found.append("\(key).\(attribute.name): \(Self.text(mine)), not \(Self.text(its))") }
      }
      for relationship in model.relationships(of: key.entity) {
        let (mine, its) = (
          links(object, relationship, key.entity), other.links(twin, relationship, key.entity, in: self)
        )
        if mine != its { found.append("\(key).\(relationship.name): \(mine), not \(its)") }
      }
    }
    return Array(found.sorted().prefix(8))
  }

  /// The objects of a relationship: in order where there is one, else sorted.
  private func links(
    _ object: Object, _ relationship: RelationshipDescription, _ entity: String, in judge: OracleGraph? = nil
  ) -> [OracleKey] {
    let found = object.links[relationship.name] ?? []
    let isLoose = (judge ?? self).looseOrders.contains("\(entity).\(relationship.name)")
    return relationship.isOrdered && relationship.isToMany && !isLoose ? found : found.sorted()
  }

  private static func text(_ value: Value) -> String {
    let text = "\(value)"
    return text.count > 120 ? "\(text.prefix(120))… (\(text.count))" : text
  }
}

extension AttributeType {
  /// Types whose values are doubles in memory.
  var isReal: Bool { [.double, .float, .decimal, .date].contains(self) }

  /// A value as the graph has it: SQLite keeps whole doubles as integers in some columns.
  func graphValue(_ value: Value) -> Value {
    if isReal, case .integer(let number) = value { return .real(Double(number)) }
    return value
  }
}
