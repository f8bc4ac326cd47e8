import CoreDataModel
import RunSupport
import Streams

// Values of attributes, as policies set and read them.
extension DestinationObject {
  /// Sets an attribute; dates as seconds since 2001, Booleans as 0 and 1, UUIDs as 16 bytes. A value that the
  /// attribute's type does not have is an error.
  ///
  /// - Throws: ``BatchError``, and `StreamsError` of the disk below.
  public func set(_ name: String, _ value: Value) throws {
    let attribute = try attribute(name)
    try set(attribute, to: attribute.inColumn(value), name)
  }

  /// The same with bytes as a column of external storage holds them.
  package func setStored(_ name: String, _ value: Value) throws { try set(attribute(name), to: value, name) }

  private func attribute(_ name: String) throws -> StoredAttribute {
    guard let attribute = entity.attribute(name)?.pointee else { throw failure("the entity has no attribute \(name)") }
    return attribute
  }

  private func set(_ attribute: StoredAttribute, to value: Value, _ name: String) throws {
    guard attribute.type.holds(value), let fitting = attribute.type.fitting(value) else {
      throw misfit(name, attribute.type)
    }
    try assign(column: attribute.position, attribute.type.stored(fitting))
  }

  private func misfit(_ name: String, _ type: AttributeType) -> BatchError {
    failure(
      "the value of \(name) does not fit the type \(type)",
      hint: "Convert it in the policy, or refuse the object with manager.rejection(of:_:)")
  }

  /// Sets an attribute to that of a source object, as it is stored: much quicker than to read and to set it, and long
  /// values are not read at all. Between attributes of other types the value is converted as by `set(_:_:)`.
  ///
  /// - Throws: ``BatchError``, and `StreamsError` of the disk below.
  public func set(_ name: String, from source: SourceObject, _ attribute: String) throws {
    let own = try self.attribute(name)
    guard try set(own, from: source, source.attribute(attribute)) else { throw misfit(name, own.type) }
  }

  /// The same with attributes that were looked for before; false, and nothing is set, where the value cannot be
  /// converted.
  func set(_ own: StoredAttribute, from source: SourceObject, _ other: StoredAttribute) throws -> Bool {
    if isOpen, own.type == other.type, own.isExternal == other.isExternal, other.position < source.decoder.columnCount {
      columns.set(own.position, row: source.decoder, position: other.position)
      return true
    }
    var value = try source.value(other)
    if own.isExternal != other.isExternal {
      guard
        let bytes = own.isExternal
          ? StoredAttribute.inExternalStorage(value) : StoredAttribute.outOfExternalStorage(value)
      else {
        return false
      }
      value = bytes
    }
    let isNumeric = own.type.isNumeric && other.type.isNumeric
    let converted =
      own.type == other.type ? value : isNumeric ? own.type.converted(value, from: other.type) : own.type.fitting(value)
    guard let converted else { return false }
    try assign(column: own.position, own.type.stored(converted))
    return true
  }

  /// Sets an attribute to a text, or to NULL.
  ///
  /// - Throws: ``BatchError``, and `StreamsError` of the disk below.
  public func set(_ name: String, _ text: String?) throws { try set(name, text.map { Value.text($0) } ?? .null) }

  /// The value of an attribute of an open object. A written object's values cannot be read.
  ///
  /// - Throws: ``BatchError``, and `StreamsError` of the disk below.
  public func value(_ name: String) throws -> Value {
    let value = try storedValue(name)
    guard try attribute(name).isExternal else { return value }
    guard let bytes = StoredAttribute.outOfExternalStorage(value) else {
      throw failure("the value of \(name) lies in a file beside the store")
    }
    return bytes
  }

  /// The same with bytes as a column of external storage holds them.
  package func storedValue(_ name: String) throws -> Value {
    let attribute = try attribute(name)
    guard isOpen else {
      throw failure("\(name) cannot be read: the object is already written", hint: "Keep the value in a look-up")
    }
    return attribute.type.normalized(try stored(attribute.position))
  }
}
