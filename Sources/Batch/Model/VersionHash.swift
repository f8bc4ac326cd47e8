import Foundation

extension ManagedObjectModel {
  /// The version hash of every entity: 32 bytes, equal to those that Core Data writes into a store's metadata.
  ///
  /// Source of the rule: measured on real stores (A.1 to A.5). Rings of parents are cut, missing parents left out;
  /// such a model does not pass ``validate()``.
  public var versionHashes: [String: [UInt8]] {
    var hasher = VersionHasher(model: self)
    var hashes: [String: [UInt8]] = [:]
    for entity in entities { hashes[entity.name] = hasher.hash(of: entity) }
    return hashes
  }

  /// `NSStoreModelVersionChecksumKey`: base64 of SHA-256 over the hashes in the order of entity names (A.6).
  public var versionChecksum: String { Self.versionChecksum(versionHashes) }

  /// ``versionChecksum`` of hashes that are known already.
  public static func versionChecksum(_ hashes: [String: [UInt8]]) -> String {
    Data(SHA256.hash(sorted(hashes).flatMap(\.value))).base64EncodedString()
  }

  /// `NSStoreModelVersionHashesDigest`: base64 of SHA-512 over names and hashes in the order of names (A.6).
  public var versionHashesDigest: String { Self.versionHashesDigest(versionHashes) }

  /// ``versionHashesDigest`` of hashes that are known already.
  public static func versionHashesDigest(_ hashes: [String: [UInt8]]) -> String {
    Data(SHA512.hash(sorted(hashes).flatMap { Array($0.key.utf8) + $0.value })).base64EncodedString()
  }

  private static func sorted(_ hashes: [String: [UInt8]]) -> [(key: String, value: [UInt8])] {
    hashes.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
  }
}

/// Computes entity hashes, each parent once.
private struct VersionHasher {
  let model: ManagedObjectModel
  private var done: [String: [UInt8]] = [:]
  private var active: Set<String> = []

  init(model: ManagedObjectModel) { self.model = model }

  mutating func hash(of entity: EntityDescription) -> [UInt8] {
    if let known = done[entity.name] { return known }
    active.insert(entity.name)
    defer { active.remove(entity.name) }
    var text = Array(entity.name.utf8) + [entity.isAbstract ? 1 : 0]
    if let name = entity.superentity, let parent = model.entity(name), !active.contains(name) {
      text += hash(of: parent)
    }
    text += propertyHashes(of: entity)
    if let modifier = entity.versionHashModifier { text += Array(modifier.utf8) }
    let constraints = entity.uniquenessConstraints.map { $0.joined(separator: ".") }
    for constraint in constraints.sorted(by: precedes) { text += Array(constraint.utf8) }
    let hash = SHA256.hash(text)
    done[entity.name] = hash
    return hash
  }

  /// Hashes of all stored properties, own and inherited, in code-unit order of their names.
  private func propertyHashes(of entity: EntityDescription) -> [UInt8] {
    var hashes: [(name: String, hash: [UInt8])] = []
    for owner in [entity] + model.ancestors(of: entity.name) {
      for attribute in owner.attributes where !attribute.isTransient {
        hashes.append((attribute.name, hash(of: attribute)))
      }
      for relationship in owner.relationships where !relationship.isTransient {
        hashes.append((relationship.name, hash(of: relationship, owner: owner)))
      }
    }
    return hashes.sorted { precedes($0.name, $1.name) }.flatMap(\.hash)
  }

  private func hash(of attribute: AttributeDescription) -> [UInt8] {
    if let derivation = attribute.derivationExpression {
      return SHA256.hash(Array((Self.predicateFormat(derivation) + (attribute.derivationFilter ?? "")).utf8))
    }
    if attribute.type == .composite {
      let elements = attribute.elements.filter { !$0.isTransient }.sorted { precedes($0.name, $1.name) }
      return SHA256.hash(elements.flatMap { hash(of: $0) })
    }
    var text = property(
      attribute.name, flags(attribute.isOptional, attribute.isTransient, attribute.isReadOnly),
      modifier: attribute.versionHashModifier)
    text += bytes(attribute.type.rawValue)
    if attribute.allowsExternalBinaryDataStorage { text.append(1) }
    if attribute.preservesValueInHistoryOnDeletion { text.append(1) }
    return SHA256.hash(text)
  }

  private func hash(of relationship: RelationshipDescription, owner: EntityDescription) -> [UInt8] {
    var text = property(
      relationship.name, flags(relationship.isOptional, relationship.isTransient, relationship.isReadOnly),
      modifier: relationship.versionHashModifier)
    text += Array(relationship.destinationEntity.utf8)
    if let inverse = relationship.inverseName, !isOwnInverse(relationship, owner: owner) { text += Array(inverse.utf8) }
    text += bytes(relationship.maxCount) + bytes(relationship.minCount)
    if relationship.isOrdered { text += [1, 0] }
    return SHA256.hash(text)
  }

  private func isOwnInverse(_ relationship: RelationshipDescription, owner: EntityDescription) -> Bool {
    guard relationship.inverseName == relationship.name else { return false }
    let destination = relationship.destinationEntity
    let declaring = ([model.entity(destination)].compactMap { $0 } + model.ancestors(of: destination))
      .first { $0.relationships.contains { $0.name == relationship.name } }
    return declaring?.name == owner.name
  }

  private func property(_ name: String, _ flags: UInt8, modifier: String?) -> [UInt8] {
    SHA256.hash(Array(name.utf8) + [flags, 0] + Array((modifier ?? "").utf8))
  }

  private func flags(_ isOptional: Bool, _ isTransient: Bool, _ isReadOnly: Bool) -> UInt8 {
    (isOptional ? 1 : 0) + (isTransient ? 2 : 0) + (isReadOnly ? 4 : 0)
  }

  /// The derivation as predicate format writes it: `x.@count` becomes `count:(x)`. Other operators follow the pattern.
  private static func predicateFormat(_ derivation: String) -> String {
    let path = derivation.split(separator: ".", omittingEmptySubsequences: false)
    guard let position = path.firstIndex(where: { $0.hasPrefix("@") }), position > 0,
      path.allSatisfy({ !$0.contains(where: { "( )".contains($0) }) })
    else { return derivation }
    let operand = (path[..<position] + path[(position + 1)...]).joined(separator: ".")
    return "\(path[position].dropFirst()):(\(operand))"
  }

  private func bytes(_ number: Int32) -> [UInt8] {
    withUnsafeBytes(of: number.littleEndian) { Array($0) }
  }

  private func precedes(_ left: String, _ right: String) -> Bool { left.utf8.lexicographicallyPrecedes(right.utf8) }
}
