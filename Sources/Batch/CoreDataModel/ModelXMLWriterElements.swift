import Codecs
import Streams

/// How single descriptions become elements of a model file (C.2), attributes in the order of Xcode.
extension ModelXMLWriter {
  func write(_ entity: EntityDescription) throws {
    let attributes: [(String, String?)] = [
      ("name", entity.name), ("representedClassName", filled(entity.managedObjectClassName)),
      ("isAbstract", yes(entity.isAbstract)), ("parentEntity", filled(entity.superentity)),
      ("elementID", filled(entity.renamingIdentifier)), ("versionHashModifier", filled(entity.versionHashModifier)),
      ("coreSpotlightDisplayNameExpression", filled(entity.coreSpotlightDisplayNameExpression)),
      ("syncable", word(entity.isSyncable)), ("codeGenerationType", filled(entity.codeGenerationType)),
    ]
    try xml.element("entity", attributes: attributes + rest(entity.unknown, attributes)) {
      for attribute in entity.attributes { try write(attribute) }
      for relationship in entity.relationships { try write(relationship) }
      for property in entity.fetchedProperties { try write(property) }
      try write(lists: entity.compoundIndexes, "compoundIndexes", inner: "compoundIndex", item: "index")
      for index in entity.indexes { try write(index) }
      try write(
        lists: entity.uniquenessConstraints, "uniquenessConstraints", inner: "uniquenessConstraint", item: "constraint")
      try write(userInfo: entity.userInfo)
    }
  }

  func write(_ attribute: AttributeDescription) throws {
    let type = attribute.type
    var attributes: [(String, String?)] = [
      ("name", attribute.name), ("optional", yes(attribute.isOptional)), ("transient", yes(attribute.isTransient)),
      ("readOnly", yes(attribute.isReadOnly)),
      ("attributeType", type == .undefined ? nil : ModelXMLNames.name(type)),
      ("composite", type == .composite ? filled(attribute.compositeName) : nil),
      ("valueTransformerName", filled(attribute.valueTransformerName)),
      ("customClassName", filled(attribute.attributeValueClassName)),
    ]
    attributes += values(of: attribute)
    attributes += [
      ("usesScalarValueType", word(attribute.usesScalarValueType)),
      ("allowsExternalBinaryDataStorage", yes(attribute.allowsExternalBinaryDataStorage)),
      ("preserveAfterDeletion", yes(attribute.preservesValueInHistoryOnDeletion)),
      ("allowsCloudEncryption", yes(attribute.allowsCloudEncryption)),
      ("spotlightIndexingEnabled", yes(attribute.isIndexedBySpotlight)),
      ("storedInTruthFile", yes(attribute.isStoredInExternalRecord)), ("indexed", yes(attribute.isIndexed)),
      ("elementID", filled(attribute.renamingIdentifier)),
      ("versionHashModifier", filled(attribute.versionHashModifier)), ("syncable", word(attribute.isSyncable)),
    ]
    try xml.element("attribute", attributes: attributes + rest(attribute.unknown, attributes)) {
      try write(userInfo: attribute.userInfo)
    }
  }

  /// Bounds, default value and derivation.
  private func values(of attribute: AttributeDescription) -> [(String, String?)] {
    let isDate = attribute.type == .date
    let suffix = isDate ? "DateTimeInterval" : "ValueString"
    // A bound of a string is a number of characters.
    let boundType = attribute.type == .string ? AttributeType.integer64 : attribute.type
    let isDerived = attribute.derivationExpression != nil
    return [
      ("min" + suffix, attribute.minimumValue.flatMap { DefaultValue.text($0, boundType) }),
      ("max" + suffix, attribute.maximumValue.flatMap { DefaultValue.text($0, boundType) }),
      (
        isDate ? "defaultDateTimeInterval" : "defaultValueString",
        attribute.exactDefaultValue ?? attribute.defaultValue.flatMap { DefaultValue.text($0, attribute.type) }
      ),
      ("regularExpressionString", filled(attribute.regularExpression)),
      ("derived", yes(isDerived)), ("derivationExpression", filled(attribute.derivationExpression)),
      ("derivationFilter", isDerived ? filled(attribute.derivationFilter) : nil),
    ]
  }

