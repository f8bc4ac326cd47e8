import Codecs

extension AttributeDescription {
  /// The attribute's version hash: 32 bytes, a part of the hash of every entity that has it (A.2, A.4).
  public var versionHash: [UInt8] { PropertyHash.hash(of: self) }
}

extension ManagedObjectModel {
  /// The relationship's version hash, or nil when the entity neither declares nor inherits it: 32 bytes, a part of the
  /// hash of every entity that has the relationship (A.3).
  public func versionHash(ofRelationship name: String, in entity: String) -> [UInt8]? {
    for owner in [self.entity(entity)].compactMap({ $0 }) + ancestors(of: entity) {
      guard let relationship = owner.relationships.first(where: { $0.name == name }) else { continue }
      return PropertyHash.hash(of: relationship, isOwnInverse: isOwnInverse(relationship, declaredBy: owner.name))
    }
    return nil
  }

  /// Whether the relationship, which the entity declares, is its own inverse. Then the inverse is not hashed (A.3).
  package func isOwnInverse(_ relationship: RelationshipDescription, declaredBy owner: String) -> Bool {
    guard relationship.inverseName == relationship.name else { return false }
    let destination = relationship.destinationEntity
    let declaring = ([entity(destination)].compactMap { $0 } + ancestors(of: destination))
      .first { $0.relationships.contains { $0.name == relationship.name } }
    return declaring?.name == owner
  }
}

/// Hashes of properties (A.1 to A.4).
package enum PropertyHash {
  static func hash(of attribute: AttributeDescription) -> [UInt8] {
    if let derivation = attribute.derivationExpression {
      return SHA256.hash(Array((predicateFormat(derivation) + (attribute.derivationFilter ?? "")).utf8))
    }
    if attribute.type == .composite {
      // Composites in composites are flattened: a name may be there twice.
      let leaves = attribute.leaves.map(\.attribute).sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
      return SHA256.hash(leaves.flatMap { hash(of: $0) })
    }
    var text = property(
      attribute.name, flags(attribute.isOptional, isTransient: attribute.isTransient, isReadOnly: attribute.isReadOnly),
      modifier: attribute.versionHashModifier)
    text += bytes(attribute.type.rawValue)
    if attribute.allowsExternalBinaryDataStorage { text.append(1) }
    if attribute.preservesValueInHistoryOnDeletion { text.append(1) }
    return SHA256.hash(text)
  }

  static func hash(of relationship: RelationshipDescription, isOwnInverse: Bool) -> [UInt8] {
    var text = property(
      relationship.name,
      flags(relationship.isOptional, isTransient: relationship.isTransient, isReadOnly: relationship.isReadOnly),
      modifier: relationship.versionHashModifier)
    text += Array(relationship.destinationEntity.utf8)
    if let inverse = relationship.inverseName, !isOwnInverse { text += Array(inverse.utf8) }
    text += bytes(relationship.maxCount) + bytes(relationship.minCount)
    if relationship.isOrdered { text += [1, 0] }
    return SHA256.hash(text)
  }

  private static func property(_ name: String, _ flags: UInt8, modifier: String?) -> [UInt8] {
    SHA256.hash(Array(name.utf8) + [flags, 0] + Array((modifier ?? "").utf8))
  }

  private static func flags(_ isOptional: Bool, isTransient: Bool, isReadOnly: Bool) -> UInt8 {
    (isOptional ? 1 : 0) + (isTransient ? 2 : 0) + (isReadOnly ? 4 : 0)
  }

  /// The derivation as predicate format writes it: `x.@count` becomes `count:(x)`. Other operators follow the pattern.
  package static func predicateFormat(_ derivation: String) -> String {
    let path = derivation.split(separator: ".", omittingEmptySubsequences: false)
    guard let position = path.firstIndex(where: { $0.hasPrefix("@") }), position > 0,
      path.allSatisfy({ !$0.contains(where: { "( )".contains($0) }) })
    else { return derivation }
    let operand = (path[..<position] + path[(position + 1)...]).joined(separator: ".")
    return "\(path[position].dropFirst()):(\(operand))"
  }

  private static func bytes(_ number: Int32) -> [UInt8] {
    withUnsafeBytes(of: number.littleEndian) { Array($0) }
  }
}
