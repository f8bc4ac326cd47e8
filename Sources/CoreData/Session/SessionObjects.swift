import Migrations

// Windows on objects: of the source, of what was made before, and of what the call at work makes.
extension MigrationSession {
  /// A window on an object of the source, by Z_ENT and key.
  func sourceWindow(_ number: Int, _ key: Int64) -> NSManagedObject {
    let kind = sources.indices.contains(number) ? sources[number] : nil
    let window = NSManagedObject(
      kind: kind ?? ManagedEntity(missing: "", side: .source, model: engine.sourceModel), session: self)
    window.key = key
    return window
  }

  /// A window on a row that was fetched.
  func window(_ row: SourceObject) -> NSManagedObject {
    let window = sourceWindow(row.entity.number, row.key)
    window.row = row
    return window
  }

  /// A window on an object of the destination: the one that is known, where one is.
  func window(_ target: DestinationObject) -> NSManagedObject {
    window(target.entity.number, key: target.key)
  }

  /// The same by Z_ENT and key.
  func window(_ number: Int, key: Int64) -> NSManagedObject {
    guard let kind = destinations[number] else { return sourceWindow(0, key) }
    if let known = remembered.object(kind, key) { return known }
    if let primary = ownPrimary(), primary.key == key, primary.kind.isSameTable(kind) { return primary }
    if let made = made.first(where: { $0.key == key && $0.kind.isSameTable(kind) }) { return made }
    let window = NSManagedObject(kind: kind, session: self)
    window.key = key
    return window
  }

  /// A window on what an identifier means.
  func window(_ identifier: NSManagedObjectID) -> NSManagedObject {
    identifier.kind.side == .source
      ? sourceWindow(identifier.kind.number, identifier.key) : window(identifier.kind.number, key: identifier.key)
  }

  /// The row of an object of the source. Throws ``BatchError`` where it cannot be read.
  func row(of object: NSManagedObject) throws -> SourceObject? {
    if let row = object.row { return row }
    let row = try engine.graph.object(object.kind.number, key: object.key)
    object.row = row
    return row
  }

  /// The engine's object for one of the destination that has a key.
  func target(of object: NSManagedObject) -> DestinationObject? {
    if let open = object.target { return open }
    return object.kind.destination.map { engine.object($0, key: object.key) }
  }

  // MARK: The object that stands for the source object

  /// Makes it, by the mapping's properties. Throws what the engine throws.
  func createPrimary(_ source: NSManagedObject) throws {
    guard source === current, let row = source.row else {
      throw engine.failure(
        "an object can be made of the source object of the call alone",
        hint: "Give createDestinationInstances(forSource:in:manager:) its own arguments")
    }
    primaryTarget = try engine.createDestinationInstance(forCurrent: row)
    if let work, !work.overrides.isEmpty { applyOverrides(work.overrides) }
  }

  /// What the policy has set in the place of the mapping's expressions.
  private func applyOverrides(_ overrides: [String: NSExpression]) {
    guard let object = ownPrimary() else { return }
    for (name, expression) in overrides.sorted(by: { $0.key < $1.key }) {
      write(expression.constantValue, name, of: object)
    }
  }

  /// The window on it; nil where it was not made.
  func ownPrimary() -> NSManagedObject? {
    if let primary { return primary }
    guard let target = primaryTarget, let kind = destinations[target.entity.number] else { return nil }
    let window = NSManagedObject(kind: kind, session: self)
    (window.key, window.target) = (target.key, target)
    primary = window
    return window
  }

  func closePrimary() throws {
    defer { (primary, primaryTarget) = (nil, nil) }
    guard let target = primaryTarget else { return }
    if remembered.takes(target.entity.number), let primary = ownPrimary() { return try close(primary) }
    primary?.target = nil
    primary?.known = nil
  }

  /// What the call at work has made so far.
  var open: [NSManagedObject] { (ownPrimary().map { [$0] } ?? []) + made }

  // MARK: Further objects

  /// Whether objects of an entity can be made in a context; else the call fails. Returns the entity.
  func insertable(_ kind: ManagedEntity, _ context: NSManagedObjectContext?) -> ManagedEntity {
    if context == nil {
      fail("an object of \(kind.name) is made without a context", hint: "Give it the manager's destinationContext")
    } else if kind.side == .source || context?.side == .source {
      fail("the source of a migration cannot be changed", hint: "Insert \(kind.name) into the destinationContext")
    } else if kind.destination?.isAbstract == true {
      fail("\(kind.name) is abstract, and has no objects")
    }
    return kind
  }

  /// Makes an object that is new. One of the mapping's own entity may still become the one that stands for the source
  /// object: it waits for `associate`, or for the end of the call.
  func insert(_ object: NSManagedObject) {
    guard object.kind.side == .destination, object.kind.number > 0 else { return }
    object.known = KnownValues()
    made.append(object)
    if current?.row != nil, primaryTarget == nil, object.kind.name == mapping?.destinationEntity, !isLate { return }
    settle(object)
  }

  /// Gives an object its key, and does what waited for it.
  func settle(_ object: NSManagedObject) {
    guard object.key == 0, object.kind.number > 0, object.kind.side == .destination, !object.isDeleted else { return }
    attempt { try place(object, engine.insert(entity: object.kind.name)) }
  }

  private func place(_ object: NSManagedObject, _ target: DestinationObject) throws {
    (object.key, object.target) = (target.key, target)
    guard let known = object.known else { return }
    for (name, value) in known.attributes { try target.setStored(name, value) }
    known.attributes = [:]
    let waiting = known.waiting
    known.waiting = []
    for action in waiting { try action() }
  }

  /// Gives keys to all objects of the call that have none.
  func settleAll() throws { for object in made where object.key == 0 { settle(object) } }

  /// Makes an object the one that stands for the source object of the call.
  func associate(_ source: NSManagedObject, with object: NSManagedObject, in mapping: String) throws {
    if object === primary { return }
    guard source === current, mapping == self.mapping?.name, object.key == 0, primaryTarget == nil else {
      throw engine.failure(
        "\(object.kind.name) cannot be associated here: a source object has one destination object in its mapping",
        hint: "Associate an object of the mapping's own entity in the call that makes it, before it is in a set",
        entity: source.kind.name, key: source.key)
    }
    try createPrimary(source)
    guard let target = primaryTarget, let kind = object.kind.destination else { return }
    // The mapping's own values belong to super; an object of one's own begins with defaults.
    for name in object.kind.attributeNames where object.known?.attributes[name] == nil {
      guard let attribute = kind.attributes[name] else { continue }
      try target.setStored(name, attribute.type.normalized(kind.template[attribute.position]))
    }
    made.removeAll { $0 === object }
    primary = object
    try place(object, target)
  }

  /// Ends an object's time of being open.
  func close(_ object: NSManagedObject) throws {
    guard let target = object.target else { return }
    object.target = nil
    guard remembered.takes(object.kind.number) else { return object.known = nil }
    try engine.checkIfRejectable(target)
    let known = object.known ?? KnownValues()
    for name in object.kind.attributeNames { known.attributes[name] = try target.storedValue(name) }
    object.known = known
    remembered.keep(object)
  }
}
