/// Reads the model that a mapping model holds of its source and of its destination: Xcode's own objects (XDPMModel) in a
/// keyed archive (D.4). Their properties are not fields, but entries of "stereotypes", by name.
struct EmbeddedModelReader {
  static func read(_ bytes: [UInt8], name: String) throws -> ManagedObjectModel {
    guard let root = try KeyedArchive(bytes).root, root.className == "XDPMModel",
      let entities = root["_xd_rootPackage"]?["XDBucketForClassesstorage"]?.dictionary
    else { throw BatchError(.badModel, "the archive holds no model of Xcode") }
    let identifier = root["_modelVersionIdentifier"]?.string ?? ""
    return ManagedObjectModel(
      name: name, entities: try entities.map { try entity($0.value) },
      versionIdentifiers: identifier.isEmpty ? [] : [identifier])
  }

  private static func entity(_ object: KeyedObject) throws -> EntityDescription {
    let settings = Settings(object)
    var entity = EntityDescription(name: try name(of: object))
    entity.isAbstract = object["_isAbstract"]?.boolean ?? settings.flag("XD_PSK_isAbstract")
    let parents = object["XDBucketForGeneralizationsstorage"]?.array ?? []
    entity.superentity = parents.first?["_general"]?["_name"]?.string
    entity.managedObjectClassName = settings.text("XD_PSK_entityClassName")
    entity.renamingIdentifier = settings.text("XD_PSK_elementID")
    entity.versionHashModifier = settings.text("XD_PSK_versionHashModifier")
    entity.userInfo = settings.userInfo("XD_PSK_userInfo")
    entity.uniquenessConstraints = settings.lists("XDPMUniquenessConstraints")
    entity.compoundIndexes = settings.lists("XDPMCompoundIndexes")
    for (_, property) in object["XDBucketForOwnedAttributesstorage"]?.dictionary ?? [] {
      switch property.className {
      case "XDPMAttribute": entity.attributes.append(try attribute(property))
      case "XDPMRelationship": entity.relationships.append(try relationship(property))
      default: entity.fetchedProperties.append(FetchedPropertyDescription(name: try name(of: property)))
      }
    }
    return entity
  }

  private static func attribute(_ object: KeyedObject) throws -> AttributeDescription {
    let settings = Settings(object)
    let name = try name(of: object)
    let number = settings.number("XD_PAttK_attributeType") ?? 0
    guard let type = Int32(exactly: number).flatMap(AttributeType.init) else {
      throw BatchError(.badModel, "the attribute \(name) has the type \(number), which is not known")
    }
    var attribute = AttributeDescription(name: name, type: type)
    attribute.isOptional = settings.flag("XD_PPSK_isOptional")
    attribute.isTransient = settings.flag("XD_PPSK_isTransient")
    attribute.isIndexed = settings.flag("XD_PPSK_isIndexed")
    attribute.allowsExternalBinaryDataStorage = settings.flag("XD_PAttK_allowsExternalBinaryDataStorage")
    attribute.preservesValueInHistoryOnDeletion = settings.flag("XD_PAttK_preserveAfterDeletion")
    attribute.valueTransformerName = settings.text("XD_PAttK_valueTransformerName")
    attribute.renamingIdentifier = settings.text("XD_PPSK_elementID")
    attribute.versionHashModifier = settings.text("XD_PPSK_versionHashModifier")
    attribute.userInfo = settings.userInfo("XD_PPSK_userInfo")
    attribute.defaultValue = settings.text("XD_PAttK_defaultValueAsString").flatMap { DefaultValue.parse($0, type) }
    return attribute
  }

  private static func relationship(_ object: KeyedObject) throws -> RelationshipDescription {
    let settings = Settings(object)
    let name = try name(of: object)
    guard let destination = settings["XD_PRK_destination"]?["_name"]?.string else {
      throw BatchError(.badModel, "the relationship \(name) has no destination")
    }
    let isToMany = settings.flag("XD_PRK_isToMany")
    let maxCount = settings.number("XD_PRK_maxCount") ?? (isToMany ? 0 : 1)
    var relationship = RelationshipDescription(
      name: name, destinationEntity: destination,
      inverseName: settings["XD_PRK_inverseRelationship"]?["_name"]?.string,
      maxCount: Int32(clamping: maxCount))
    relationship.minCount = Int32(clamping: settings.number("XD_PRK_minCount") ?? 0)
    relationship.isOrdered = settings.flag("XD_PRK_ordered")
    relationship.isOptional = settings.flag("XD_PPSK_isOptional")
    relationship.isTransient = settings.flag("XD_PPSK_isTransient")
    let rules: [Int64: RelationshipDescription.DeleteRule] = [0: .noAction, 1: .nullify, 2: .cascade, 3: .deny]
    relationship.deleteRule = rules[settings.number("XD_PRK_deleteRule") ?? 1] ?? .nullify
    relationship.renamingIdentifier = settings.text("XD_PPSK_elementID")
    relationship.versionHashModifier = settings.text("XD_PPSK_versionHashModifier")
    relationship.userInfo = settings.userInfo("XD_PPSK_userInfo")
    return relationship
  }

  private static func name(of object: KeyedObject) throws -> String {
    guard let name = object["_name"]?.string, !name.isEmpty else {
      throw BatchError(.badModel, "an object of the model has no name")
    }
    return name
  }

  /// The entries of all stereotypes of one object, by name.
  private struct Settings {
    private var values: [String: KeyedObject] = [:]

    init(_ object: KeyedObject) {
      for (_, stereotype) in object["XDBucketForStereotypesstorage"]?.dictionary ?? [] {
        for (key, property) in stereotype["XDBucketForOwnedAttributesstorage"]?.dictionary ?? [] {
          if let name = key.string { values[name] = property["_default"] }
        }
      }
    }

    subscript(_ name: String) -> KeyedObject? { values[name] }
    func flag(_ name: String) -> Bool { values[name]?.boolean ?? false }
    func number(_ name: String) -> Int64? { values[name]?.integer }

    func text(_ name: String) -> String? {
      guard let text = values[name]?.string, !text.isEmpty else { return nil }
      return text
    }

    func lists(_ name: String) -> [[String]] {
      (values[name]?.array ?? []).map { ($0.array ?? []).compactMap(\.string) }
    }

    func userInfo(_ name: String) -> [String: String] {
      var entries: [String: String] = [:]
      for (key, value) in values[name]?.dictionary ?? [] {
        if let key = key.string, let value = value.string { entries[key] = value }
      }
      return entries
    }
  }
}
