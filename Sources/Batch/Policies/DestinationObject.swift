import Streams

/// An object of the destination store, as a policy sees it.
///
/// It is *open* until the policy's call that made it returns; then it is written. A change to an object that is written
/// becomes a patch, which is applied in one ordered pass at the end of the step; values of written objects cannot be read.
public final class DestinationObject {
  let entity: DestinationEntity
  unowned let manager: MigrationManager
  /// The object's primary key (Z_PK).
  public private(set) var key: Int64
  @exclusivity(unchecked) private var isOpen: Bool
  /// Values that were set, as stored, a column each; nil where the mapping or the entity's default decides.
  private let columns: UnsafeMutableBufferPointer<Value?>
  /// The mapping that gives the columns which were not set; nil for further objects.
  @exclusivity(unchecked) private(set) var mapping: CompiledMapping?

  /// A new, open object.
  init(new entity: DestinationEntity, key: Int64, mapping: CompiledMapping?, manager: MigrationManager) {
    self.entity = entity
    self.manager = manager
    self.key = key
    self.mapping = mapping
    isOpen = true
    columns = .allocate(capacity: entity.columnCount)
    columns.initialize(repeating: nil)
  }

  /// A reference to an object that is written, or will be.
  init(reference entity: DestinationEntity, key: Int64, manager: MigrationManager) {
    self.entity = entity
    self.manager = manager
    self.key = key
    isOpen = false
    columns = UnsafeMutableBufferPointer(start: nil, count: 0)
  }

  deinit {
    columns.deinitialize()
    columns.deallocate()
  }

  /// Makes a new object of one that nobody refers to any more.
  func reopen(key: Int64, mapping: CompiledMapping?) {
    self.key = key
    self.mapping = mapping
    isOpen = true
    for column in columns.indices { columns[column] = nil }
  }

  /// The name of the object's entity.
  public var entityName: String { entity.name }

  func close() { isOpen = false }

  /// The value of a column of an open object, as it will be stored.
  func stored(_ column: Int) throws -> Value {
    if let value = columns[column] { return value }
    if let mapping { return try mapping.value(column, row: manager.currentRow, rowid: key &- mapping.offset) }
    return entity.template[column]
  }

  /// Appends the object's record to an encoder.
  func encode(to encoder: RecordEncoder) throws {
    encoder.reset()
    encoder.appendNull()
    for column in 1..<columns.count {
      if let value = columns[column] {
        encoder.append(value)
      } else if let mapping {
        try mapping.append(column, row: manager.currentRow, rowid: key &- mapping.offset, to: encoder)
      } else {
        encoder.append(entity.template[column])
      }
    }
  }

  private func failure(_ message: String, hint: String? = nil) -> BatchError {
    BatchError(.policyFailed, message, hint: hint, entity: entity.name, key: key)
  }

  func assign(column: Int, _ value: Value) throws {
    guard isOpen else { return try manager.patch(entity.table, key: key, column: column, value) }
    columns[column] = value
  }

  /// Sets an attribute; dates as seconds since 2001, Booleans as 0 and 1, UUIDs as 16 bytes.
  public func set(_ name: String, _ value: Value) throws {
    guard let attribute = entity.attributes[name] else { throw failure("the entity has no attribute \(name)") }
    try assign(column: attribute.position, attribute.type.stored(value))
  }

  /// Sets an attribute to a text, or to NULL.
  public func set(_ name: String, _ text: String?) throws { try set(name, text.map { Value.text($0) } ?? .null) }

  /// The value of an attribute of an open object. A written object's values cannot be read.
  public func value(_ name: String) throws -> Value {
    guard let attribute = entity.attributes[name] else { throw failure("the entity has no attribute \(name)") }
    guard isOpen else {
      throw failure("\(name) cannot be read: the object is already written", hint: "Keep the value in a look-up")
    }
    return attribute.type.normalized(try stored(attribute.position))
  }

  /// Sets a to-one relationship, or clears it.
  public func set(_ name: String, to object: DestinationObject?) throws {
    guard let relationship = entity.relationships[name] else { throw failure("the entity has no relationship \(name)") }
    guard case .ownKey(_, let column, let entityColumn, let order) = relationship.storage else {
      throw failure("\(name) is a to-many relationship", hint: "Use add(_:to:)")
    }
    try check(object, is: relationship.destination, name)
    try assign(column: column, object.map { .integer($0.key) } ?? .null)
    if let entityColumn { try assign(column: entityColumn, object.map { .integer(Int64($0.entity.number)) } ?? .null) }
    if let order { try assign(column: order, object == nil ? .null : .integer(manager.nextOrder())) }
    if let object { try setInverse(relationship, in: object) }
  }

  /// The other side of a one-to-one holds a key as well.
  private func setInverse(_ relationship: StoredRelationship, in object: DestinationObject) throws {
    guard let inverse = relationship.inverse.flatMap({ object.entity.relationships[$0] }),
      case .ownKey(_, let column, let entityColumn, _) = inverse.storage
    else { return }
    try object.assign(column: column, .integer(key))
    if let entityColumn { try object.assign(column: entityColumn, .integer(Int64(entity.number))) }
  }

  /// Adds an object to a to-many relationship; the inverse follows.
  public func add(_ object: DestinationObject, to name: String) throws {
    guard let relationship = entity.relationships[name] else { throw failure("the entity has no relationship \(name)") }
    try check(object, is: relationship.destination, name)
    switch relationship.storage {
    case .ownKey: throw failure("\(name) is a to-one relationship", hint: "Use set(_:to:)")
    case .inverseKey(_, let column, let order), .ownerKey(_, let column, let order):
      if case .inverseKey = relationship.storage, let inverse = relationship.inverse { return try object.set(inverse, to: self) }
      try object.assign(column: column, .integer(key))
      if let order { try object.assign(column: order, .integer(manager.nextOrder())) }
    case .join(let table, let ownerIsSource):
      try manager.linkOnce(table, source: ownerIsSource ? key : object.key, destination: ownerIsSource ? object.key : key)
    }
  }

  private func check(_ object: DestinationObject?, is entity: String, _ name: String) throws {
    guard let object, !manager.model.isKind(object.entity.name, of: entity) else { return }
    throw failure("\(name) leads to \(entity), not to \(object.entity.name)")
  }
}
