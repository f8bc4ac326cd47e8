import CoreDataModel
import Streams

/// Collects the facets in which two descriptions differ, and knows which of them version hashes hold (A.1 to A.5).
struct FacetList {
  private(set) var changes: [FacetChange] = []
  /// Names are hashed, but two properties can exchange theirs and leave the hash of their entity as it was.
  var changesHashOfRenamed = true
  /// Whether one of the models is SwiftData's. Its stores say what sources do not, and another framework says it in
  /// another way: class names and old-style indexes.
  var isOfSwiftData = false
  /// Whether one of them is a store's own, in which such values are constants.
  var isOfStore = false

  mutating func add<Facet: Equatable>(
    _ facet: String, old: Facet, new: Facet, hashed: Bool = false, text: (Facet) -> String? = { "\($0)" }
  ) {
    guard old != new else { return }
    changes.append(FacetChange(facet: facet, old: text(old), new: text(new), changesVersionHash: hashed))
  }

  private mutating func add(_ facet: String, old: String?, new: String?, hashed: Bool = false) {
    add(facet, old: old, new: new, hashed: hashed) { $0 }
  }

  /// An empty modifier is hashed like none.
  private mutating func addModifier(_ old: String?, _ new: String?, hashed: Bool) {
    add("versionHashModifier", old: old ?? "", new: new ?? "", hashed: hashed) { $0.isEmpty ? nil : $0 }
  }

