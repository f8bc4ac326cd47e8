import Migrations
import RunSupport
import Streams

// What KVC reads.
extension MigrationSession {
  /// The value of an object for a key.
  func read(_ object: NSManagedObject, _ key: String) -> Any? {
    guard !hasEnded, let property = object.kind.properties.find(key) else { return missing(key, of: object) }
    return attempt {
      switch object.kind.side {
      case .source: try source(object, property.pointee)
      case .destination: try destination(object, property.pointee)
      }
    }
  }

  /// The call fails: an object has no such key.
  func missing(_ key: String, of object: NSManagedObject) -> Any? {
    guard object.kind.number > 0, !hasEnded else { return nil }
    let names = object.kind.properties.names
    let side = object.kind.side == .source ? "source" : "destination"
    fail(
      "\(object.kind.name) of the \(side) has no property \(key)\(NearName.question(key, in: names))",
      hint: "It has \(names.joined(separator: ", "))", of: object)
    return nil
  }

  private func source(_ object: NSManagedObject, _ property: ManagedEntity.Property) throws -> Any? {
    guard let row = try row(of: object) else { return nil }
    switch property.kind {
    case .attribute(let attribute):
      return try self.object(row.value(attribute), attribute, name: property.name, of: object)
    case .relationship(let link, isToMany: false): return try row.object(link).map { window($0) }
    case .relationship(let link, isToMany: true):
      return collection(try row.objects(property.name).map { window($0) }, isOrdered: link.isOrdered)
    case .transient: return nil
    }
  }

  private func destination(_ object: NSManagedObject, _ property: ManagedEntity.Property) throws -> Any? {
    switch property.kind {
    case .attribute(let attribute):
      if let open = object.target {
        let value = try open.storedValue(property.name)
        return try self.object(value, attribute, name: property.name, of: object)
      }
      guard let known = object.known else { throw unreadable(property.name, of: object) }
      let value = known.attributes[property.name] ?? (object.key == 0 ? preset(attribute, object) : .null)
      return try self.object(value, attribute, name: property.name, of: object)
    case .relationship(let link, let isToMany):
      let objects = try linked(object, property.name)
      if !isToMany { return objects.first }
      return collection(objects, isOrdered: link.isOrdered)
    case .transient: return object.known?.transient[property.name]
    }
  }

  /// What a new object has.
  private func preset(_ attribute: StoredAttribute, _ object: NSManagedObject) -> Value {
    object.kind.destination.map { attribute.type.normalized($0.template[attribute.position]) } ?? .null
  }

  /// The objects that policies have linked with one of the destination.
  func linked(_ object: NSManagedObject, _ name: String) throws -> [NSManagedObject] {
    if isLate, carries(name, of: object) { throw unreadable(name, of: object) }
    guard let known = object.known else {
      if object.target != nil { return [] }
      throw unreadable(name, of: object)
    }
    if known.forgotten.contains(name) { throw unreadable(name, of: object) }
    return known.links[name] ?? []
  }

  /// Whether a mapping sets a relationship once all objects exist.
  private func carries(_ name: String, of object: NSManagedObject) -> Bool {
    engine.entityMappings.contains { mapping in
      mapping.destinationEntity == object.kind.name && mapping.relationshipMappings.contains { $0.name == name }
    }
  }

  private func unreadable(_ name: String, of object: NSManagedObject) -> BatchError {
    engine.failure(
      "\(name) of an object of \(object.kind.name) cannot be read: the object is written, and too much was made to keep it in memory",
      hint: "Read the source object, set the other side of a relationship, or give the run more memory with --memory",
      entity: object.kind.name, key: object.key)
  }

  private func collection(_ objects: [NSManagedObject], isOrdered: Bool) -> Any {
    isOrdered ? NSOrderedSet(array: objects) : Set(objects)
  }

  private func object(_ value: Value, _ attribute: StoredAttribute, name: String, of object: NSManagedObject) throws
    -> Any?
  {
    do {
      guard attribute.isExternal, case .blob(let bytes) = value else {
        return try ValueBridge.object(value, attribute.type)
      }
      guard bytes.first == 1 else { throw Misfit("lies in a file beside the store: let the mapping copy it") }
      return try ValueBridge.object(.blob(Array(bytes.dropFirst())), attribute.type)
    } catch let misfit as Misfit {
      throw engine.failure("\(name) \(misfit.reason)", entity: object.kind.name, key: object.key)
    }
  }
}
