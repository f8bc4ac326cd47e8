/// The hashes of properties, each found once: the versions of a bundle have most properties in common.
struct PropertyHashes {
  /// What the hash of an attribute or of a relationship depends on. Texts count by their bytes: equal ones may have
  /// others, as letters with accents do.
  private struct Key: Hashable {
    var texts: [[UInt8]?]
    var flags: [Bool]
    var numbers: [Int32]

    init(_ texts: [String?], flags: [Bool], numbers: [Int32]) {
      self.texts = texts.map { $0.map { Array($0.utf8) } }
      (self.flags, self.numbers) = (flags, numbers)
    }
  }

  private var known: [Key: [UInt8]] = [:]

  /// ``PropertyHash/hash(of:)``.
  mutating func hash(of attribute: AttributeDescription) -> [UInt8] {
    // These depend on more, and are few.
    guard attribute.derivationExpression == nil, attribute.type != .composite else {
      return PropertyHash.hash(of: attribute)
    }
    let key = Key(
      [attribute.name, attribute.versionHashModifier],
      flags: [
        attribute.isOptional, attribute.isReadOnly, attribute.allowsExternalBinaryDataStorage,
        attribute.preservesValueInHistoryOnDeletion,
      ], numbers: [attribute.type.rawValue])
    return find(key) { PropertyHash.hash(of: attribute) }
  }

  /// ``PropertyHash/hash(of:isOwnInverse:)``.
  mutating func hash(of relationship: RelationshipDescription, isOwnInverse: Bool) -> [UInt8] {
    let key = Key(
      [
        relationship.name, relationship.versionHashModifier, relationship.destinationEntity, relationship.inverseName,
      ], flags: [relationship.isOptional, relationship.isReadOnly, relationship.isOrdered, isOwnInverse],
      numbers: [relationship.maxCount, relationship.minCount])
    return find(key) { PropertyHash.hash(of: relationship, isOwnInverse: isOwnInverse) }
  }

  private mutating func find(_ key: Key, _ make: () -> [UInt8]) -> [UInt8] {
    if let hash = known[key] { return hash }
    let hash = make()
    known[key] = hash
    return hash
  }
}
