import Codecs
import Streams

/// Properties of compiled models (C.4).
extension CompiledModelReader {
  private static let greatestDepth = 16

  /// Bits of `_P`: flags, and which of the optional fields are missing (C.4). Spotlight and order have fields of their
  /// own.
  private enum Packed {
    static let readOnly: Int64 = 4
    static let known: Int64 = 1 | 2 | 4 | 8 | 16 | 32 | 64 | 128 | 256 | 1024
  }

  /// Bits of `NSFlagsKey`.
  private enum Storage {
    static let external: Int64 = 4
    static let preserved: Int64 = 16
  }

  /// What all properties have in common.
  private struct Common {
    var isOptional: Bool
    var isTransient: Bool
    var isReadOnly: Bool
    var isIndexed: Bool
    var isIndexedBySpotlight: Bool
    var renamingIdentifier: String?
    var versionHashModifier: String?
    var userInfo: [String: String]

    init(_ fields: inout ArchivedFields, name: String) throws {
      for key in ["NSPropertyName", "NSEntity", "NSValidationWarnings"] { _ = fields.take(key) }
      isOptional = fields.flag("NSIsOptional")
      isTransient = fields.flag("NSIsTransient")
      isIndexed = fields.flag("NSIsIndexed")
      isIndexedBySpotlight = fields.flag("NSIndexedBySpotlight")
      versionHashModifier = try fields.text("NSVersionHashModifier")
      let identifier = try fields.text("NSRenamingIdentifier")
      renamingIdentifier = identifier == name ? nil : identifier
      userInfo = try fields.userInfo()
      let packed = fields.integer("_P") ?? 0
      isReadOnly = packed & Packed.readOnly != 0
      if packed & ~Packed.known != 0 { fields.leave("_P \(packed & ~Packed.known)") }
    }
  }

  mutating func attribute(
    _ fields: ArchivedFields, name: String, depth: Int = 0
  ) throws -> AttributeDescription {
    var fields = fields
    let common = try Common(&fields, name: name)
    let number = fields.integer("NSAttributeType") ?? 0
    guard let type = Int32(exactly: number).flatMap(AttributeType.init) else {
      throw fields.problem("has the attribute type \(number), which is not known")
    }
    var attribute = AttributeDescription(name: name, type: type, isOptional: common.isOptional)
    attribute.isTransient = common.isTransient
    attribute.isReadOnly = common.isReadOnly
    attribute.isIndexed = common.isIndexed
    attribute.isIndexedBySpotlight = common.isIndexedBySpotlight
    attribute.renamingIdentifier = common.renamingIdentifier
    attribute.versionHashModifier = common.versionHashModifier
    attribute.userInfo = common.userInfo
    try readValue(&attribute, &fields)
    try readDerivation(&attribute, &fields)
    for element in try fields.list("NSCompositeElements") {
      guard depth < Self.greatestDepth else { throw fields.problem("has composites nested too deeply") }
      let elementName = element["NSPropertyName"]?.string ?? ""
      let place = ArchivedFields(element, place: "\(fields.place).\(elementName)", budget: budget)
      attribute.elements.append(try self.attribute(place, name: elementName, depth: depth + 1))
    }
    finish(&fields)
    return attribute
  }

  private mutating func readValue(_ attribute: inout AttributeDescription, _ fields: inout ArchivedFields) throws {
    attribute.valueTransformerName = try fields.text("NSValueTransformerName")
    attribute.attributeValueClassName = try fields.text("NSAttributeValueClassName")
    if attribute.attributeValueClassName == CompiledNames.valueClass(attribute.type) {
      attribute.attributeValueClassName = nil
    }
    let flags = fields.integer("NSFlagsKey") ?? 0
    attribute.allowsExternalBinaryDataStorage = flags & Storage.external != 0
    attribute.preservesValueInHistoryOnDeletion = flags & Storage.preserved != 0
    let others = flags & ~(Storage.external | Storage.preserved)
    if others != 0 { fields.leave("NSFlagsKey \(others)") }
    if let object = fields.take("NSDefaultValue") {
      if let (value, exact) = CompiledValue.read(object, attribute.type) {
        attribute.defaultValue = value
        attribute.exactDefaultValue = exact
      } else {
        fields.leave("NSDefaultValue")
      }
    }
    for object in try fields.list("NSValidationPredicates") {
      let predicate = predicate(object, key: "NSValidationPredicates", fields: &fields)
      if let predicate, !attribute.takeBound(predicate) { attribute.validationPredicates.append(predicate.description) }
    }
  }

  private mutating func readDerivation(_ attribute: inout AttributeDescription, _ fields: inout ArchivedFields) throws {
    if let object = fields.take("NSDerivationExpression") {
      do {
        attribute.derivationExpression = try ExpressionArchiveReader.expression(object, budget: budget).description
      } catch {
        // The version hash depends on it: without it the attribute would seem to be another one.
        throw fields.problem("has a derivation that cannot be read: it \(error)")
      }
    }
    if let object = fields.take("NSFilteringPredicate") {
      do {
        attribute.derivationFilter = try ExpressionArchiveReader.predicate(object, budget: budget).description
      } catch {
        throw fields.problem("has a derivation filter that cannot be read: it \(error)")
      }
    }
  }

