import Codecs
import RunSupport

/// Reads Xcode's own objects (XDPMModel) in a keyed archive: the models that a mapping model holds of its source and
/// its destination (D.4), and versions that Xcode wrote before version 4 (C.1). Properties are not fields of these
/// objects, but entries of "stereotypes", by name.
package struct EmbeddedModelReader {
  private let budget = ArchiveBudget()

  package static func read(_ bytes: [UInt8], name: String) throws -> ManagedObjectModel {
    try read(KeyedArchive(bytes), name: name)
  }

  static func read(_ archive: KeyedArchive, name: String) throws -> ManagedObjectModel {
    guard let root = archive.root, root.className == "XDPMModel",
      let entities = root["_xd_rootPackage"]?["XDBucketForClassesstorage"]
    else { throw BatchError(.badModel, "the archive holds no model of Xcode") }
    let reader = EmbeddedModelReader()
    let identifier = root["_modelVersionIdentifier"]?.string ?? ""
    return ManagedObjectModel(
      name: name, entities: try reader.entries(entities).map { try reader.entity($0.value) },
      versionIdentifiers: identifier.isEmpty ? [] : [identifier])
  }

  private func entries(_ object: KeyedObject?) throws -> [(key: KeyedObject, value: KeyedObject)] {
    guard let object else { return [] }
    try budget.spend(object.memberCount)
    return object.dictionary ?? []
  }

  private func entity(_ object: KeyedObject) throws -> EntityDescription {
    let settings = try settings(object)
    var entity = EntityDescription(name: try name(of: object))
    entity.isAbstract = object["_isAbstract"]?.boolean ?? settings.flag("XD_PSK_isAbstract")
    let parents = object["XDBucketForGeneralizationsstorage"]
    try budget.spend(parents?.memberCount ?? 0)
    entity.superentity = parents?.array?.first?["_general"]?["_name"]?.string
    entity.managedObjectClassName = settings.text("XD_PSK_entityClassName")
    entity.renamingIdentifier = settings.text("XD_PSK_elementID")
    entity.versionHashModifier = settings.text("XD_PSK_versionHashModifier")
    entity.userInfo = try settings.userInfo("XD_PSK_userInfo")
    entity.uniquenessConstraints = try settings.lists("XDPMUniquenessConstraints")
    entity.compoundIndexes = try settings.lists("XDPMCompoundIndexes")
    for (_, property) in try entries(object["XDBucketForOwnedAttributesstorage"]) {
      switch property.className {
      case "XDPMAttribute": entity.attributes.append(try attribute(property))
      case "XDPMRelationship": entity.relationships.append(try relationship(property))
      default: entity.fetchedProperties.append(FetchedPropertyDescription(name: try name(of: property)))
      }
    }
    return entity
  }

  /// The entries of all stereotypes of one object, by name.
  private func settings(_ object: KeyedObject) throws -> Settings {
    var values: [String: KeyedObject] = [:]
    for (_, stereotype) in try entries(object["XDBucketForStereotypesstorage"]) {
      for (key, property) in try entries(stereotype["XDBucketForOwnedAttributesstorage"]) {
        if let name = key.string { values[name] = property["_default"] }
      }
    }
    return Settings(values: values, budget: budget)
  }

  private func attribute(_ object: KeyedObject) throws -> AttributeDescription {
    let settings = try settings(object)
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
    attribute.userInfo = try settings.userInfo("XD_PPSK_userInfo")
    attribute.isIndexedBySpotlight = settings.flag("XD_PPSK_isSpotlightIndexed")
    attribute.isStoredInExternalRecord = settings.flag("XD_PPSK_isStoredInTruthFile")
    attribute.defaultValue = settings.text("XD_PAttK_defaultValueAsString").flatMap { DefaultValue.parse($0, type) }
    attribute.minimumValue = settings.text("XD_PAttK_minValueString").flatMap { DefaultValue.bound($0, type) }
    attribute.maximumValue = settings.text("XD_PAttK_maxValueString").flatMap { DefaultValue.bound($0, type) }
    if type == .string { attribute.regularExpression = settings.text("XD_PAttK_regularExpressionString") }
    return attribute
  }

  private func relationship(_ object: KeyedObject) throws -> RelationshipDescription {
    let settings = try settings(object)
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
    relationship.isIndexed = settings.flag("XD_PPSK_isIndexed")
    relationship.isIndexedBySpotlight = settings.flag("XD_PPSK_isSpotlightIndexed")
    relationship.isStoredInExternalRecord = settings.flag("XD_PPSK_isStoredInTruthFile")
    let rule = settings.number("XD_PRK_deleteRule") ?? 1
    relationship.deleteRule = CompiledNames.deleteRules.first { $0.number == rule }?.rule ?? .nullify
    relationship.renamingIdentifier = settings.text("XD_PPSK_elementID")
    relationship.versionHashModifier = settings.text("XD_PPSK_versionHashModifier")
    relationship.userInfo = try settings.userInfo("XD_PPSK_userInfo")
    return relationship
  }

  private func name(of object: KeyedObject) throws -> String {
    guard let name = object["_name"]?.string, !name.isEmpty else {
      throw BatchError(.badModel, "an object of the model has no name")
    }
    return name
  }

  /// Values of stereotypes by name.
  private struct Settings {
    let values: [String: KeyedObject]
    let budget: ArchiveBudget

    subscript(_ name: String) -> KeyedObject? { values[name] }
    func flag(_ name: String) -> Bool { values[name]?.boolean ?? false }
    func number(_ name: String) -> Int64? { values[name]?.integer }

    func text(_ name: String) -> String? {
      guard let text = values[name]?.string, !text.isEmpty else { return nil }
      return text
    }

    func lists(_ name: String) throws -> [[String]] {
      try members(values[name]).map { try members($0).compactMap(\.string) }
    }

    private func members(_ object: KeyedObject?) throws -> [KeyedObject] {
      guard let object else { return [] }
      try budget.spend(object.memberCount)
      return object.array ?? []
    }

    func userInfo(_ name: String) throws -> [String: String] {
      var entries: [String: String] = [:]
      try budget.spend(values[name]?.memberCount ?? 0)
      for (key, value) in values[name]?.dictionary ?? [] {
        if let key = key.string, let value = value.string { entries[key] = value }
      }
      return entries
    }
  }
}
