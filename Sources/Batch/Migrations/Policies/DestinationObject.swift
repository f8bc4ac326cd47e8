import CoreDataModel
import CoreDataStore
import RunSupport
import Streams

/// An object of the destination store, as a policy sees it.
///
/// It is *open* until the policy's call that made it returns; then it is written. A change to an object that is written
/// becomes a patch, which is applied in one ordered pass at the end of the step; values of written objects cannot be
/// read.
public final class DestinationObject {
  package let entity: DestinationEntity
  // A circle, which StepObjects.forgetObjects() breaks.
  let manager: StepObjects
  /// The mapping that gives the columns which were not set; nil for further objects.
  let mapping: CompiledMapping?
  /// The mapping's recipe, without counting references.
  let recipe: Unmanaged<RecordRecipe>?
  /// What the model demands of it, without counting references; the manager holds it.
  private let rules: Unmanaged<ObjectRules>?
  /// Its kind among ``OpenObjects``.
  let kind: Int
  /// The object's primary key (Z_PK).
  @exclusivity(unchecked) public private(set) var key: Int64 = 0
  @exclusivity(unchecked) private(set) var isOpen = false
  /// Values that were set, as stored; the mapping or the entity's defaults decide about the others.
  @exclusivity(unchecked) var columns: ColumnValues
  /// Whether no column was set.
  var isUnchanged: Bool { columns.isEmpty }
  /// The columns that were set.
  var setColumns: Set<Int> { Set((0..<entity.columnCount).filter { !columns.isUnset($0) }) }

  /// Makes an object that is not open. One that only refers to another has no columns.
  init(_ entity: DestinationEntity, mapping: CompiledMapping?, kind: Int, hasColumns: Bool, manager: StepObjects) {
    self.entity = entity
    self.mapping = mapping
    recipe = mapping?.recipeForRows
    rules = manager.rules(entity.number).map { Unmanaged.passUnretained($0) }
    self.kind = kind
    self.manager = manager
    columns = ColumnValues(count: hasColumns ? entity.columnCount : 0)
  }

  /// Makes a reference to an object that is written, or will be.
  func refer(to key: Int64) { self.key = key }

  /// Makes a new, open object.
  func open(key: Int64) {
    self.key = key
    isOpen = true
    columns.removeAll()
  }

  /// The name of the object's entity.
  public var entityName: String { entity.name }

  func close() {
    isOpen = false
    columns.trim()
  }

  /// The value of a column of an open object, as it will be stored.
  func stored(_ column: Int) throws -> Value {
    if let value = try columns.value(column, manager.currentRow) { return value }
    if let mapping { return try mapping.value(column, row: manager.currentRow, rowid: key &- mapping.offset) }
    return entity.template[column]
  }

  /// Throws `policyFailed` if the open object is not as the model demands.
  func check() throws {
    try rules?._withUnsafeGuaranteedRef {
      try $0.check(by: manager.mappingName, isNull: { try isNull($0) }, value: { try stored($0) })
    }
  }

  private func isNull(_ column: Int) throws -> Bool {
    if let isNull = columns.isNull(column) { return isNull }
    if let mapping { return try mapping.isNull(column, row: manager.currentRow, rowid: key &- mapping.offset) }
    return entity.template[column] == .null
  }

  /// Appends the object's record to an encoder.
  func encode(to encoder: RecordEncoder) throws {
    if encodeByRecipe(to: encoder) { return }
    guard let mapping else {
      encoder.reset()
      encoder.appendNull()
      for column in 1..<entity.columnCount where !columns.append(column, to: encoder) {
        _ = entity.defaults.append(column, to: encoder)
      }
      return
    }
    encoder.reset()
    encoder.appendNull()
    let (row, rowid) = (manager.currentRow, key &- mapping.offset)
    for column in 1..<entity.columnCount where !columns.append(column, to: encoder) {
      try mapping.append(column, row: row, rowid: rowid, to: encoder)
    }
  }

  /// Appends the object's record by the recipe of its mapping, and what was set; false where the recipe does not fit.
  private func encodeByRecipe(to encoder: RecordEncoder) -> Bool {
    guard let recipe, manager.isLocated, let changed = columns.changed else { return false }
    return recipe._withUnsafeGuaranteedRef {
      $0.encode(manager.locator, to: encoder, except: changed, { _ = columns.append($0, to: encoder) })
    }
  }

