import Codecs
import Streams

/// How single elements of a model file become descriptions (C.2). Absent attributes have Xcode's default.
extension ModelXMLReader {
  static func entity(_ values: inout XMLAttributes) throws -> EntityDescription {
    var entity = EntityDescription(name: try values.need("name"))
    entity.superentity = values.take("parentEntity")
    entity.isAbstract = try values.flag("isAbstract")
    entity.managedObjectClassName = values.take("representedClassName")
    entity.renamingIdentifier = values.take("elementID")
    entity.versionHashModifier = values.take("versionHashModifier")
    entity.isSyncable = try values.optionalFlag("syncable")
    entity.codeGenerationType = values.take("codeGenerationType")
    entity.coreSpotlightDisplayNameExpression = values.take("coreSpotlightDisplayNameExpression")
    entity.unknown = values.rest
    return entity
  }

  static func attribute(_ values: inout XMLAttributes) throws -> AttributeDescription {
    let name = try values.need("name")
    let typeName = values.take("attributeType") ?? "Undefined"
    guard let type = ModelXMLNames.type(typeName) else {
      throw values.problem("has the attribute type \"\(typeName)\", which is not known")
    }
    var attribute = AttributeDescription(name: name, type: type)
    attribute.isOptional = try values.flag("optional")
    attribute.isTransient = try values.flag("transient")
    attribute.isReadOnly = try values.flag("readOnly")
    attribute.allowsExternalBinaryDataStorage = try values.flag("allowsExternalBinaryDataStorage")
    attribute.preservesValueInHistoryOnDeletion = try values.flag("preserveAfterDeletion")
    attribute.isIndexed = try values.flag("indexed")
    attribute.valueTransformerName = values.take("valueTransformerName")
    attribute.attributeValueClassName = values.take("customClassName")
    attribute.renamingIdentifier = values.take("elementID")
    attribute.versionHashModifier = values.take("versionHashModifier")
    if type == .composite { attribute.compositeName = values.take("composite") }
    try readSettings(&attribute, &values)
    try readDefault(&attribute, &values)
    readBounds(&attribute, &values)
    attribute.unknown = values.rest
    return attribute
  }

  private static func readSettings(_ attribute: inout AttributeDescription, _ values: inout XMLAttributes) throws {
    attribute.usesScalarValueType = try values.optionalFlag("usesScalarValueType")
    attribute.allowsCloudEncryption = try values.flag("allowsCloudEncryption")
    attribute.isStoredInExternalRecord = try values.flag("storedInTruthFile")
    attribute.isIndexedBySpotlight = try values.flag("spotlightIndexingEnabled")
    attribute.isSyncable = try values.optionalFlag("syncable")
    // Xcode leaves the expression in the file when the box "Derived" is cleared again.
    guard try values.flag("derived") else { return }
    attribute.derivationExpression = values.take("derivationExpression")
    attribute.derivationFilter = values.take("derivationFilter")
  }

  private static func readDefault(_ attribute: inout AttributeDescription, _ values: inout XMLAttributes) throws {
    let type = attribute.type
    let key = type == .date ? "defaultDateTimeInterval" : "defaultValueString"
    // An empty text is a default of its own for a string; take() would not tell it from a missing one.
    if type == .string, values.rest[key] == "" {
      _ = values.take(key)
      attribute.defaultValue = .text("")
      return
    }
    guard let text = values.take(key) else { return }
    guard let value = DefaultValue.parse(text, type) else {
      throw values.problem("has the default \"\(text)\", which does not fit its type")
    }
    attribute.defaultValue = value
    if type == .decimal { attribute.exactDefaultValue = DefaultValue.exactDecimal(text) }
  }

  /// Xcode leaves bounds in the file when the type changes; what is none of the type stays unknown.
  private static func readBounds(_ attribute: inout AttributeDescription, _ values: inout XMLAttributes) {
    let suffix = attribute.type == .date ? "DateTimeInterval" : "ValueString"
    func bound(_ name: String) -> Value? {
      guard let value = values.rest[name].flatMap({ DefaultValue.bound($0, attribute.type) }) else { return nil }
      _ = values.take(name)
      return value
    }
    attribute.minimumValue = bound("min" + suffix)
    attribute.maximumValue = bound("max" + suffix)
    if attribute.type == .string { attribute.regularExpression = values.take("regularExpressionString") }
  }

