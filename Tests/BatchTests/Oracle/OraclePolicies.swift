import Streams

@testable import CoreDataModel
@testable import MappingModels
@testable import Migrations
@testable import RunSupport

/// What the policies of random mapping models do, for the engine; below, the same for the reference migrator. The
/// mapping's user info has `kind` and the names it works with.
struct OraclePolicy: EntityMigrationPolicy {
  /// - distinct: an object for every value of `attribute`, related by `link`;
  /// - members: an object for every object of `relationship`;
  /// - drop: every third object is left out;
  /// - function: nothing but ``value(ofFunction:arguments:source:manager:)``.
  static func kind(_ mapping: EntityMapping) -> String { mapping.userInfo["kind"] ?? "" }

  static func isDropped(_ key: Int64) -> Bool { key % 3 == 0 }

  static func triple(_ value: Value) -> Value {
    guard case .integer(let number) = value else { return .null }
    return .integer(number &* 3)
  }

  func lookups(for mapping: EntityMapping) -> [Lookup] {
    guard Self.kind(mapping) == "distinct", let entity = mapping.userInfo["entity"] else { return [] }
    return [Lookup(entity: entity, attribute: "name")]
  }

  func createDestinationInstances(
    forSource source: SourceObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {
    if Self.kind(mapping) == "drop", Self.isDropped(source.key) { return }
    let object = try manager.createDestinationInstance(forSource: source, in: mapping)
    let info = mapping.userInfo
    switch (Self.kind(mapping), info["entity"], info["attribute"], info["relationship"], info["link"]) {
    case ("distinct", let entity?, let attribute?, _, let link?):
      // Both ways to find one.
      let found =
        source.key % 2 == 0
        ? try manager.findOrCreate(entity, where: "name", from: source, attribute)
        : try source.string(attribute).map { try manager.findOrCreate(entity, where: "name", is: .text($0)) }
      if let found { try object.set(link, to: found) }
    case ("members", let entity?, _, let relationship?, _):
      for (place, member) in try source.objects(relationship).enumerated() {
        let new = try manager.insert(entity: entity)
        try new.set("place", .integer(Int64(place)))
        try new.set("memberKey", .integer(member.key))
        try new.set("holder", to: object)
      }
    default: break
    }
  }

  func value(ofFunction name: String, arguments: [Value], source: SourceObject, manager: MigrationManager) throws
    -> Value
  {
    Self.triple(arguments.first ?? .null)
  }
}

/// Changes objects that are written already: the mapping's own ones, and those that a relationship leads to.
struct OracleLatePolicy: EntityMigrationPolicy {
  let createsRelationships = true

  func createRelationships(
    forDestination destination: DestinationObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {
    guard let source = try manager.sourceInstance(forEntityMappingNamed: mapping.name, destination: destination) else {
      throw BatchError(.policyFailed, "the object has no source")
    }
    try destination.set("late", .integer(source.key &* 3))
    guard let relationship = mapping.userInfo["relationship"] else { return }
    let others = try manager.destinationInstances(
      forSourceRelationshipNamed: relationship, sourceInstances: [source])
    for other in others { try other.set("touched", .integer(source.key)) }
  }
}

extension OracleMigrator {
  func leavesOut(_ mapping: EntityMapping, _ key: OracleKey) -> Bool {
    OraclePolicy.kind(mapping) == "drop" && OraclePolicy.isDropped(key.key)
  }

  mutating func createMore(_ mapping: EntityMapping, _ key: OracleKey, _ new: OracleKey) {
    let info = mapping.userInfo
    switch (OraclePolicy.kind(mapping), info["entity"], info["attribute"], info["relationship"], info["link"]) {
    case ("distinct", let entity?, let attribute?, _, let link?):
      guard let value = source.objects[key]?.values[attribute], value != .null else { return }
      let old = result.objects(of: entity).first { result.objects[$0]?.values["name"] == value }
      let found = old ?? insert(entity)
      result.objects[found]?.values["name"] = value
      result.objects[new]?.links[link] = [found]
    case ("members", let entity?, _, let relationship?, _):
      let isOrdered = source.model.relationship(relationship, of: key.entity)?.isOrdered == true
      let members = source.objects[key]?.links[relationship] ?? []
      for (place, member) in (isOrdered ? members : members.sorted { $0.key < $1.key }).enumerated() {
        let made = insert(entity)
        result.objects[made]?.values["place"] = .integer(Int64(place))
        result.objects[made]?.values["memberKey"] = .integer(member.key)
        result.objects[made]?.links["holder"] = [new]
      }
    default: break
    }
  }

  mutating func changeLate(_ mapping: EntityMapping) {
    guard mapping.policyClassName == OracleLatePolicy.className, let entity = mapping.sourceEntity else { return }
    for key in source.objects(of: entity) where key.entity == entity {
      result.objects[instance(mapping, key)]?.values["late"] = .integer(key.key &* 3)
      guard let relationship = mapping.userInfo["relationship"] else { continue }
      for other in source.objects[key]?.links[relationship] ?? [] {
        guard let target = mappings.first(where: { $0.sourceEntity == other.entity }) else { continue }
        result.objects[instance(target, other)]?.values["touched"] = .integer(key.key)
      }
    }
  }
}
