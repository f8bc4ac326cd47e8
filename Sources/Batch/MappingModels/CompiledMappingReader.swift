import Codecs
import CoreDataModel
import RunSupport

/// Reads compiled mapping models (`.cdm`): the keyed archive of an NSMappingModel (D.5).
///
/// What Xcode writes out for a property that the author left to the default (D.2) becomes the default again, so that
/// both forms of a mapping model give the same one. The bytes come from files of strangers: what is not understood is
/// refused by name, and the budget bounds what objects that are referred to from many places may cost.
struct CompiledMappingReader {
  private static let hashSize = 32
  /// What reading an object costs at least.
  private static let cost = 100

  private let budget = ArchiveBudget()

  /// Throws ``BatchError`` with the code `badMapping` and the path.
  static func read(_ path: String) throws -> MappingModel {
    do {
      return try model(KeyedArchive(PropertyListFile.read(path)), name: PackageFolders.stem(path))
    } catch var error as BatchError {
      error.code = .badMapping
      error.path = error.path ?? path
      error.hint = "Compile the mapping model again, or name its .xcmappingmodel"
      throw error
    }
  }

  /// Throws ``BatchError``; the code says nothing yet.
  static func model(_ archive: KeyedArchive, name: String) throws -> MappingModel {
    try archive.checkReferences()
    guard let root = archive.root, root.className == "NSMappingModel", root["NSEntityMappings"] != nil else {
      throw BatchError(.badMapping, "the archive holds no compiled mapping model")
    }
    let reader = CompiledMappingReader()
    // The second key holds the same mappings by name.
    try reader.check(root, is: "NSMappingModel", keys: ["NSEntityMappings", "NSEntityMappingsByName"])
    var model = MappingModel(name: name, entityMappings: [])
    for object in try reader.list(root, "NSEntityMappings") { try reader.add(object, to: &model) }
    let mappings = model.entityMappings
    for index in mappings.indices { DefaultExpressions(mappings).remove(from: &model.entityMappings[index]) }
    return model
  }

  private func add(_ object: KeyedObject, to model: inout MappingModel) throws {
    try check(
      object, is: "NSEntityMapping",
      keys: [
        "NSMappingName", "NSMappingType", "NSSourceEntityName", "NSSourceEntityVersionHash", "NSSourceExpression",
        "NSDestinationEntityName", "NSDestinationEntityVersionHash", "NSEntityMigrationPolicyClassName", "NSUserInfo",
        "NSAttributeMappings", "NSRelationshipMappings",
      ])
    let name = try text(object, "NSMappingName")
    do {
      guard let mapping = try entityMapping(object, name: name) else { return }
      model.entityMappings.append(mapping)
      try note(object["NSSourceEntityVersionHash"], of: mapping.sourceEntity, in: &model.sourceHashes)
      try note(object["NSDestinationEntityVersionHash"], of: mapping.destinationEntity, in: &model.destinationHashes)
    } catch var error as BatchError {
      error.entity = error.entity ?? name
      throw error
    }
  }

  /// Nil for a mapping of nothing to nothing, which does nothing.
  private func entityMapping(_ object: KeyedObject, name: String?) throws -> EntityMapping? {
    let source = try text(object, "NSSourceEntityName")
    let destination = try text(object, "NSDestinationEntityName")
    let policy = try text(object, "NSEntityMigrationPolicyClassName")
    guard source != nil || destination != nil || policy != nil else { return nil }
    try checkKind(object, source: source, destination: destination)
    var mapping = EntityMapping(name: name, sourceEntity: source, destinationEntity: destination)
    mapping.policyClassName = policy
    mapping.filterPredicate = try filter(object, source: source, isRemoval: destination == nil)
    mapping.userInfo = try userInfo(object)
    mapping.attributeMappings = try propertyMappings(object, "NSAttributeMappings")
    mapping.relationshipMappings = try propertyMappings(object, "NSRelationshipMappings")
    return mapping
  }

  /// The kinds of NSEntityMappingType: 2 adds objects and has no source, 3 removes them and has no destination.
  private func checkKind(_ object: KeyedObject, source: String?, destination: String?) throws {
    guard source != nil || destination != nil else {
      throw BatchError(.badMapping, "an entity mapping names neither a source nor a destination")
    }
    let kind = object["NSMappingType"]?.integer ?? 0
    guard 0...5 ~= kind, kind != 2 || source == nil, kind != 3 || destination == nil else {
      throw BatchError(.badMapping, "the kind \(kind) of the entity mapping does not fit its entities")
    }
  }

  /// The predicate of the request for the source's objects; nil if it takes all of them.
  private func filter(_ object: KeyedObject, source: String?, isRemoval: Bool) throws -> String? {
    guard let archived = object["NSSourceExpression"] else {
      guard source == nil || isRemoval else {
        throw BatchError(.badMapping, "no expression says which objects to take")
      }
      return nil
    }
    guard
      case .fetch(
        .function(.variable("manager"), "fetchRequestForSourceEntityNamed:predicateString:", let arguments), _, false) =
        try expression(archived, of: "the source"), arguments.count == 2,
      case .constant(.text(let entity)) = arguments[0], case .constant(.text(let predicate)) = arguments[1]
    else { throw BatchError(.badMapping, "the source's objects are not taken by a request with a predicate") }
    guard entity == source else {
      throw BatchError(.badMapping, "the source's objects are those of another entity, \(entity)")
    }
    return predicate.isEmpty || predicate == "TRUEPREDICATE" ? nil : predicate
  }

