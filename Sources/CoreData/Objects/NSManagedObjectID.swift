/// What an object is known by: its entity and its key.
open class NSManagedObjectID: NSObject {
  let kind: ManagedEntity
  let key: Int64
  let session: MigrationSession

  init(kind: ManagedEntity, key: Int64, session: MigrationSession) {
    (self.kind, self.key, self.session) = (kind, key, session)
  }

  /// The object's entity.
  public var entity: NSEntityDescription { kind.description(in: session) }
  /// Whether the object has no key yet.
  public var isTemporaryID: Bool { key == 0 }

  /// The address of the object, as Core Data writes it: with the store's UUID, which a migration keeps.
  public func uriRepresentation() -> URL {
    URL(string: "x-coredata://\(session.storeUUID)/\(kind.name)/p\(key)") ?? URL(fileURLWithPath: "/")
  }

  /// Two of one object are equal.
  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? NSManagedObjectID else { return false }
    return key == other.key && kind.isSameTable(other.kind)
  }

  /// Goes with ``isEqual(_:)``.
  open override var hash: Int { Int(truncatingIfNeeded: key) }
  /// The address.
  open override var description: String { uriRepresentation().absoluteString }
}
