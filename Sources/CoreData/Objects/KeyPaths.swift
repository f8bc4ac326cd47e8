extension NSManagedObject {
  /// The value for a path of keys; collections on the way give the values of their members, `@count` their number.
  public final func value(forKeyPath path: String) -> Any? {
    var found: Any? = self
    for key in path.split(separator: ".").map(String.init) {
      guard let value = found else { return nil }
      found = Self.step(value, key)
    }
    return found
  }

  private static func step(_ value: Any, _ key: String) -> Any? {
    if let object = value as? NSManagedObject { return key == "self" ? object : object.value(forKey: key) }
    guard let members = MigrationSession.members(value) else { return nil }
    if key == "@count" { return NSNumber(value: members.count) }
    let values = members.compactMap { $0.value(forKey: key) }
    if let objects = values as? [NSManagedObject] { return Set(objects) }
    return value is NSOrderedSet ? NSArray(array: values) : NSSet(array: values)
  }

  /// Sets the value for a path of keys: that of the last key, of the object before it.
  public final func setValue(_ value: Any?, forKeyPath path: String) {
    guard let dot = path.lastIndex(of: ".") else { return setValue(value, forKey: path) }
    let owner = self.value(forKeyPath: String(path[..<dot])) as? NSManagedObject
    owner?.setValue(value, forKey: String(path[path.index(after: dot)...]))
  }

  /// A set that changes a to-many relationship.
  public final func mutableSetValue(forKey key: String) -> NSMutableSet { LinkedSet(self, key) }
  /// An ordered set that adds to an ordered to-many relationship at its end. What is linked elsewhere meanwhile it does
  /// not show.
  public final func mutableOrderedSetValue(forKey key: String) -> NSMutableOrderedSet { LinkedOrderedSet(self, key) }
}

extension NSManagedObject {
  /// What stands for a property with `@NSManaged`, which Apple's compiler alone knows.
  public final func managed<Value>(_ key: String) -> Value {
    guard let found = value(forKey: key) as? Value else {
      fatalError("\(key) of \(kind.name) has no value of the type \(Value.self)")
    }
    return found
  }

  /// The same for setting it.
  public final func setManaged<Value>(_ value: Value, _ key: String) { setValue(value as Any?, forKey: key) }
}
