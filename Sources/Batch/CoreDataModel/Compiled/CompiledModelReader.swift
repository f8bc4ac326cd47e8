import Codecs
import RunSupport

/// Reads compiled models: the keyed archive of an NSManagedObjectModel, as `.mom` files and model caches hold it (C.4).
///
/// Archives keep properties in no order of meaning, so they come sorted by name. What cannot be known from an archive
/// keeps its default: Xcode's own settings, `syncable`, names of composites. What is not understood is named in
/// ``ManagedObjectModel/unknownElements``.
struct CompiledModelReader {
  private static let mostEntities = 10_000
  private static let mostAncestors = 64
  private static let mostInherited = 2_000_000
  private static let mostUnknown = 100

  let budget = ArchiveBudget()
  var unknown: [String] = []

  /// Reads a binary archive. Throws ``BatchError`` with the code `badModel`.
  static func read(_ bytes: [UInt8], name: String) throws -> ManagedObjectModel {
    try read(KeyedArchive(bytes), name: name)
  }

  static func read(_ archive: KeyedArchive, name: String) throws -> ManagedObjectModel {
    guard let root = archive.root, root.className == "NSManagedObjectModel" || root["NSEntities"] != nil else {
      throw BatchError(.badModel, "the archive holds no compiled model")
    }
    var reader = CompiledModelReader()
    return try reader.model(root, name: name)
  }

  private mutating func model(_ root: KeyedObject, name: String) throws -> ManagedObjectModel {
    var fields = ArchivedFields(root, place: "model", budget: budget)
    let objects = try fields.entries("NSEntities").map(\.value)
    guard objects.count <= Self.mostEntities else {
      throw fields.problem("has more than \(Self.mostEntities) entities")
    }
    var model = ManagedObjectModel(name: name, entities: try ownProperties(objects.map { try entity($0) }))
    try checkInheritance(model)
    model.versionIdentifiers = try fields.list("NSVersionIdentifiers").compactMap(\.string)
      .sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    for (name, members) in try fields.entries("NSConfigurations") {
      model.configurations[name] = try fields.members(of: members)
        .compactMap { $0["NSEntityName"]?.string ?? $0.string }.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }
    for (name, request) in try fields.entries("NSFetchRequestTemplates") {
      model.fetchRequestTemplates[name] = try fetchRequest(request, place: "fetch request \(name)")
    }
    finish(&fields)
    model.unknownElements = Array(unknown.prefix(Self.mostUnknown))
    return model
  }

  /// Names what was left over of an object.
  mutating func finish(_ fields: inout ArchivedFields) {
    if unknown.count < Self.mostUnknown { unknown += (try? fields.unknown()) ?? [] }
  }

  /// An entity with all of its properties, the inherited ones too.
  private mutating func entity(_ object: KeyedObject) throws -> EntityDescription {
    guard let name = object["NSEntityName"]?.string, !name.isEmpty else {
      throw BatchError(.badModel, "an entity of the compiled model has no name")
    }
    try budget.spend(name.utf8.count)
    var fields = ArchivedFields(object, place: "entity \(name)", budget: budget)
    var entity = EntityDescription(name: name)
    for key in ["NSEntityName", "NSManagedObjectModel", "NSSubentities"] { _ = fields.take(key) }
    entity.superentity = fields.take("NSSuperentity")?["NSEntityName"]?.string
    entity.isAbstract = fields.flag("NSIsAbstract")
    entity.managedObjectClassName = try fields.text("NSClassNameForEntity")
    entity.versionHashModifier = try fields.text("NSVersionHashModifier")
    entity.renamingIdentifier = try fields.text("NSRenamingIdentifier")
    if entity.renamingIdentifier == name { entity.renamingIdentifier = nil }
    entity.userInfo = try fields.userInfo()
    entity.uniquenessConstraints = try fields.list("NSUniqueTuples").map { try fields.texts(of: $0) }
    entity.compoundIndexes = try fields.list("NSCompoundIndexes").map { try fields.texts(of: $0) }
    entity.indexes = try fields.list("NSFetchIndexDescriptions").map { try index($0, entity: name) }
    for (key, property) in try fields.entries("NSProperties").sorted(by: {
      $0.key.utf8.lexicographicallyPrecedes($1.key.utf8)
    }) {
      try add(property, key: key, to: &entity)
    }
    finish(&fields)
    return entity
  }

  private mutating func add(_ property: KeyedObject, key: String, to entity: inout EntityDescription) throws {
    // A stand-in of an inherited property; nothing else points on.
    let object = property["NSUnderlyingProperty"] ?? property
    let name = object["NSPropertyName"]?.string ?? key
    let fields = ArchivedFields(object, place: "\(entity.name).\(name)", budget: budget)
    switch object.className {
    case "NSRelationshipDescription": entity.relationships.append(try relationship(fields, name: name))
    case "NSFetchedPropertyDescription": entity.fetchedProperties.append(try fetchedProperty(fields, name: name))
    default: entity.attributes.append(try attribute(fields, name: name))
    }
  }

  /// Sub-entities repeat what they inherit; only what no parent has is theirs.
  private func ownProperties(_ entities: [EntityDescription]) throws -> [EntityDescription] {
    var names: [String: Set<String>] = [:]
    var parents: [String: String] = [:]
    for entity in entities {
      names[entity.name] = Set(
        entity.attributes.map(\.name) + entity.relationships.map(\.name) + entity.fetchedProperties.map(\.name))
      parents[entity.name] = entity.superentity
    }
    return try entities.map { entity in
      var own = entity
      for parent in try Self.chain(from: entity.name, parents) {
        guard let inherited = names[parent] else { continue }
        own.attributes.removeAll { inherited.contains($0.name) }
        own.relationships.removeAll { inherited.contains($0.name) }
        own.fetchedProperties.removeAll { inherited.contains($0.name) }
      }
      return own
    }
  }

  /// The parents of an entity, nearest first; a ring ends at its first repetition.
  private static func chain(from name: String, _ parents: [String: String]) throws -> [String] {
    var chain: [String] = []
    var seen: Set<String> = [name]
    var next = parents[name]
    while let parent = next, seen.insert(parent).inserted {
      chain.append(parent)
      guard chain.count <= mostAncestors else {
        throw BatchError(.badModel, "the entity has more than \(mostAncestors) ancestors", entity: name)
      }
      next = parents[parent]
    }
    return chain
  }

  private func checkInheritance(_ model: ManagedObjectModel) throws {
    var total = 0
    for entity in model.entities {
      for ancestor in model.ancestors(of: entity.name) {
        total += ancestor.attributes.count + ancestor.relationships.count
      }
      guard total <= Self.mostInherited else { throw BatchError(.badModel, "the model's entities inherit too much") }
    }
  }
}
