import Codecs

/// Writes compiled models as Core Data itself archives them in model caches: the same classes and keys, sub-entities
/// with copies of what they inherit (C.4). Measured on the caches of real stores.
struct CompiledModelWriter {
  /// A property of an entity, an inherited one included, that other objects refer to.
  struct Place: Hashable {
    let entity: String
    let property: String
  }

  let model: ManagedObjectModel
  var builder = ArchiveBuilder()
  let root: Int
  private(set) var entityNumbers: [String: Int] = [:]
  private(set) var propertyNumbers: [Place: Int] = [:]
  /// What has no place in an archive, each with its entity and property.
  var leftOut: [String] = []

  /// The archive, and what could not be put into it; the same bytes in whichever order the model declares its
  /// properties. The model must be valid.
  static func write(_ model: ManagedObjectModel) -> (bytes: [UInt8], leftOut: [String]) {
    var writer = CompiledModelWriter(model)
    writer.describeModel()
    for entity in writer.model.entities { writer.describe(entity) }
    return (writer.builder.bytes(root: .uid(writer.root)), writer.leftOut)
  }

  private init(_ model: ManagedObjectModel) {
    var model = model
    model.entities = model.entities.map { entity in
      var entity = entity
      entity.attributes.sort { Self.precedes($0.name, $1.name) }
      entity.relationships.sort { Self.precedes($0.name, $1.name) }
      entity.fetchedProperties.sort { Self.precedes($0.name, $1.name) }
      return entity
    }
    self.model = model
    root = builder.reserve()
    for entity in model.entities {
      entityNumbers[entity.name] = builder.reserve()
      for name in Self.propertyNames(of: entity.name, in: model) {
        propertyNumbers[Place(entity: entity.name, property: name)] = builder.reserve()
      }
    }
  }

  private static func propertyNames(of entity: String, in model: ManagedObjectModel) -> [String] {
    let owners = [model.entity(entity)].compactMap { $0 } + model.ancestors(of: entity)
    return owners.flatMap { owner in
      owner.attributes.map(\.name) + owner.relationships.map(\.name) + owner.fetchedProperties.map(\.name)
    }
  }

  func reference(to entity: String?) -> PropertyListValue {
    entity.flatMap { entityNumbers[$0] }.map { .uid($0) } ?? ArchiveBuilder.null
  }

  func reference(to place: Place) -> PropertyListValue {
    propertyNumbers[place].map { .uid($0) } ?? ArchiveBuilder.null
  }

  private mutating func describeModel() {
    var fields: [String: PropertyListValue] = [
      "NSEntities": knownKeys(model.entities.map(\.name)),
      "NSFetchRequestTemplates": ArchiveBuilder.null,
      "NSVersionIdentifiers": builder.set(model.versionIdentifiers.sorted(by: Self.precedes).map { builder.text($0) }),
    ]
    if !model.fetchRequestTemplates.isEmpty {
      let requests = model.fetchRequestTemplates.sorted { Self.precedes($0.key, $1.key) }.map { name, request in
        (key: name, value: fetchRequest(request, place: "fetch request \(name)"))
      }
      fields["NSFetchRequestTemplates"] = builder.dictionary(requests, isMutable: true)
    }
    if !model.configurations.isEmpty {
      let configurations = model.configurations.sorted { Self.precedes($0.key, $1.key) }.map { name, members in
        (
          key: name,
          value: builder.array(
            members.sorted(by: Self.precedes).map { reference(to: $0) }.filter { $0 != ArchiveBuilder.null })
        )
      }
      fields["NSConfigurations"] = builder.dictionary(configurations, isMutable: true)
    }
    builder.describe(root, names: ["NSManagedObjectModel", "NSObject"], fields: fields)
  }

  /// The dictionary of entities in the form that only model caches have.
  private mutating func knownKeys(_ names: [String]) -> PropertyListValue {
    let count = PropertyListValue.integer(Int64(names.count))
    let keys = builder.array(names.map { builder.text($0) })
    let mapping = builder.object(
      ["NSKnownKeysMappingStrategy1", "NSKnownKeysMappingStrategy", "NSObject"],
      ["keys": keys, "length": count, "version": .integer(1)])
    return builder.object(
      ["NSKnownKeysDictionary1", "NSKnownKeysDictionary", "NSMutableDictionary", "NSDictionary", "NSObject"],
      [
        "searchMapping": mapping, "emptyToken": builder.text("__empty_slot_token_4c24_98dc_ac1e_b773__"),
        "values": builder.array(names.map { reference(to: $0) }), "version": .integer(1),
      ])
  }

