import Codecs
import Foundation
import RunSupport

extension ManagedObjectModel {
  /// The version hash of every entity: 32 bytes, equal to those that Core Data writes into a store's metadata.
  ///
  /// Source of the rule: measured on real stores (A.1 to A.5). Rings of parents are cut, missing parents left out;
  /// such a model does not pass ``validate()``.
  ///
  /// No store was seen that could prove these, which follow the pattern of the rest: derivation filters, derivations
  /// other than key paths and `@count`, names outside ASCII, and attributes of the type ``AttributeType/objectID``.
  public var versionHashes: [String: [UInt8]] {
    remembered(ModelFacts.versionHashes) {
      var hasher = VersionHasher(model: self)
      return hasher.hashes()
    }
  }

  /// ``versionHashes`` of versions that follow each other: of an entity that stays as it is the hash is known already.
  package static func versionHashes(_ versions: [ManagedObjectModel]) -> [[String: [UInt8]]] {
    guard versions.count >= leastHalved else { return hashesInTurn(versions[...]) }
    let half = versions.count / 2
    return [versions[..<half], versions[half...]].concurrentMap { hashesInTurn($0) }.flatMap { $0 }
  }

  /// Fewer versions are hashed sooner by one thread, which knows most hashes from the version before.
  private static let leastHalved = 16

  private static func hashesInTurn(_ versions: ArraySlice<ManagedObjectModel>) -> [[String: [UInt8]]] {
    var earlier: (model: ManagedObjectModel, hashes: [String: [UInt8]])?
    var properties = PropertyHashes()
    return versions.map { model in
      let hashes = model.remembered(ModelFacts.versionHashes) {
        var hasher = VersionHasher(model: model, properties: properties)
        if let earlier { hasher.takeOver(from: earlier.model, earlier.hashes) }
        defer { properties = hasher.properties }
        return hasher.hashes()
      }
      earlier = (model, hashes)
      return hashes
    }
  }

  /// `NSStoreModelVersionChecksumKey`: base64 of SHA-256 over the hashes in the order of entity names (A.6).
  public var versionChecksum: String {
    remembered(ModelFacts.versionChecksum) { Self.versionChecksum(versionHashes) }
  }

  /// ``versionChecksum`` of hashes that are known already.
  public static func versionChecksum(_ hashes: [String: [UInt8]]) -> String {
    Data(SHA256.hash(sorted(hashes).flatMap(\.value))).base64EncodedString()
  }

  /// `NSStoreModelVersionHashesDigest`: base64 of SHA-512 over names and hashes in the order of names (A.6).
  public var versionHashesDigest: String {
    remembered(ModelFacts.versionHashesDigest) { Self.versionHashesDigest(versionHashes) }
  }

  /// ``versionHashesDigest`` of hashes that are known already.
  public static func versionHashesDigest(_ hashes: [String: [UInt8]]) -> String {
    // A list of stores has few versions, and asks for each of them several times a store.
    knownDigests.value(hashes) {
      Data(SHA512.hash(sorted(hashes).flatMap { Array($0.key.utf8) + $0.value })).base64EncodedString()
    }
  }

  private static let knownDigests = Memo<[String: [UInt8]], String>(limit: 8)

  private static func sorted(_ hashes: [String: [UInt8]]) -> [(key: String, value: [UInt8])] {
    hashes.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
  }
}

extension ModelFacts {
  fileprivate static let versionHashes = Key<[String: [UInt8]]>("version hashes")
  fileprivate static let versionChecksum = Key<String>("version checksum")
  fileprivate static let versionHashesDigest = Key<String>("version hashes digest")
}

/// Computes entity hashes, each parent once.
private struct VersionHasher {
  let model: ManagedObjectModel
  private var done: [String: [UInt8]] = [:]
  private var active: Set<String> = []
  /// Those of versions before, too.
  private(set) var properties: PropertyHashes

  init(model: ManagedObjectModel, properties: PropertyHashes = PropertyHashes()) {
    (self.model, self.properties) = (model, properties)
  }

  mutating func hashes() -> [String: [UInt8]] {
    for entity in model.entities { _ = hash(of: entity) }
    return done
  }

  /// Takes over the hashes of entities that another version has alike, with all their parents, where no other entity
  /// plays a part in them.
  mutating func takeOver(from other: ManagedObjectModel, _ hashes: [String: [UInt8]]) {
    var alike: [String: Bool] = [:]
    for entity in model.entities where isAlike(entity, in: other, &alike) { done[entity.name] = hashes[entity.name] }
  }

  private func isAlike(_ entity: EntityDescription, in other: ManagedObjectModel, _ known: inout [String: Bool]) -> Bool
  {
    if let known = known[entity.name] { return known }
    // Parents may form a circle.
    known[entity.name] = false
    let parent = entity.superentity.flatMap(model.entity)
    let isAlike =
      other.entity(entity.name).map { $0 == entity && $0.hasBytes(of: entity) } ?? false
      && !entity.relationships.contains { $0.inverseName == $0.name }
      && (parent.map { self.isAlike($0, in: other, &known) } ?? (entity.superentity == nil))
    known[entity.name] = isAlike
    return isAlike
  }

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
  private mutating func propertyHashes(of entity: EntityDescription) -> [UInt8] {
    var hashes: [(name: String, hash: [UInt8])] = []
    for owner in [entity] + model.ancestors(of: entity.name) {
      for attribute in owner.attributes where !attribute.isTransient {
        hashes.append((attribute.name, properties.hash(of: attribute)))
      }
      for relationship in owner.relationships where !relationship.isTransient {
        let isOwnInverse = model.isOwnInverse(relationship, declaredBy: owner.name)
        hashes.append((relationship.name, properties.hash(of: relationship, isOwnInverse: isOwnInverse)))
      }
    }
    return hashes.sorted { precedes($0.name, $1.name) }.flatMap(\.hash)
  }

  private func precedes(_ left: String, _ right: String) -> Bool { left.utf8.lexicographicallyPrecedes(right.utf8) }
}

extension EntityDescription {
  /// Whether texts that its hash depends on have the bytes of those of an equal entity: equal texts may have others, as
  /// letters with accents do.
  fileprivate func hasBytes(of other: EntityDescription) -> Bool {
    func isSame(_ left: String?, _ right: String?) -> Bool { (left ?? "").utf8.elementsEqual((right ?? "").utf8) }
    return isSame(name, other.name) && isSame(superentity, other.superentity)
      && isSame(versionHashModifier, other.versionHashModifier)
      && zip(uniquenessConstraints.joined(), other.uniquenessConstraints.joined()).allSatisfy(isSame)
      && zip(attributes, other.attributes).allSatisfy { left, right in
        isSame(left.name, right.name) && isSame(left.versionHashModifier, right.versionHashModifier)
          && left.elements.isEmpty && left.derivationExpression == nil
      }
      && zip(relationships, other.relationships).allSatisfy { left, right in
        isSame(left.name, right.name) && isSame(left.versionHashModifier, right.versionHashModifier)
          && isSame(left.destinationEntity, right.destinationEntity) && isSame(left.inverseName, right.inverseName)
      }
  }
}
