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
    entity.unknown = values.rest
    return entity
  }

  static func attribute(_ values: inout XMLAttributes) throws -> AttributeDescription {
    let name = try values.need("name")
    let typeName = values.take("attributeType") ?? "Undefined"
    guard let type = attributeTypes[typeName] else {
      throw values.problem("has the attribute type \"\(typeName)\", which is not known")
    }
    var attribute = AttributeDescription(name: name, type: type)
    attribute.isOptional = try values.flag("optional")
    attribute.isTransient = try values.flag("transient")
    attribute.allowsExternalBinaryDataStorage = try values.flag("allowsExternalBinaryDataStorage")
    attribute.preservesValueInHistoryOnDeletion = try values.flag("preserveAfterDeletion")
    attribute.isIndexed = try values.flag("indexed")
    attribute.valueTransformerName = values.take("valueTransformerName")
    attribute.attributeValueClassName = values.take("customClassName")
    attribute.renamingIdentifier = values.take("elementID")
    attribute.versionHashModifier = values.take("versionHashModifier")
    // Xcode leaves the expression in the file when the box "Derived" is cleared again.
    if try values.flag("derived") { attribute.derivationExpression = values.take("derivationExpression") }
    attribute.defaultValue = try defaultValue(type, &values)
    attribute.unknown = values.rest
    return attribute
  }

  static func relationship(_ values: inout XMLAttributes) throws -> RelationshipDescription {
    let name = try values.need("name")
    let isToMany = try values.flag("toMany")
    let maxCount = try values.number("maxCount") ?? (isToMany ? 0 : 1)
    var relationship = RelationshipDescription(
      name: name, destinationEntity: try values.need("destinationEntity"), inverseName: values.take("inverseName"),
      maxCount: maxCount)
    relationship.minCount = try values.number("minCount") ?? 0
    relationship.isOrdered = try values.flag("ordered")
    relationship.isOptional = try values.flag("optional")
    relationship.isTransient = try values.flag("transient")
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

  private static let attributeTypes: [String: AttributeType] = [
    "Undefined": .undefined, "Integer 16": .integer16, "Integer 32": .integer32, "Integer 64": .integer64,
    "Decimal": .decimal, "Double": .double, "Float": .float, "String": .string, "Boolean": .boolean, "Date": .date,
    "Binary": .binaryData, "UUID": .uuid, "URI": .uri, "Transformable": .transformable, "ObjectID": .objectID,
    "Object ID": .objectID, "Composite": .composite,
  ]

  private static func defaultValue(_ type: AttributeType, _ values: inout XMLAttributes) throws -> Value? {
    if type == .date {
      guard let text = values.take("defaultDateTimeInterval") else { return nil }
      guard let seconds = Double(text), seconds.isFinite else { throw values.problem("has the default \"\(text)\"") }
      return .real(seconds)
    }
    // An empty text is a default of its own for a string; take() would not tell it from a missing one.
    if type == .string, values.rest["defaultValueString"] == "" {
      _ = values.take("defaultValueString")
      return .text("")
    }
    guard let text = values.take("defaultValueString") else { return nil }
    guard let value = DefaultValue.parse(text, type) else {
      throw values.problem("has the default \"\(text)\", which does not fit its type")
    }
    return value
  }
}