  private func propertyMappings(_ object: KeyedObject, _ key: String) throws -> [PropertyMapping] {
    try list(object, key).compactMap { property in
      // Transforms belong to no class that Xcode shows, and nothing reads what is noted of a single property.
      try check(
        property, is: "NSPropertyMapping", keys: ["NSDestinationPropertyName", "NSValueExpression", "NSUserInfo"])
      // A mapping without name lost its property in the destination model; there is nothing it could set.
      guard let name = try text(property, "NSDestinationPropertyName") else { return nil }
      return PropertyMapping(
        name: name, valueExpression: try property["NSValueExpression"].map { try expression($0, of: name) })
    }
  }

  private func expression(_ object: KeyedObject, of name: String) throws -> CoreDataModel.Expression {
    do { return try ExpressionArchiveReader.expression(object, budget: budget) } catch let damage as ExpressionDamage {
      throw BatchError(.badMapping, "the value expression of \(name) cannot be read: it \(damage)")
    }
  }

  private func note(_ object: KeyedObject?, of entity: String?, in hashes: inout [String: [UInt8]]) throws {
    guard let object, let entity else { return }
    guard let hash = object.data, hash.count == Self.hashSize else {
      throw BatchError(.badMapping, "the version hash of \(entity) is not \(Self.hashSize) bytes")
    }
    guard hashes.updateValue(hash, forKey: entity).map({ $0 == hash }) ?? true else {
      throw BatchError(.badMapping, "two version hashes are given for \(entity)")
    }
  }
}

extension CompiledMappingReader {
  /// Refuses another class, and fields that say something and are not known.
  private func check(_ object: KeyedObject, is name: String, keys: Set<String>) throws {
    try budget.spend(Self.cost + object.memberCount)
    guard object.className == name else {
      let found = object.className?.prefix(80) ?? "value"
      throw BatchError(.badMapping, "the archive holds a \(found) in place of a \(name)")
    }
    let unknown = object.keys.subtracting(keys).subtracting(["$class"]).filter { object[$0] != nil }.min()
    guard let unknown else { return }
    throw BatchError(.badMapping, "a \(name) has the field \(unknown.prefix(80)), which is not supported")
  }

  /// Nil when it is missing or empty.
  private func text(_ object: KeyedObject, _ key: String) throws -> String? {
    guard let value = object[key] else { return nil }
    guard let text = value.string else { throw BatchError(.badMapping, "\(key) is no text") }
    try budget.spend(text.utf8.count)
    return text.isEmpty ? nil : text
  }

  private func list(_ object: KeyedObject, _ key: String) throws -> [KeyedObject] {
    guard let value = object[key] else { return [] }
    try budget.spend(value.memberCount)
    guard let members = value.array, members.count == value.memberCount else {
      throw BatchError(.badMapping, "\(key) is no list")
    }
    return members
  }

  private func userInfo(_ object: KeyedObject) throws -> [String: String] {
    guard let value = object["NSUserInfo"] else { return [:] }
    try budget.spend(value.memberCount)
    guard let info = value.userInfo else { throw BatchError(.badMapping, "NSUserInfo is no dictionary") }
    try budget.spend(info.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count })
    return info
  }
}

/// What Xcode writes for properties that the author left to the default.
private struct DefaultExpressions {
  /// Entity mappings that are the only one of their source.
  private let alone: Set<String>

  init(_ mappings: [EntityMapping]) {
    let counts = mappings.reduce(into: [:]) { $0[$1.sourceEntity, default: 0] += 1 }
    let names = mappings.reduce(into: [:]) { $0[$1.name, default: 0] += 1 }
    alone = Set(mappings.filter { counts[$0.sourceEntity] == 1 && names[$0.name] == 1 }.map(\.name))
  }

  func remove(from mapping: inout EntityMapping) {
    for index in mapping.attributeMappings.indices
    where mapping.attributeMappings[index].valueExpression == Self.same(mapping.attributeMappings[index].name) {
      mapping.attributeMappings[index].valueExpression = nil
    }
    for index in mapping.relationshipMappings.indices where isDefault(mapping.relationshipMappings[index]) {
      mapping.relationshipMappings[index].valueExpression = nil
    }
  }

  private static func same(_ name: String) -> CoreDataModel.Expression {
    .keyPath(operand: .variable("source"), path: [name])
  }

  /// Objects that the only mapping of an entity made of the source's objects are all that were made of them.
  private func isDefault(_ property: PropertyMapping) -> Bool {
    guard case .function(_, _, let arguments) = property.valueExpression,
      case .constant(.text(let name))? = arguments.first, alone.contains(name)
    else { return false }
    return property.valueExpression == .destinationInstances(ofMapping: name, source: Self.same(property.name))
  }
}