  /// A predicate, or nil, named as left out, where it cannot be written down.
  mutating func predicate(_ object: KeyedObject, key: String, fields: inout ArchivedFields) -> Predicate? {
    do {
      try budget.spend(100)
      // Other implementations of Core Data archive a predicate's text.
      if let text = object.string { return try PredicateParser.predicate(text) }
      return try ExpressionArchiveReader.predicate(object, budget: budget)
    } catch {
      fields.leave("\(key) (\(error))")
      return nil
    }
  }

  mutating func relationship(_ fields: ArchivedFields, name: String) throws -> RelationshipDescription {
    var fields = fields
    let common = try Common(&fields, name: name)
    var relationship = try ends(of: &fields, name: name)
    relationship.minCount = Int32(clamping: fields.integer("NSMinCount") ?? 0)
    relationship.isOrdered = fields.flag("NSIsOrdered")
    relationship.isOptional = common.isOptional
    relationship.isTransient = common.isTransient
    relationship.isReadOnly = common.isReadOnly
    relationship.isIndexed = common.isIndexed
    relationship.isIndexedBySpotlight = common.isIndexedBySpotlight
    relationship.renamingIdentifier = common.renamingIdentifier
    relationship.versionHashModifier = common.versionHashModifier
    relationship.userInfo = common.userInfo
    let rule = fields.integer("NSDeleteRule") ?? 1
    guard let known = CompiledNames.deleteRules.first(where: { $0.number == rule })?.rule else {
      throw fields.problem("has the delete rule \(rule), which is not known")
    }
    relationship.deleteRule = known
    for object in try fields.list("NSValidationPredicates") {
      guard let predicate = predicate(object, key: "NSValidationPredicates", fields: &fields) else { continue }
      relationship.validationPredicates.append(predicate.description)
    }
    finish(&fields)
    return relationship
  }

  /// A relationship with its destination, inverse and greatest number.
  private func ends(of fields: inout ArchivedFields, name: String) throws -> RelationshipDescription {
    let destination = fields.take("NSDestinationEntity")?["NSEntityName"]?.string
    let inverse = fields.take("NSInverseRelationship")?["NSPropertyName"]?.string
    guard let destination = try fields.text("_NSDestinationEntityName") ?? destination else {
      throw fields.problem("has no destination entity")
    }
    return RelationshipDescription(
      name: name, destinationEntity: destination, inverseName: try fields.text("_NSInverseRelationshipName") ?? inverse,
      maxCount: Int32(clamping: fields.integer("NSMaxCount") ?? 1))
  }

  mutating func fetchedProperty(_ fields: ArchivedFields, name: String) throws -> FetchedPropertyDescription {
    var fields = fields
    let common = try Common(&fields, name: name)
    var property = FetchedPropertyDescription(name: name)
    property.isOptional = common.isOptional
    property.isTransient = common.isTransient
    property.isReadOnly = common.isReadOnly
    property.isIndexedBySpotlight = common.isIndexedBySpotlight
    property.renamingIdentifier = common.renamingIdentifier
    property.versionHashModifier = common.versionHashModifier
    property.userInfo = common.userInfo
    if let request = fields.take("NSFetchRequest") {
      property.fetchRequest = try fetchRequest(request, place: "\(fields.place).fetchRequest")
    }
    finish(&fields)
    return property
  }

  mutating func fetchRequest(_ object: KeyedObject, place: String) throws -> FetchRequestDescription {
    var fields = ArchivedFields(object, place: place, budget: budget)
    var request = FetchRequestDescription(entity: fields.take("NSEntity")?["NSEntityName"]?.string)
    request.entity = try fields.text("NSEntityName") ?? request.entity
    if let object = fields.take("NSPredicate") {
      request.predicate = predicate(object, key: "NSPredicate", fields: &fields)?.description
    }
    request.fetchLimit = Int(fields.integer("NSFetchLimit") ?? 0)
    request.fetchOffset = Int(fields.integer("NSFetchOffset") ?? 0)
    request.fetchBatchSize = Int(fields.integer("NSBatchSize") ?? 0)
    request.resultType = Int(fields.integer("NSResultType") ?? 0)
    finish(&fields)
    return request
  }

  mutating func index(_ object: KeyedObject, entity: String) throws -> EntityDescription.FetchIndex {
    let name = object["NSIndexName"]?.string ?? ""
    var fields = ArchivedFields(object, place: "entity \(entity), index \(name)", budget: budget)
    for key in ["NSIndexName", "NSEntity"] { _ = fields.take(key) }
    var index = EntityDescription.FetchIndex(name: name, elements: [])
    for element in try fields.list("NSIndexElements") {
      var parts = ArchivedFields(element, place: fields.place, budget: budget)
      _ = parts.take("NSFetchIndexDescription")
      let type = parts.integer("NSFetchIndexElementType") == 1 ? "RTree" : "Binary"
      // An element without property indexes an expression, whose place in archives is not known.
      if let property = try parts.text("NSPropertyName") {
        index.elements.append(.init(property: property, type: type, isAscending: parts.flag("NSAscending")))
      } else {
        parts.leave("an element without property")
      }
      finish(&parts)
    }
    if let object = fields.take("NSPartialIndexPredicate") {
      index.partialPredicate = predicate(object, key: "NSPartialIndexPredicate", fields: &fields)?.description
    }
    finish(&fields)
    return index
  }
}
