/// The hashes of properties, each found once: the versions of a bundle have most properties in common.
struct PropertyHashes {
  /// What the hash of an attribute or of a relationship depends on.
  private struct Key: Hashable {
    var name: String
    var modifier: String?
    var flags: [Bool]
    var numbers: [Int32]
    var entity: String?
    var inverse: String?
  }

  private var known: [Key: [UInt8]] = [:]

  /// ``PropertyHash/hash(of:)``.
  mutating func hash(of attribute: AttributeDescription) -> [UInt8] {
    // These depend on more, and are few.
    guard attribute.derivationExpression == nil, attribute.type != .composite else {
      return PropertyHash.hash(of: attribute)
    }
    let key = Key(
      name: attribute.name, modifier: attribute.versionHashModifier,
      flags: [
        attribute.isOptional, attribute.isReadOnly, attribute.allowsExternalBinaryDataStorage,
        attribute.preservesValueInHistoryOnDeletion,
      ], numbers: [attribute.type.rawValue])
    return find(key) { PropertyHash.hash(of: attribute) }
  }

  /// ``PropertyHash/hash(of:isOwnInverse:)``.
  mutating func hash(of relationship: RelationshipDescription, isOwnInverse: Bool) -> [UInt8] {
    let key = Key(
      name: relationship.name, modifier: relationship.versionHashModifier,
      flags: [relationship.isOptional, relationship.isReadOnly, relationship.isOrdered, isOwnInverse],
      numbers: [relationship.maxCount, relationship.minCount], entity: relationship.destinationEntity,
      inverse: relationship.inverseName)
    return find(key) { PropertyHash.hash(of: relationship, isOwnInverse: isOwnInverse) }
  }

  private mutating func find(_ key: Key, _ make: () -> [UInt8]) -> [UInt8] {
    if let hash = known[key] { return hash }
    let hash = make()
    known[key] = hash
    return hash
  }
}
