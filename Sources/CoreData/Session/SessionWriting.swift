import Migrations
import RunSupport
import Streams

// What KVC writes.
extension MigrationSession {
  /// Sets the value of an object for a key.
  func write(_ value: Any?, _ key: String, of object: NSManagedObject) {
    guard !hasEnded, let property = object.kind.properties.find(key)?.pointee else {
      return _ = missing(key, of: object)
    }
    guard object.kind.side == .destination else {
      return fail("\(key) of a source object cannot be set: the source of a migration stays as it is", of: object)
    }
    guard !object.isDeleted else { return }
    attempt {
      switch property.kind {
      case .attribute(let attribute): try set(value, attribute, name: key, of: object)
      case .relationship(let link, isToMany: false): try set(value, toOne: link, key, of: object)
      case .relationship(let link, isToMany: true): try set(value, toMany: link, key, of: object)
      case .transient: object.known?.transient[key] = value
      }
    }
  }

  private func set(_ object: Any?, _ attribute: StoredAttribute, name: String, of owner: NSManagedObject) throws {
    guard var value = ValueBridge.value(object, attribute.type) else {
      throw engine.failure(
        "\(name) is of the type \(attribute.type), and is set to a \(object.map { "\(type(of: $0))" } ?? "nil")",
        hint: "Convert it in the policy", entity: owner.kind.name, key: owner.key)
    }
    if attribute.isExternal, case .blob(let bytes) = value { value = .blob([1] + bytes) }
    if owner.key == 0 {
      owner.known?.attributes[name] = value
      return
    }
    try target(of: owner)?.setStored(name, value)
    guard owner.target == nil, owner.known != nil else { return }
    owner.known?.attributes[name] = attribute.type.fitting(value) ?? value
    remembered.changed(owner, name)
  }

  private func set(_ value: Any?, toOne link: StoredRelationship, _ name: String, of owner: NSManagedObject) throws {
    guard let other = value as? NSManagedObject else {
      guard value == nil || value is NSNull else { throw noObject(name, value, of: owner) }
      return try clear(link, name, of: owner)
    }
    try check(other, name, of: owner)
    try afterKeys(owner, and: other) { [unowned self] in
      try target(of: owner)?.set(name, to: target(of: other))
    }
    note(other, in: link, isToMany: false, name: name, of: owner)
  }

  private func clear(_ link: StoredRelationship, _ name: String, of owner: NSManagedObject) throws {
    if owner.key == 0 {
      owner.known?.waiting.append { [unowned self] in try target(of: owner)?.set(name, to: nil) }
    } else {
      try target(of: owner)?.set(name, to: nil)
    }
    if let old = owner.known?.links[name]?.first, let inverse = link.inverse { old.known?.remove(owner, from: inverse) }
    owner.known?.set([], name)
  }

  private func set(_ value: Any?, toMany link: StoredRelationship, _ name: String, of owner: NSManagedObject) throws {
    guard let objects = Self.members(value) else { throw noObject(name, value, of: owner) }
    let before = try linked(owner, name)
    let (old, new) = (Set(before.map { ObjectIdentifier($0) }), Set(objects.map { ObjectIdentifier($0) }))
    guard old.isSubset(of: new), !link.isOrdered || zip(before, objects).allSatisfy({ $0 === $1 }) else {
      throw engine.failure(
        "objects that \(name) of \(owner.kind.name) has cannot be taken out or put into another order again",
        hint: "Set the relationship once, when all its objects are known", entity: owner.kind.name, key: owner.key)
    }
    for object in objects where !old.contains(ObjectIdentifier(object)) { try add(object, to: link, name, of: owner) }
  }

  /// Adds an object to a to-many relationship.
  func add(_ other: NSManagedObject, to link: StoredRelationship, _ name: String, of owner: NSManagedObject) throws {
    try check(other, name, of: owner)
    try afterKeys(owner, and: other) { [unowned self] in
      guard let object = target(of: other) else { return }
      try target(of: owner)?.add(object, to: name)
    }
    note(other, in: link, isToMany: true, name: name, of: owner)
  }

  /// The members of a set or an array of objects; nil for anything else.
  static func members(_ value: Any?) -> [NSManagedObject]? {
    switch value {
    case nil, is NSNull: []
    case let objects as Set<NSManagedObject>: objects.sorted { ($0.kind.number, $0.key) < ($1.kind.number, $1.key) }
    case let objects as [NSManagedObject]: objects
    case let objects as NSOrderedSet: objects.array as? [NSManagedObject]
    case let objects as NSSet:
      (objects.allObjects as? [NSManagedObject])?.sorted { ($0.kind.number, $0.key) < ($1.kind.number, $1.key) }
    default: nil
    }
  }

  private func noObject(_ name: String, _ value: Any?, of owner: NSManagedObject) -> BatchError {
    engine.failure(
      "\(name) is a relationship, and is set to a \(value.map { "\(type(of: $0))" } ?? "nil")",
      hint: "Set a to-one to an object, a to-many to a set of objects", entity: owner.kind.name, key: owner.key)
  }

  private func check(_ other: NSManagedObject, _ name: String, of owner: NSManagedObject) throws {
    guard !other.isDeleted, !owner.isDeleted else {
      throw engine.failure(
        "\(name) links an object that was deleted", hint: "Delete only what nothing is linked with later",
        entity: owner.kind.name, key: owner.key)
    }
    guard other.kind.side == .source else { return }
    throw engine.failure(
      "\(name) of an object of the destination is set to an object of the source",
      hint: "Ask manager.destinationInstances(forEntityMappingName:sourceInstances:) what became of it",
      entity: owner.kind.name, key: owner.key)
  }

  /// Does something at once, or when both objects have keys.
  private func afterKeys(_ owner: NSManagedObject, and other: NSManagedObject, _ body: @escaping () throws -> Void)
    throws
  {
    guard let waits = [owner, other].first(where: { $0.key == 0 }) else { return try body() }
    waits.known?.waiting.append { [unowned self] in try afterKeys(owner, and: other, body) }
  }

  /// Both sides of a relationship know it, as far as they are remembered.
  private func note(
    _ other: NSManagedObject, in link: StoredRelationship, isToMany: Bool, name: String, of owner: NSManagedObject
  ) {
    linkedNow.formUnion([ObjectIdentifier(owner), ObjectIdentifier(other)])
    var inverseIsToMany = false
    let inverse = link.inverse.flatMap { other.kind.properties.find($0)?.pointee }
    if case .relationship(_, let isToMany)? = inverse?.kind { inverseIsToMany = isToMany }
    if !isToMany, let inverse, let old = owner.known?.links[name]?.first {
      old.known?.remove(owner, from: inverse.name)
    }
    if let inverse, !inverseIsToMany, let old = other.known?.links[inverse.name]?.first {
      old.known?.remove(other, from: name)
    }
    keep(other, isToMany: isToMany, name, of: owner)
    if let inverse { keep(owner, isToMany: inverseIsToMany, inverse.name, of: other) }
  }

  private func keep(_ other: NSManagedObject, isToMany: Bool, _ name: String, of owner: NSManagedObject) {
    if owner.known == nil, owner.target != nil, remembered.takes(owner.kind.number) { owner.known = KnownValues() }
    guard let known = owner.known else { return }
    guard remembered.takes(other.kind.number) else { return known.forget(name) }
    isToMany ? known.add(other, to: name) : known.set([other], name)
    remembered.add(64, owner.kind.number)
  }
}