  mutating func addEntries(_ facet: String, old: [String: String], new: [String: String]) {
    add(facet, old: old, new: new) { entries in
      entries.isEmpty ? nil : entries.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: ", ")
    }
  }

  mutating func compare(_ old: AttributeDescription, _ new: AttributeDescription) {
    let isHashed = old.isStored || new.isStored
    let isDerived = (old.derivationExpression != nil, new.derivationExpression != nil)
    let isComposite = old.type == .composite && new.type == .composite && !isDerived.0 && !isDerived.1
    // Of derived attributes only the derivation is hashed, of composites only the elements (A.4).
    let plain = isHashed && !(isDerived.0 && isDerived.1) && !isComposite
    add("name", old: old.name, new: new.name, hashed: isHashed && changesHashOfRenamed)
    add("type", old: old.type, new: new.type, hashed: plain)
    add("isOptional", old: old.isOptional, new: new.isOptional, hashed: plain)
    add("isTransient", old: old.isTransient, new: new.isTransient, hashed: true)
    add("isReadOnly", old: old.isReadOnly, new: new.isReadOnly, hashed: plain)
    addModifier(old.versionHashModifier, new.versionHashModifier, hashed: plain)
    add(
      "allowsExternalBinaryDataStorage", old: old.allowsExternalBinaryDataStorage,
      new: new.allowsExternalBinaryDataStorage,
      hashed: plain)
    add(
      "preservesValueInHistoryOnDeletion", old: old.preservesValueInHistoryOnDeletion,
      new: new.preservesValueInHistoryOnDeletion,
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
      "derivationExpression", old: old.derivationExpression, new: new.derivationExpression,
      hashed: isHashed && formats.0 != formats.1)
    add(
      "derivationFilter", old: old.derivationFilter, new: new.derivationFilter,
      hashed: isHashed && isDerived && (old.derivationFilter ?? "") != (new.derivationFilter ?? ""))
    add(
      "elements", old: old.elements, new: new.elements,
      hashed: isHashed && isComposite && old.versionHash != new.versionHash
    ) {
      $0.isEmpty ? nil : $0.map { "\($0.name) \($0.type)" }.joined(separator: ", ")
    }
  }

  /// Facets that no hash holds.
  private mutating func compareRest(_ old: AttributeDescription, _ new: AttributeDescription) {
    let value = { (attribute: AttributeDescription) in
      attribute.exactDefaultValue ?? attribute.defaultValue.map { DefaultValue.text($0, attribute.type) ?? "\($0)" }
    }
    let isEvaluated = isOfStore || old.evaluatedDefault != nil || new.evaluatedDefault != nil
    if ![.uuid, .date].contains(new.type) || !isEvaluated { add("defaultValue", old: value(old), new: value(new)) }
    add("minimumValue", old: old.minimumValue, new: new.minimumValue) { $0.map { Self.text($0, old.type) } }
    add("maximumValue", old: old.maximumValue, new: new.maximumValue) { $0.map { Self.text($0, old.type) } }
    add("regularExpression", old: old.regularExpression, new: new.regularExpression)
    add("validationPredicates", old: old.validationPredicates, new: new.validationPredicates) {
      $0.joined(separator: "; ")
    }
    add("valueTransformerName", old: old.valueTransformerName, new: new.valueTransformerName)
    add("attributeValueClassName", old: old.attributeValueClassName, new: new.attributeValueClassName)
    if !isOfSwiftData { add("compositeName", old: old.compositeName, new: new.compositeName) }
    add("allowsCloudEncryption", old: old.allowsCloudEncryption, new: new.allowsCloudEncryption)
    add("usesScalarValueType", old: old.usesScalarValueType, new: new.usesScalarValueType) { $0.map { "\($0)" } }
    if !isOfSwiftData { add("isIndexed", old: old.isIndexed, new: new.isIndexed) }
    add("isStoredInExternalRecord", old: old.isStoredInExternalRecord, new: new.isStoredInExternalRecord)
    add("isIndexedBySpotlight", old: old.isIndexedBySpotlight, new: new.isIndexedBySpotlight)
    add("isSyncable", old: old.isSyncable, new: new.isSyncable) { $0.map { "\($0)" } }
    add("renamingIdentifier", old: old.renamingIdentifier, new: new.renamingIdentifier)
    let own = [
      AttributeDescription.evaluatedDefault, AttributeDescription.unreadDefault, AttributeDescription.enumeration,
    ]
    let infos = [old, new].map { $0.userInfo.filter { !own.contains($0.key) } }
    addEntries("userInfo", old: infos[0], new: infos[1])
    addEntries("unknown", old: old.unknown, new: new.unknown)
  }

  private static func text(_ value: Value, _ type: AttributeType) -> String {
    DefaultValue.text(value, type) ?? "\(value)"
  }

  mutating func compare(
    _ old: RelationshipDescription, isOwnInverse oldIsOwn: Bool, _ new: RelationshipDescription,
    isOwnInverse newIsOwn: Bool
  ) {
    let isHashed = old.isStored || new.isStored
    add("name", old: old.name, new: new.name, hashed: isHashed && changesHashOfRenamed)
    add("destinationEntity", old: old.destinationEntity, new: new.destinationEntity, hashed: isHashed)
    // A relationship that is its own inverse hashes none (A.3).
    let inverses = (oldIsOwn ? "" : old.inverseName ?? "", newIsOwn ? "" : new.inverseName ?? "")
    add(
      "inverseName", old: oldIsOwn ? "itself" : old.inverseName, new: newIsOwn ? "itself" : new.inverseName,
      hashed: isHashed && inverses.0 != inverses.1)
    add("inverseEntity", old: old.inverseEntity, new: new.inverseEntity)
    add("maxCount", old: old.maxCount, new: new.maxCount, hashed: isHashed)
    add("minCount", old: old.minCount, new: new.minCount, hashed: isHashed)
    add("isOrdered", old: old.isOrdered, new: new.isOrdered, hashed: isHashed)
    add("isOptional", old: old.isOptional, new: new.isOptional, hashed: isHashed)
    add("isTransient", old: old.isTransient, new: new.isTransient, hashed: true)
    add("isReadOnly", old: old.isReadOnly, new: new.isReadOnly, hashed: isHashed)
    addModifier(old.versionHashModifier, new.versionHashModifier, hashed: isHashed)
    add("deleteRule", old: old.deleteRule, new: new.deleteRule) { $0.rawValue }
    add("isIndexed", old: old.isIndexed, new: new.isIndexed)
    add("isStoredInExternalRecord", old: old.isStoredInExternalRecord, new: new.isStoredInExternalRecord)
    add("isIndexedBySpotlight", old: old.isIndexedBySpotlight, new: new.isIndexedBySpotlight)
    add("isSyncable", old: old.isSyncable, new: new.isSyncable) { $0.map { "\($0)" } }
    add("validationPredicates", old: old.validationPredicates, new: new.validationPredicates) {
      $0.joined(separator: "; ")
    }
    add("renamingIdentifier", old: old.renamingIdentifier, new: new.renamingIdentifier)
    addEntries("userInfo", old: old.userInfo, new: new.userInfo)
    addEntries("unknown", old: old.unknown, new: new.unknown)
  }

  mutating func compare(_ old: FetchedPropertyDescription, _ new: FetchedPropertyDescription) {
    add("name", old: old.name, new: new.name)
    add("fetchRequest", old: old.fetchRequest, new: new.fetchRequest, text: Self.text)
    add("isOptional", old: old.isOptional, new: new.isOptional)
    add("isTransient", old: old.isTransient, new: new.isTransient)
    add("isReadOnly", old: old.isReadOnly, new: new.isReadOnly)
    add("isIndexedBySpotlight", old: old.isIndexedBySpotlight, new: new.isIndexedBySpotlight)
    add("isSyncable", old: old.isSyncable, new: new.isSyncable) { $0.map { "\($0)" } }
    addModifier(old.versionHashModifier, new.versionHashModifier, hashed: false)
    add("renamingIdentifier", old: old.renamingIdentifier, new: new.renamingIdentifier)
    addEntries("userInfo", old: old.userInfo, new: new.userInfo)
    addEntries("unknown", old: old.unknown, new: new.unknown)
  }

  static func text(_ request: FetchRequestDescription) -> String? {
    [request.entity ?? "", request.predicate ?? "TRUEPREDICATE"].joined(separator: " where ")
  }
}
