import Migrations
import Streams

/// An object of a step: a window on a row of the source, or on an object of the destination.
///
/// Values of the source can always be read. Of the destination those objects can be read that policies have made or
/// touched, as long as there are few enough of them for the memory of the run; all can be changed. KVC does not throw:
/// its errors end the migration when the policy's call returns, with entity and key.
open class NSManagedObject: NSObject {
  final let kind: ManagedEntity
  // A circle, which MigrationSession.end() breaks.
  final let session: MigrationSession
  /// Its key (Z_PK); 0 until an object of the destination has one.
  final var key: Int64 = 0
  /// The row of an object of the source; nil where it has to be fetched.
  final var row: SourceObject?
  /// The engine's object, where the destination's is open.
  final var target: DestinationObject?
  /// What is known of an object of the destination; nil where it is not kept.
  final var known: KnownValues?

  init(kind: ManagedEntity, session: MigrationSession) {
    (self.kind, self.session) = (kind, session)
  }

  /// Makes an object of the destination. Without a context there is no object, and the migration ends with an error.
  public init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
    session = entity.session
    kind = session.insertable(entity.kind, context)
    super.init()
    session.insert(self)
  }

  /// Makes an object of the destination, of the entity that is named as the class.
  public convenience init(context: NSManagedObjectContext) {
    let entity = context.session.entity("\(Self.self)", context.side)
    self.init(entity: entity.description(in: context.session), insertInto: context)
  }

  /// Its entity.
  public final var entity: NSEntityDescription { kind.description(in: session) }
  /// The context of its side.
  public final var managedObjectContext: NSManagedObjectContext? {
    kind.side == .source ? session.sourceContext : session.destinationContext
  }
  /// What it is known by.
  public final var objectID: NSManagedObjectID {
    session.settle(self)
    return NSManagedObjectID(kind: kind, key: key, session: session)
  }
  /// Whether its values are not in memory: of the destination, those that can no longer be read.
  public final var isFault: Bool { kind.side == .destination && known == nil && target == nil }
  /// Whether it was made by the call at work.
  public final var isInserted: Bool { kind.side == .destination && (target != nil || key == 0) }
  /// Whether the call that made it has deleted it.
  public final internal(set) var isDeleted = false
  /// Whether it is one of the destination.
  public final var hasChanges: Bool { kind.side == .destination }

  /// Two windows on one object are equal.
  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? NSManagedObject else { return false }
    if self === other { return true }
    session.settle(self)
    session.settle(other)
    return key == other.key && kind.isSameTable(other.kind) && session === other.session
  }

  /// Goes with ``isEqual(_:)``.
  open override var hash: Int {
    session.settle(self)
    return Int(truncatingIfNeeded: key)
  }

  /// Entity and key.
  open override var description: String { "<\(kind.name) \(key)>" }

  /// The value for a key: an attribute's, or the objects of a relationship.
  open func value(forKey key: String) -> Any? { session.read(self, key) }

  /// Sets the value for a key.
  open func setValue(_ value: Any?, forKey key: String) { session.write(value, key, of: self) }

  /// The same as ``value(forKey:)``: nothing lies before the values of a step.
  public final func primitiveValue(forKey key: String) -> Any? { session.read(self, key) }

  /// The same as ``setValue(_:forKey:)``.
  public final func setPrimitiveValue(_ value: Any?, forKey key: String) { session.write(value, key, of: self) }

  /// Does nothing: nobody watches.
  public final func willAccessValue(forKey key: String?) {}
  /// Does nothing: nobody watches.
  public final func didAccessValue(forKey key: String?) {}
  /// Does nothing: nobody watches.
  public final func willChangeValue(forKey key: String) {}
  /// Does nothing: nobody watches.
  public final func didChangeValue(forKey key: String) {}

  /// The values for several keys; what has none is NSNull.
  open func dictionaryWithValues(forKeys keys: [String]) -> [String: Any] {
    Dictionary(keys.map { ($0, value(forKey: $0) ?? NSNull()) }, uniquingKeysWith: { first, _ in first })
  }

  /// The values for several keys; nil for what is not there.
  open func committedValues(forKeys keys: [String]?) -> [String: Any] {
    dictionaryWithValues(forKeys: keys ?? kind.properties.names)
  }

  /// Sets the values for several keys.
  open func setValuesForKeys(_ values: [String: Any]) {
    for (key, value) in values.sorted(by: { $0.key < $1.key }) { setValue(value, forKey: key) }
  }
}
