import Streams

/// What is known of an object of the destination.
final class KnownValues {
  /// Attributes that were set, by name; of an object that is written, all of them.
  var attributes: [String: Value] = [:]
  /// Relationships that policies have set, in the order in which they did.
  private(set) var links: [String: [NSManagedObject]] = [:]
  private var members: [String: Set<ObjectIdentifier>] = [:]
  /// Transient attributes.
  var transient: [String: Any] = [:]
  /// What has to be done once the object has a key.
  var waiting: [() throws -> Void] = []

  /// Whether a relationship has that object.
  func has(_ object: NSManagedObject, _ name: String) -> Bool {
    members[name]?.contains(ObjectIdentifier(object)) ?? false
  }

  /// Adds an object to a relationship, unless it is there.
  func add(_ object: NSManagedObject, to name: String) {
    guard members[name, default: []].insert(ObjectIdentifier(object)).inserted else { return }
    links[name, default: []].append(object)
  }

  /// Sets a relationship.
  func set(_ objects: [NSManagedObject], _ name: String) {
    links[name] = objects
    members[name] = Set(objects.map { ObjectIdentifier($0) })
  }

  /// Takes an object out of a relationship.
  func remove(_ object: NSManagedObject, from name: String) {
    guard members[name]?.remove(ObjectIdentifier(object)) != nil else { return }
    links[name]?.removeAll { $0 === object }
  }

  /// Relationships that were known, and had too many objects.
  private(set) var forgotten: Set<String> = []

  /// Forgets the relationships that lead to objects of an entity.
  func forget(linksTo kind: ManagedEntity) {
    for (name, objects) in links where objects.contains(where: { $0.kind === kind }) { forget(name) }
  }

  /// Forgets a relationship.
  func forget(_ name: String) {
    (links[name], members[name]) = (nil, nil)
    forgotten.insert(name)
  }

  /// About what it takes, in bytes.
  var bytes: Int {
    attributes.reduce(256) { sum, entry in
      switch entry.value {
      case .text(let text): sum + 64 + text.utf8.count
      case .blob(let bytes): sum + 64 + bytes.count
      default: sum + 64
      }
    }
  }
}