  private func write(_ relationship: RelationshipDescription) throws {
    let limit = relationship.maxCount == 0 ? nil : String(relationship.maxCount)
    let inverse = filled(relationship.inverseName)
    let inverseEntity = relationship.inverseEntity ?? inverse.map { _ in relationship.destinationEntity }
    let attributes: [(String, String?)] = [
      ("name", relationship.name), ("optional", yes(relationship.isOptional)),
      ("transient", yes(relationship.isTransient)), ("readOnly", yes(relationship.isReadOnly)),
      ("toMany", yes(relationship.isToMany)), ("minCount", number(Int(relationship.minCount))), ("maxCount", limit),
      ("deletionRule", relationship.deleteRule.rawValue), ("ordered", yes(relationship.isOrdered)),
      ("destinationEntity", relationship.destinationEntity), ("inverseName", inverse), ("inverseEntity", inverseEntity),
      ("spotlightIndexingEnabled", yes(relationship.isIndexedBySpotlight)),
      ("storedInTruthFile", yes(relationship.isStoredInExternalRecord)), ("indexed", yes(relationship.isIndexed)),
      ("elementID", filled(relationship.renamingIdentifier)),
      ("versionHashModifier", filled(relationship.versionHashModifier)), ("syncable", word(relationship.isSyncable)),
    ]
    try xml.element("relationship", attributes: attributes + rest(relationship.unknown, attributes)) {
      try write(userInfo: relationship.userInfo)
    }
  }

  private func write(_ property: FetchedPropertyDescription) throws {
    let attributes: [(String, String?)] = [
      ("name", property.name), ("optional", yes(property.isOptional)), ("transient", yes(property.isTransient)),
      ("readOnly", yes(property.isReadOnly)), ("spotlightIndexingEnabled", yes(property.isIndexedBySpotlight)),
      ("elementID", filled(property.renamingIdentifier)),
      ("versionHashModifier", filled(property.versionHashModifier)), ("syncable", word(property.isSyncable)),
    ]
    try xml.element("fetchedProperty", attributes: attributes + rest(property.unknown, attributes)) {
      if property.fetchRequest != FetchRequestDescription() {
        try write(property.fetchRequest, name: ModelXMLNames.fetchedPropertyRequest)
      }
      try write(userInfo: property.userInfo)
    }
  }

  func write(_ request: FetchRequestDescription, name: String) throws {
    let no = { (flag: Bool) in flag ? nil : "NO" }
    let attributes: [(String, String?)] = [
      ("name", name), ("entity", filled(request.entity)), ("predicateString", filled(request.predicate)),
      ("resultType", number(request.resultType)), ("fetchLimit", number(request.fetchLimit)),
      ("fetchOffset", number(request.fetchOffset)), ("fetchBatchSize", number(request.fetchBatchSize)),
      ("includeSubentities", no(request.includesSubentities)),
      ("includePropertyValues", no(request.includesPropertyValues)),
      ("includePendingChanges", no(request.includesPendingChanges)),
      ("returnObjectsAsFaults", no(request.returnsObjectsAsFaults)),
      ("returnDistinctResults", yes(request.returnsDistinctResults)),
    ]
    try xml.element("fetchRequest", attributes: attributes + rest(request.unknown, attributes))
  }

  private func write(_ index: EntityDescription.FetchIndex) throws {
    let attributes: [(String, String?)] = [
      ("name", index.name), ("partialIndexPredicate", filled(index.partialPredicate)),
    ]
    try xml.element("fetchIndex", attributes: attributes + rest(index.unknown, attributes)) {
      for element in index.elements {
        try xml.element(
          "fetchIndexElement",
          attributes: [
            ("property", filled(element.property)), ("expression", filled(element.expression)),
            ("expressionType", element.expressionType.map(ModelXMLNames.name)), ("type", element.type),
            ("order", element.isAscending ? "ascending" : "descending"),
          ])
      }
    }
  }

  private func write(lists: [[String]], _ outer: String, inner: String, item: String) throws {
    guard !lists.isEmpty else { return }
    try xml.element(outer) {
      for list in lists {
        try xml.element(inner) { for name in list { try xml.element(item, attributes: [("value", name)]) } }
      }
    }
  }
}
