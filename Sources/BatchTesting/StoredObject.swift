/// An object of a migrated store.
public struct StoredObject: Sendable, Equatable, Decodable {
  /// Its entity; for objects of sub-entities that one.
  public let entity: String
  /// Its key (Z_PK). Objects that stand for one source object keep its key where that is possible.
  public let key: Int64
  /// Its attributes by name, composite ones as ``StoreValue/object(_:)``.
  public let attributes: [String: StoreValue]
  /// Its relationships by name: ``StoreValue/keys`` has the keys.
  public let relationships: [String: StoreValue]

  /// The value of an attribute, or the keys of a relationship; null where the entity has no such property.
  public subscript(property: String) -> StoreValue { attributes[property] ?? relationships[property] ?? .null }
}