  private mutating func describe(_ entity: EntityDescription) {
    var fields: [String: PropertyListValue] = [
      "NSEntityName": builder.text(entity.name), "NSManagedObjectModel": .uid(root),
      "NSClassNameForEntity": builder.text(entity.managedObjectClassName),
      "NSSuperentity": reference(to: entity.superentity), "NSSubentities": ArchiveBuilder.null,
      "NSRenamingIdentifier": builder.text(entity.renamingIdentifier ?? entity.name),
      "NSVersionHashModifier": builder.text(entity.versionHashModifier),
      "NSUserInfo": userInfo(entity.userInfo), "NSProperties": properties(of: entity),
    ]
    if entity.isAbstract { fields["NSIsAbstract"] = .boolean(true) }
    let subentities = model.subentities(of: entity.name).map { (key: $0, value: reference(to: $0)) }
    if !subentities.isEmpty { fields["NSSubentities"] = builder.dictionary(subentities, isMutable: true) }
    if !entity.uniquenessConstraints.isEmpty { fields["NSUniqueTuples"] = lists(entity.uniquenessConstraints) }
    if !entity.compoundIndexes.isEmpty || !entity.indexes.isEmpty {
      fields["NSCompoundIndexes"] = lists(entity.compoundIndexes)
    }
    if !entity.indexes.isEmpty {
      let indexes = entity.indexes.map { index($0, of: entity.name) }
      fields["NSFetchIndexDescriptions"] = builder.array(indexes, isMutable: true)
    }
    builder.describe(entityNumbers[entity.name] ?? 0, names: ["NSEntityDescription", "NSObject"], fields: fields)
  }

  /// Own and inherited properties by name.
  private mutating func properties(of entity: EntityDescription) -> PropertyListValue {
    var names: [String] = []
    for owner in [entity] + model.ancestors(of: entity.name) {
      for attribute in owner.attributes {
        describe(attribute, Place(entity: entity.name, property: attribute.name))
        names.append(attribute.name)
      }
      for relationship in owner.relationships {
        describe(relationship, Place(entity: entity.name, property: relationship.name))
        names.append(relationship.name)
      }
      for property in owner.fetchedProperties {
        describe(property, Place(entity: entity.name, property: property.name))
        names.append(property.name)
      }
    }
    let entries = names.sorted(by: Self.precedes).map {
      (key: $0, value: reference(to: Place(entity: entity.name, property: $0)))
    }
    return builder.dictionary(entries, isMutable: true)
  }

  mutating func userInfo(_ entries: [String: String]) -> PropertyListValue {
    builder.dictionary(
      entries.sorted { Self.precedes($0.key, $1.key) }.map { (key: $0.key, value: builder.text($0.value)) })
  }

  private mutating func lists(_ lists: [[String]]) -> PropertyListValue {
    builder.array(lists.map { builder.array($0.map { builder.text($0) }, isMutable: true) }, isMutable: true)
  }

  private mutating func index(_ index: EntityDescription.FetchIndex, of entity: String) -> PropertyListValue {
    let number = builder.reserve()
    var elements: [PropertyListValue] = []
    for element in index.elements {
      guard !element.property.isEmpty else {
        leftOut.append("\(entity), index \(index.name): an element with an expression")
        continue
      }
      let fields: [String: PropertyListValue] = [
        "NSPropertyName": builder.text(element.property), "NSAscending": .boolean(element.isAscending),
        "NSFetchIndexElementType": .integer(element.type == "RTree" ? 1 : 0), "NSFetchIndexDescription": .uid(number),
      ]
      elements.append(builder.object(["NSFetchIndexElementDescription", "NSObject"], fields))
    }
    builder.describe(
      number, names: ["NSFetchIndexDescription", "NSObject"],
      fields: [
        "NSIndexName": builder.text(index.name), "NSEntity": reference(to: entity),
        "NSIndexElements": builder.array(elements),
        "NSPartialIndexPredicate": predicate(index.partialPredicate, place: "\(entity), index \(index.name)"),
      ])
    return .uid(number)
  }

  /// A predicate that is not understood is left out and named.
  mutating func predicate(_ text: String?, place: String) -> PropertyListValue {
    guard let text else { return ArchiveBuilder.null }
    do { return builder.predicate(try PredicateParser.predicate(text)) } catch {
      leftOut.append("\(place): the predicate \(error)")
      return ArchiveBuilder.null
    }
  }

  private static func precedes(_ left: String, _ right: String) -> Bool {
    left.utf8.lexicographicallyPrecedes(right.utf8)
  }
}
