import RunSupport

/// An archive of NSKeyedArchiver, read as data: no class is ever made, and nothing is resolved before it is asked for,
/// so that objects that refer to each other in a ring do no harm.
package struct KeyedArchive: Sendable {
  private let objects: [PropertyListValue]
  private let top: [String: PropertyListValue]

  /// Opens an archive. Throws ``BatchError`` with the code `badModel` when the bytes are none.
  package init(_ bytes: [UInt8]) throws {
    do { try self.init(PropertyListReader.read(bytes)) } catch let damage as PropertyListReader.Damage {
      throw BatchError(.badModel, "the keyed archive cannot be read", cause: damage)
    }
  }

  /// Opens an archive whose property list has been read. Throws as above.
  package init(_ list: PropertyListValue) throws {
    guard case .dictionary(let entries) = list, case .array(let objects)? = entries["$objects"],
      case .dictionary(let top)? = entries["$top"]
    else { throw BatchError(.badModel, "the bytes are no keyed archive") }
    self.objects = objects
    self.top = top
  }

  /// Throws ``BatchError`` with the code `badModel` when an object refers to one that is not there, which reads as nil.
  package func checkReferences() throws {
    guard objects.allSatisfy(isWhole), top.values.allSatisfy(isWhole) else {
      throw BatchError(.badModel, "the archive refers to objects that it does not hold")
    }
  }

  private func isWhole(_ value: PropertyListValue) -> Bool {
    switch value {
    case .uid(let number): objects.indices.contains(number)
    case .array(let members), .set(let members), .orderedSet(let members): members.allSatisfy(isWhole)
    case .dictionary(let entries): entries.values.allSatisfy(isWhole)
    default: true
    }
  }

  /// The archived object; nil when there is none.
  package var root: KeyedObject? { top["root"].flatMap(object) }

  /// The object behind a value; nil for `$null` and for a number without object.
  fileprivate func object(_ value: PropertyListValue) -> KeyedObject? {
    guard case .uid(let number) = value else {
      return value == .null ? nil : KeyedObject(archive: self, value: value, number: nil)
    }
    guard number > 0, objects.indices.contains(number) else { return nil }
    return KeyedObject(archive: self, value: objects[number], number: number)
  }
}

/// One object of a keyed archive, or a value inside it.
package struct KeyedObject: Sendable {
  fileprivate let archive: KeyedArchive
  /// The object as it stands in the archive, references unresolved.
  package let value: PropertyListValue
  /// The object's number, by which rings are noticed; nil for a value that stands inside another object.
  package let number: Int?

  private var entries: [String: PropertyListValue] {
    if case .dictionary(let entries) = value { return entries }
    return [:]
  }

  /// The value of a key; nil when it is missing or `$null`.
  package subscript(_ key: String) -> KeyedObject? { entries[key].flatMap(archive.object) }

  /// The names of the keys.
  package var keys: Set<String> { Set(entries.keys) }

  /// The name of the archived class.
  package var className: String? { self["$class"]?["$classname"]?.string }

  /// The names of the archived class and of its parents.
  var classNames: [String] { self["$class"]?["$classes"]?.array?.compactMap(\.string) ?? [] }

  /// A text, also inside NSMutableString.
  package var string: String? {
    if case .string(let text) = value { return text }
    // One step and no more: the object behind the key may be this one again.
    if case .string(let text)? = self["NS.string"]?.value { return text }
    return nil
  }

  /// A whole number; a truth value counts as 0 and 1.
  package var integer: Int64? {
    switch value {
    case .integer(let number): return number
    case .boolean(let flag): return flag ? 1 : 0
    case .real(let number): return Int64(exactly: number)
    case .float(let number): return Int64(exactly: number)
    default: return nil
    }
  }

  /// A number.
  package var real: Double? {
    switch value {
    case .real(let number): return number
    case .float(let number): return Double(number)
    default: return integer.map { Double($0) }
    }
  }

  /// A truth value; a number is true unless it is zero.
  package var boolean: Bool? { integer.map { $0 != 0 } }

  /// Seconds since 2001.
  package var date: Double? {
    if case .date(let seconds) = value { return seconds }
    return self["NS.time"]?.real
  }

  /// Bytes, also inside NSMutableData.
  package var data: [UInt8]? {
    if case .data(let bytes) = value { return bytes }
    if case .data(let bytes)? = self["NS.data"]?.value { return bytes }
    return nil
  }

  /// The members of an array or a set, in order; members that are nil are left out.
  package var array: [KeyedObject]? {
    if case .array(let members) = value { return members.compactMap(archive.object) }
    if case .array(let members)? = self["NS.objects"]?.value { return members.compactMap(archive.object) }
    return nil
  }

  /// The entries of a dictionary, in the archive's order; also of NSKnownKeysDictionary, as model caches use it (B.2).
  package var dictionary: [(key: KeyedObject, value: KeyedObject)]? {
    guard let (keys, values) = dictionaryMembers else { return nil }
    return zip(keys, values).compactMap { key, value in
      guard let key = archive.object(key), let value = archive.object(value) else { return nil }
      return (key, value)
    }
  }

  private var dictionaryMembers: (keys: [PropertyListValue], values: [PropertyListValue])? {
    if case .array(let keys)? = self["NS.keys"]?.value, case .array(let values)? = self["NS.objects"]?.value {
      return (keys, values)
    }
    guard case .array(let keys)? = self["searchMapping"]?["keys"]?["NS.objects"]?.value,
      case .array(let values)? = self["values"]?["NS.objects"]?.value
    else { return nil }
    return (keys, values)
  }

  /// The number of members of an array, a set or a dictionary, of fields else, without making them.
  package var memberCount: Int {
    if let (keys, values) = dictionaryMembers { return max(keys.count, values.count) }
    if case .array(let members) = value { return members.count }
    if case .array(let members)? = self["NS.objects"]?.value { return members.count }
    return entries.count
  }

  /// The entry of a dictionary whose key is this text.
  func entry(_ name: String) -> KeyedObject? { dictionary?.first { $0.key.string == name }?.value }
}
