import CoreDataModel
import CoreDataStore
import RunSupport
import Streams

/// An attribute as it lies in a table.
package struct StoredAttribute: Sendable {
  /// Position in the source's record, or the destination's column.
  package var position: Int
  package var type: AttributeType
  /// Whether values may lie in files beside the store. Then each begins with a byte that says so.
  package var isExternal: Bool

  /// A value as the attribute's column holds it.
  func inColumn(_ value: Value) -> Value { isExternal ? Self.inExternalStorage(value) : value }

  /// A value of the attribute's column without what external storage puts before it; nil for one that lies in a file.
  func outOfColumn(_ value: Value) -> Value? { isExternal ? Self.outOfExternalStorage(value) : value }

  /// A value as a column of external storage holds it: the first byte says that the bytes are in the row (B.4).
  package static func inExternalStorage(_ value: Value) -> Value {
    if case .blob(let bytes) = value { .blob([1] + bytes) } else { value }
  }

  /// The value of a column of external storage without that byte; nil for one that lies in a file.
  package static func outOfExternalStorage(_ value: Value) -> Value? {
    guard case .blob(let bytes) = value, let mark = bytes.first else { return value }
    return mark == 1 ? .blob(Array(bytes.dropFirst())) : nil
  }

  /// What lies in a file would have to go into the row, whatever its size.
  static func staysOutside(_ name: String, of entity: String) -> BatchError {
    BatchError(
      .badMapping, "\(name) would no longer allow external storage, and its values may lie in files beside the store",
      hint: "Keep 'Allows External Storage' (in SwiftData, .externalStorage) as it was", entity: entity)
  }
}

extension AttributeDescription {
  /// The default value as the attribute's column holds it; nil for none.
  package var storedDefault: Value? {
    let value = defaultValue.map(type.stored)
    return allowsExternalBinaryDataStorage ? value.map(StoredAttribute.inExternalStorage) : value
  }
}

/// A relationship as it is stored.
package struct StoredRelationship: Sendable {
  package var storage: RelationshipStorage
  package var destination: String
  /// The destination's Z_ENT.
  package var destinationNumber: Int
  package var inverse: String?
  /// Whether the other side holds a key as well.
  var hasToOneInverse: Bool
  package var isOrdered: Bool
  /// Where the source's records have a to-one's key, and the number of the entity that it leads to; for sources alone.
  package var keyPosition: Int?
  var entityPosition: Int?

  /// Whether each side holds the key of the other one.
  var isOneToOne: Bool { if case .ownKey = storage { hasToOneInverse } else { false } }
}

extension StoreLayout {
  /// The relationships of an entity that are stored, by name. `positions` says of a source's tables where columns stand
  /// in records.
  func storedRelationships(of entity: String, positions: [[Int]]? = nil) -> NameTable<StoredRelationship> {
    var found: [String: StoredRelationship] = [:]
    for relationship in model.relationships(of: entity) {
      guard let storage = storage(of: relationship.name, entity: entity) else { continue }
      let (destination, inverse) = (relationship.destinationEntity, relationship.inverseName)
      var hasToOneInverse = false
      if case .ownKey = inverse.flatMap({ self.storage(of: $0, entity: destination) }) { hasToOneInverse = true }
      found[relationship.name] = StoredRelationship(
        storage: storage, destination: destination, destinationNumber: entityNumbers[destination] ?? 0,
        inverse: inverse,
        hasToOneInverse: hasToOneInverse, isOrdered: relationship.isOrdered)
      guard let positions, case .ownKey(let table, let column, let entityColumn, _) = storage else { continue }
      found[relationship.name]?.keyPosition = positions[table][column]
      found[relationship.name]?.entityPosition = entityColumn.map { positions[table][$0] }
    }
    return NameTable(found)
  }
}
