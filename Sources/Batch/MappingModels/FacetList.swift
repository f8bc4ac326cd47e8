import CoreDataModel
import Streams

/// Collects the facets in which two descriptions differ, and knows which of them version hashes hold (A.1 to A.5).
struct FacetList {
  private(set) var changes: [FacetChange] = []
  /// Names are hashed, but two properties can exchange theirs and leave the hash of their entity as it was.
  var changesHashOfRenamed = true

  mutating func add<Facet: Equatable>(
    _ facet: String, _ old: Facet, _ new: Facet, hashed: Bool = false, _ text: (Facet) -> String? = { "\($0)" }
  ) {
    guard old != new else { return }
    changes.append(FacetChange(facet: facet, old: text(old), new: text(new), changesVersionHash: hashed))
  }

  private mutating func add(_ facet: String, _ old: String?, _ new: String?, hashed: Bool = false) {
    add(facet, old, new, hashed: hashed) { $0 }
  }

  /// An empty modifier is hashed like none.
  private mutating func addModifier(_ old: String?, _ new: String?, hashed: Bool) {
    add("versionHashModifier", old ?? "", new ?? "", hashed: hashed) { $0.isEmpty ? nil : $0 }
  }

  mutating func addEntries(_ facet: String, _ old: [String: String], _ new: [String: String]) {
    add(facet, old, new) { entries in
      entries.isEmpty ? nil : entries.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: ", ")
    }
  }

  mutating func compare(_ old: AttributeDescription, _ new: AttributeDescription) {
    let isHashed = old.isStored || new.isStored
    let isDerived = (old.derivationExpression != nil, new.derivationExpression != nil)
    let isComposite = old.type == .composite && new.type == .composite && !isDerived.0 && !isDerived.1
    // Of derived attributes only the derivation is hashed, of composites only the elements (A.4).
    let plain = isHashed && !(isDerived.0 && isDerived.1) && !isComposite
    add("name", old.name, new.name, hashed: isHashed && changesHashOfRenamed)
    add("type", old.type, new.type, hashed: plain)
    add("isOptional", old.isOptional, new.isOptional, hashed: plain)
    add("isTransient", old.isTransient, new.isTransient, hashed: true)
    add("isReadOnly", old.isReadOnly, new.isReadOnly, hashed: plain)
    addModifier(old.versionHashModifier, new.versionHashModifier, hashed: plain)
    add(
      "allowsExternalBinaryDataStorage", old.allowsExternalBinaryDataStorage, new.allowsExternalBinaryDataStorage,
      hashed: plain)
    add(
      "preservesValueInHistoryOnDeletion", old.preservesValueInHistoryOnDeletion, new.preservesValueInHistoryOnDeletion,
      hashed: plain)
    compareParts(old, new, isHashed: isHashed, isDerived: isDerived.0 && isDerived.1, isComposite: isComposite)
    compareRest(old, new)
  }

  /// What hashes hold of derived and of composite attributes.
  private mutating func compareParts(
    _ old: AttributeDescription, _ new: AttributeDescription, isHashed: Bool, isDerived: Bool, isComposite: Bool
  ) {
    let formats = (
      old.derivationExpression.map(PropertyHash.predicateFormat),
      new.derivationExpression.map(PropertyHash.predicateFormat)
    )
    add(
      "derivationExpression", old.derivationExpression, new.derivationExpression,
      hashed: isHashed && formats.0 != formats.1)
    add(
      "derivationFilter", old.derivationFilter, new.derivationFilter,
      hashed: isHashed && isDerived && (old.derivationFilter ?? "") != (new.derivationFilter ?? ""))
    add("elements", old.elements, new.elements, hashed: isHashed && isComposite && old.versionHash != new.versionHash) {
      $0.isEmpty ? nil : $0.map { "\($0.name) \($0.type)" }.joined(separator: ", ")
    }
  }

  /// Facets that no hash holds.
  private mutating func compareRest(_ old: AttributeDescription, _ new: AttributeDescription) {
    let value = { (attribute: AttributeDescription) in
      attribute.exactDefaultValue ?? attribute.defaultValue.map { DefaultValue.text($0, attribute.type) ?? "\($0)" }
    }
    add("defaultValue", value(old), value(new))
    add("minimumValue", old.minimumValue, new.minimumValue) { $0.map { Self.text($0, old.type) } }
    add("maximumValue", old.maximumValue, new.maximumValue) { $0.map { Self.text($0, old.type) } }
    add("regularExpression", old.regularExpression, new.regularExpression)
    add("validationPredicates", old.validationPredicates, new.validationPredicates) { $0.joined(separator: "; ") }
    add("valueTransformerName", old.valueTransformerName, new.valueTransformerName)
    add("attributeValueClassName", old.attributeValueClassName, new.attributeValueClassName)
    add("compositeName", old.compositeName, new.compositeName)
    add("allowsCloudEncryption", old.allowsCloudEncryption, new.allowsCloudEncryption)
    add("usesScalarValueType", old.usesScalarValueType, new.usesScalarValueType) { $0.map { "\($0)" } }
    add("isIndexed", old.isIndexed, new.isIndexed)
    add("isStoredInExternalRecord", old.isStoredInExternalRecord, new.isStoredInExternalRecord)
    add("isIndexedBySpotlight", old.isIndexedBySpotlight, new.isIndexedBySpotlight)
    add("isSyncable", old.isSyncable, new.isSyncable) { $0.map { "\($0)" } }
    add("renamingIdentifier", old.renamingIdentifier, new.renamingIdentifier)
    addEntries("userInfo", old.userInfo, new.userInfo)
    addEntries("unknown", old.unknown, new.unknown)
  }

  private static func text(_ value: Value, _ type: AttributeType) -> String {
    DefaultValue.text(value, type) ?? "\(value)"
  }

  mutating func compare(
    _ old: RelationshipDescription, isOwnInverse oldIsOwn: Bool, _ new: RelationshipDescription,
    isOwnInverse newIsOwn: Bool
  ) {
    let isHashed = old.isStored || new.isStored
    add("name", old.name, new.name, hashed: isHashed && changesHashOfRenamed)
    add("destinationEntity", old.destinationEntity, new.destinationEntity, hashed: isHashed)
    // A relationship that is its own inverse hashes none (A.3).
    let inverses = (oldIsOwn ? "" : old.inverseName ?? "", newIsOwn ? "" : new.inverseName ?? "")
    add(
      "inverseName", oldIsOwn ? "itself" : old.inverseName, newIsOwn ? "itself" : new.inverseName,
      hashed: isHashed && inverses.0 != inverses.1)
    add("inverseEntity", old.inverseEntity, new.inverseEntity)
    add("maxCount", old.maxCount, new.maxCount, hashed: isHashed)
    add("minCount", old.minCount, new.minCount, hashed: isHashed)
    add("isOrdered", old.isOrdered, new.isOrdered, hashed: isHashed)
    add("isOptional", old.isOptional, new.isOptional, hashed: isHashed)
    add("isTransient", old.isTransient, new.isTransient, hashed: true)
    add("isReadOnly", old.isReadOnly, new.isReadOnly, hashed: isHashed)
    addModifier(old.versionHashModifier, new.versionHashModifier, hashed: isHashed)
    add("deleteRule", old.deleteRule, new.deleteRule) { $0.rawValue }
    add("isIndexed", old.isIndexed, new.isIndexed)
    add("isStoredInExternalRecord", old.isStoredInExternalRecord, new.isStoredInExternalRecord)
    add("isIndexedBySpotlight", old.isIndexedBySpotlight, new.isIndexedBySpotlight)
    add("isSyncable", old.isSyncable, new.isSyncable) { $0.map { "\($0)" } }
    add("validationPredicates", old.validationPredicates, new.validationPredicates) { $0.joined(separator: "; ") }
    add("renamingIdentifier", old.renamingIdentifier, new.renamingIdentifier)
    addEntries("userInfo", old.userInfo, new.userInfo)
    addEntries("unknown", old.unknown, new.unknown)
  }

  mutating func compare(_ old: FetchedPropertyDescription, _ new: FetchedPropertyDescription) {
    add("name", old.name, new.name)
    add("fetchRequest", old.fetchRequest, new.fetchRequest, Self.text)
    add("isOptional", old.isOptional, new.isOptional)
    add("isTransient", old.isTransient, new.isTransient)
    add("isReadOnly", old.isReadOnly, new.isReadOnly)
    add("isIndexedBySpotlight", old.isIndexedBySpotlight, new.isIndexedBySpotlight)
    add("isSyncable", old.isSyncable, new.isSyncable) { $0.map { "\($0)" } }
    addModifier(old.versionHashModifier, new.versionHashModifier, hashed: false)
    add("renamingIdentifier", old.renamingIdentifier, new.renamingIdentifier)
    addEntries("userInfo", old.userInfo, new.userInfo)
    addEntries("unknown", old.unknown, new.unknown)
  }

  static func text(_ request: FetchRequestDescription) -> String? {
    [request.entity ?? "", request.predicate ?? "TRUEPREDICATE"].joined(separator: " where ")
  }
}
