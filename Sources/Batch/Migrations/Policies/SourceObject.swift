import CoreDataStore
import RunSupport
import Streams

/// An object of the source store: the row that is being migrated, or one that was fetched from there.
///
/// The current row is valid until the policy's call returns; fetched ones stay valid.
public final class SourceObject {
  package let entity: SourceEntity
  let graph: SourceGraph
  package let decoder: RecordDecoder
  private var owned: UnsafeMutableRawBufferPointer?
  /// The object's primary key (Z_PK).
  @exclusivity(unchecked) public internal(set) var key: Int64

  init(entity: SourceEntity, graph: SourceGraph, key: Int64, decoder: RecordDecoder) {
    self.entity = entity
    self.graph = graph
    self.key = key
    self.decoder = decoder
  }

  deinit { owned?.deallocate() }

  /// A fetched object keeps a copy of its record, which has about that many columns.
  convenience init(
    entity: SourceEntity, graph: SourceGraph, key: Int64, record: UnsafeRawBufferPointer, columns: Int
  ) throws {
    self.init(
      entity: entity, graph: graph, key: key, decoder: RecordDecoder(longValues: graph.longValues, columns: columns))
    try take(record, key: key)
  }

  /// Makes a fetched object stand for another row of its entity.
  func take(_ record: UnsafeRawBufferPointer, key: Int64) throws {
    if owned?.count ?? 0 < record.count || owned == nil {
      owned?.deallocate()
      owned = .allocate(byteCount: max(64, record.count), alignment: 8)
    }
    self.key = key
    owned?.copyBytes(from: record)
    guard decoder.decode(UnsafeRawBufferPointer(start: owned?.baseAddress, count: record.count)) else {
      throw BatchError(.badStore, "a row is damaged", path: graph.reader.path, entity: entity.name, key: key)
    }
  }

  /// The name of the object's entity.
  public var entityName: String { entity.name }

  func attribute(_ name: String) throws -> StoredAttribute {
    guard let attribute = entity.attribute(name) else { throw unknown("attribute", name) }
    return attribute.pointee
  }

  private func unknown(_ kind: String, _ name: String) -> BatchError {
    BatchError(
      .policyFailed, "the source entity has no \(kind) \(name)",
      hint: "Mind that a policy reads the version before its step", entity: entity.name, key: key)
  }

  private func raw(_ position: Int) throws -> Value {
    try position < decoder.columnCount ? decoder.value(position) : graph.missing(entity, position)
  }

  /// The value of an attribute; dates as seconds since 2001, Booleans as 0 and 1, UUIDs as 16 bytes.
  ///
  /// - Throws: ``BatchError``, with `policyFailed` for bytes that lie in a file beside the store, and `StreamsError` of
  ///   the disk below.
  public func value(_ name: String) throws -> Value {
    try value(attribute(name), named: name)
  }

  /// The same of an attribute that was looked for before; without the byte that external storage puts before bytes.
  func value(_ attribute: StoredAttribute, named name: String) throws -> Value {
    guard let value = try attribute.outOfColumn(value(attribute)) else { throw inFile(name) }
    return value
  }

  func inFile(_ name: String) -> BatchError {
    BatchError(
      .policyFailed, "the value of \(name) lies in a file beside the store",
      hint: "Let the mapping copy it to an attribute with external storage", entity: entity.name, key: key)
  }

  package func value(_ attribute: StoredAttribute) throws -> Value {
    attribute.type.normalized(try raw(attribute.position))
  }

  /// The text of an attribute; nil for NULL and for anything that is no text.
  ///
  /// - Throws: ``BatchError``, and `StreamsError` of the disk below.
  public func string(_ name: String) throws -> String? {
    guard case .text(let text) = try value(name) else { return nil }
    return text
  }

  /// The integer of an attribute; nil for NULL and for anything that is no integer.
  ///
  /// - Throws: ``BatchError``, and `StreamsError` of the disk below.
  public func integer(_ name: String) throws -> Int64? {
    guard case .integer(let integer) = try value(name) else { return nil }
    return integer
  }

  /// The number of an attribute as a double; nil for NULL and for anything that is no number.
  ///
  /// - Throws: ``BatchError``, and `StreamsError` of the disk below.
  public func double(_ name: String) throws -> Double? {
    switch try value(name) {
    case .real(let double): double
    case .integer(let integer): Double(integer)
    default: nil
    }
  }

  /// The object at the other end of a to-one relationship; nil when there is none or its row is missing.
  ///
  /// - Throws: ``BatchError``, and `StreamsError` of the disk below.
  public func object(_ name: String) throws -> SourceObject? {
    guard let relationship = entity.relationship(name) else { throw unknown("relationship", name) }
    guard let position = relationship.pointee.keyPosition else {
      throw BatchError(
        .policyFailed, "\(name) is a to-many relationship", hint: "Ask for objects(_:)", entity: entity.name, key: key)
    }
    return try object(relationship.pointee, position)
  }

  package func object(_ relationship: StoredRelationship) throws -> SourceObject? {
    try relationship.keyPosition.flatMap { try object(relationship, $0) }
  }

  private func object(_ relationship: StoredRelationship, _ position: Int) throws -> SourceObject? {
    guard let target = try integer(position) else { return nil }
    return try graph.object(relationship.destinationNumber, key: target)
  }

  /// Where a to-one relationship leads, the entity by Z_ENT, read from this row alone; nil when the relationship is a
  /// to-many, or when only the other row holds its entity.
  func target(_ name: String) throws -> (entity: Int, key: Int64?)? {
    guard let relationship = entity.relationship(name) else { throw unknown("relationship", name) }
    guard let position = relationship.pointee.keyPosition else { return nil }
    let key = try integer(position)
    guard let entityPosition = relationship.pointee.entityPosition else {
      return (relationship.pointee.destinationNumber, key)
    }
    guard let number = try integer(entityPosition), number > 0, number < Int64(graph.byNumber.count) else { return nil }
    return (Int(number), key)
  }

  private func integer(_ position: Int) throws -> Int64? {
    if position < decoder.columnCount { return decoder.integer(position) }
    guard case .integer(let integer) = try raw(position) else { return nil }
    return integer
  }

  /// The objects of a to-many relationship: in its order when it is ordered, else by key. A to-one gives one or none.
  ///
  /// - Throws: ``BatchError``, and `StreamsError` of the disk below.
  public func objects(_ name: String) throws -> [SourceObject] {
    guard let relationship = entity.relationship(name)?.pointee else { throw unknown("relationship", name) }
    if case .ownKey = relationship.storage { return try object(name).map { [$0] } ?? [] }
    return try objects(relationship, named: name)
  }

  func objects(_ relationship: StoredRelationship, named name: String) throws -> [SourceObject] {
    try graph.keys(of: relationship, named: name, owner: self).compactMap {
      try graph.object(relationship.destinationNumber, key: $0)
    }
  }
}