  func failure(_ message: String, hint: String? = nil) -> BatchError {
    BatchError(.policyFailed, message, hint: hint, entity: entity.name, key: key)
  }

  func assign(column: Int, _ value: Value) throws {
    guard isOpen else { return try patch(column, value) }
    columns.set(column, value)
  }

  /// A change to an object that is written, or that another call writes.
  private func patch(_ column: Int, _ value: Value) throws {
    try manager.checkDeclared(entity)
    try rules?._withUnsafeGuaranteedRef { try $0.check(by: manager.mappingName, column, value) }
    try manager.patch(entity.table, key: key, column: column, value)
  }

  func assign(column: Int, integer: Int64) throws {
    guard isOpen else { return try patch(column, .integer(integer)) }
    columns.set(column, integer)
  }

  /// The bytes of a column of an open object that holds a text or a blob; nil for everything else.
  func bytes(_ column: Int) -> (type: UInt64, body: UnsafeRawBufferPointer)? {
    if let own = columns.bytes(column) { return own }
    guard let mapping, case .borrow(let position, _) = mapping.columns[column],
      position < manager.currentRow.columnCount,
      columns.isUnset(column)
    else { return nil }
    let type = manager.currentRow.type(position)
    return type >= 12 ? (type, manager.currentRow.body(position)) : nil
  }

  /// Sets a to-one relationship, or clears it.
  ///
  /// - Throws: ``BatchError``, and `StreamsError` of the disk below.
  public func set(_ name: String, to object: DestinationObject?) throws {
    let relationship = try relationship(name)
    guard case .ownKey(_, let column, let entityColumn, let order) = relationship.pointee.storage else {
      throw failure("\(name) is a to-many relationship", hint: "Use add(_:to:)")
    }
    guard let object else {
      try assign(column: column, .null)
      if let entityColumn { try assign(column: entityColumn, .null) }
      if let order { try assign(column: order, .null) }
      return
    }
    try check(object, relationship: relationship, name: name)
    try assign(column: column, integer: object.key)
    if let entityColumn { try assign(column: entityColumn, integer: Int64(object.entity.number)) }
    if let order { try assign(column: order, integer: manager.nextOrder()) }
    if relationship.pointee.hasToOneInverse { try setInverse(relationship.pointee.inverse, in: object) }
  }

  private func relationship(_ name: String) throws -> UnsafePointer<StoredRelationship> {
    guard let found = entity.relationship(name) else { throw failure("the entity has no relationship \(name)") }
    return found
  }

  /// The other side of a one-to-one holds a key as well.
  private func setInverse(_ inverse: String?, in object: DestinationObject) throws {
    guard let inverse = inverse.flatMap({ object.entity.relationship($0) }),
      case .ownKey(_, let column, let entityColumn, _) = inverse.pointee.storage
    else { return }
    try object.assign(column: column, integer: key)
    if let entityColumn { try object.assign(column: entityColumn, integer: Int64(entity.number)) }
  }

  /// Adds an object to a to-many relationship; the inverse follows.
  ///
  /// - Throws: ``BatchError``, and `StreamsError` of the disk below.
  public func add(_ object: DestinationObject, to name: String) throws {
    let relationship = try relationship(name)
    try check(object, relationship: relationship, name: name)
    switch relationship.pointee.storage {
    case .ownKey: throw failure("\(name) is a to-one relationship", hint: "Use set(_:to:)")
    case .inverseKey(_, let column, let order), .ownerKey(_, let column, let order):
      if case .inverseKey = relationship.pointee.storage, let inverse = relationship.pointee.inverse {
        return try object.set(inverse, to: self)
      }
      try object.assign(column: column, integer: key)
      if let order { try object.assign(column: order, integer: manager.nextOrder()) }
    case .join(let table, let ownerIsSource):
      try manager.checkDeclared(entity, or: object.entity)
      try manager.linkOnce(
        table, source: ownerIsSource ? key : object.key, destination: ownerIsSource ? object.key : key)
    }
  }

  private func check(_ object: DestinationObject, relationship: UnsafePointer<StoredRelationship>, name: String)
    throws
  {
    guard !object.entity.isKind(of: relationship.pointee.destinationNumber) else { return }
    throw failure("\(name) leads to \(relationship.pointee.destination), not to \(object.entity.name)")
  }
}

extension DestinationObject: ReusedObject {
  var table: Int { entity.table }
}