  static func relationship(_ values: inout XMLAttributes) throws -> RelationshipDescription {
    let name = try values.need("name")
    let isToMany = try values.flag("toMany")
    let maxCount = try values.number("maxCount") ?? (isToMany ? 0 : 1)
    var relationship = RelationshipDescription(
      name: name, destinationEntity: try values.need("destinationEntity"), inverseName: values.take("inverseName"),
      maxCount: maxCount)
    let inverseEntity = values.take("inverseEntity")
    if inverseEntity != relationship.destinationEntity { relationship.inverseEntity = inverseEntity }
    relationship.minCount = try values.number("minCount") ?? 0
    relationship.isOrdered = try values.flag("ordered")
    relationship.isOptional = try values.flag("optional")
    relationship.isTransient = try values.flag("transient")
    relationship.isReadOnly = try values.flag("readOnly")
    relationship.isIndexed = try values.flag("indexed")
    relationship.isStoredInExternalRecord = try values.flag("storedInTruthFile")
    relationship.isIndexedBySpotlight = try values.flag("spotlightIndexingEnabled")
    relationship.isSyncable = try values.optionalFlag("syncable")
    if let text = values.take("deletionRule") ?? values.take("deleteRule") {
      guard let rule = RelationshipDescription.DeleteRule(rawValue: text) else {
        throw values.problem("has the delete rule \"\(text)\", which is not known")
      }
      relationship.deleteRule = rule
    }
    relationship.renamingIdentifier = values.take("elementID")
    relationship.versionHashModifier = values.take("versionHashModifier")
    relationship.unknown = values.rest
    return relationship
  }

  static func fetchedProperty(_ values: inout XMLAttributes) throws -> FetchedPropertyDescription {
    var property = FetchedPropertyDescription(name: try values.need("name"))
    property.isOptional = try values.flag("optional")
    property.isTransient = try values.flag("transient")
    property.isReadOnly = try values.flag("readOnly")
    property.isIndexedBySpotlight = try values.flag("spotlightIndexingEnabled")
    property.isSyncable = try values.optionalFlag("syncable")
    property.renamingIdentifier = values.take("elementID")
    property.versionHashModifier = values.take("versionHashModifier")
    property.unknown = values.rest
    return property
  }

  /// The name is taken by the caller: of a template it is the key, of a fetched property it says nothing.
  static func fetchRequest(_ values: inout XMLAttributes) throws -> FetchRequestDescription {
    var request = FetchRequestDescription(entity: values.take("entity"), predicate: values.take("predicateString"))
    request.fetchLimit = Int(try values.number("fetchLimit") ?? 0)
    request.fetchOffset = Int(try values.number("fetchOffset") ?? 0)
    request.fetchBatchSize = Int(try values.number("fetchBatchSize") ?? 0)
    request.resultType = Int(try values.number("resultType") ?? 0)
    request.includesSubentities = try values.optionalFlag("includeSubentities") ?? true
    request.includesPropertyValues = try values.optionalFlag("includePropertyValues") ?? true
    request.includesPendingChanges = try values.optionalFlag("includePendingChanges") ?? true
    request.returnsObjectsAsFaults = try values.optionalFlag("returnObjectsAsFaults") ?? true
    request.returnsDistinctResults = try values.flag("returnDistinctResults")
    request.unknown = values.rest
    return request
  }

  static func indexElement(_ values: inout XMLAttributes) throws -> EntityDescription.FetchIndex.Element {
    let isAscending = values.take("order") != "descending"
    var element = EntityDescription.FetchIndex.Element(
      property: values.take("property") ?? "", type: values.take("type") ?? "Binary", isAscending: isAscending)
    guard element.property.isEmpty else { return element }
    element.expression = try values.need("expression")
    if let name = values.take("expressionType") {
      guard let type = ModelXMLNames.type(name) else {
        throw values.problem("has the expression type \"\(name)\", which is not known")
      }
      element.expressionType = type
    }
    return element
  }
}
