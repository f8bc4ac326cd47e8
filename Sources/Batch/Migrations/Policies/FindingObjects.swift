import CoreDataModel
import RunSupport
import Streams

// How policies find objects: by look-ups, and by following mappings.
extension StepObjects {
  /// Finds an object by the value of an attribute, through a look-up that the policy declares. NULL finds nothing.
  func find(_ entity: String, attribute: String, value: Value) throws -> DestinationObject? {
    try object(entry(entity, attribute: attribute, value: value))
  }

  private func entry(_ entity: String, attribute: String, value: Value) throws -> SpillingMap.Entry? {
    let found =
      try madeKey(entity, attribute: attribute, value: value)
      ?? lookups.find(entity, attribute: attribute, value: value)
    try checkRead(entity, attribute)
    return found
  }

  /// Finds by a look-up that is a wish, and says whether no other object has the value; nil where the model lacks it.
  func findWished(_ entity: String, attribute: String, value: Value) throws -> (
    object: DestinationObject?, isOnly: Bool
  )? {
    guard let place = lookups.find(entity, attribute) else { return nil }
    let entry = try lookups.find(entity, attribute: attribute, value: value)
    let isOnly = lookups.lookups[place].isWish && (entry?.entity ?? 0) & LookupTable.repeated == 0
    return (try object(entry), isOnly)
  }

  /// A policy asks for the same look-up with every row.
  private func checkRead(_ entity: String, _ attribute: String) throws {
    if let last = lastRead, last.mapping == currentMapping, last.entity == entity, last.attribute == attribute {
      return
    }
    try checkDeclaredRead(entity, attribute)
    lastRead = (currentMapping, entity, attribute)
  }

  private func object(_ entry: SpillingMap.Entry?) throws -> DestinationObject? {
    guard let entry else { return nil }
    let number = Int(entry.entity & ~LookupTable.repeated)
    guard number < byNumber.count, let found = byNumber[number] else { return nil }
    // An object of this call is still open and can be changed.
    if let open = objects.find(table: found.table, key: entry.key) { return open }
    return reference(to: found, key: entry.key)
  }

  /// Finds an object by the value of an attribute, or makes one with that value.
  func findOrCreate(_ entity: String, attribute: String, value: Value) throws -> DestinationObject {
    let entry = try entry(entity, attribute: attribute, value: value)
    if let found = try object(entry) { return found }
    let object = try insert(entity: entity)
    try object.set(attribute, value)
    // What may be taken back is known to the look-up only once it is written.
    if canReject {
      madeKeys.append(MadeKey(entity: object.entity, attribute: attribute, value: value, key: object.key))
    } else {
      try lookups.add(object.entity, attribute: attribute, value: value, key: object.key, isNew: entry == nil)
    }
    return object
  }

  /// An object that the call at work has made to be found.
  private func madeKey(_ entity: String, attribute: String, value: Value) -> SpillingMap.Entry? {
    guard !madeKeys.isEmpty else { return nil }
    let made = madeKeys.first {
      $0.attribute == attribute && $0.value == value && model.isKind($0.entity.name, of: entity)
    }
    return made.map { SpillingMap.Entry(key: $0.key, entity: UInt32($0.entity.number)) }
  }

  /// Finds an object by the value that an attribute of a source object has, or makes one with that value; nil if it is
  /// NULL. Quicker than with the value itself, which is not read.
  func findOrCreate(_ entity: String, attribute: String, from source: SourceObject, name: String) throws
    -> DestinationObject?
  {
    guard let own = try self.entity(entity)._withUnsafeGuaranteedRef({ $0.attribute(attribute) })?.pointee else {
      throw BatchError(.policyFailed, "the entity has no attribute \(attribute)", entity: entity)
    }
    return try findOrCreate(entity, attribute: attribute, own: own, from: source, other: source.attribute(name))
  }

  /// The same with attributes that were looked for before.
  func findOrCreate(
    _ entity: String, attribute: String, own: StoredAttribute, from source: SourceObject, other: StoredAttribute
  ) throws -> DestinationObject? {
    let (row, position) = (source.decoder, other.position)
    guard !canReject, position < row.columnCount, row.type(position) >= 12, row.longValue(position) == nil else {
      let value = try source.value(other)
      return value == .null ? nil : try findOrCreate(entity, attribute: attribute, value: value)
    }
    let entry = try lookups.find(entity, attribute: attribute, row: row, position: position)
    try checkRead(entity, attribute)
    if let found = try object(entry) { return found }
    let object = try insert(entity: entity)
    guard try object.set(own, from: source, other) else {
      throw BatchError(
        .policyFailed, "the value of \(attribute) does not fit the type \(own.type)", entity: entity, key: object.key)
    }
    try lookups.add(
      object.entity, attribute: attribute, row: row, position: position, key: object.key, isNew: entry == nil)
    return object
  }

  /// The objects that an entity mapping makes of source objects: its own ones, whether they are written already or will
  /// be.
  func destinationInstances(forEntityMappingNamed name: String, sourceInstances: [SourceObject]) throws
    -> [DestinationObject]
  {
    guard let mapping = compiled[name] else {
      let isAmbiguous = ambiguousNames.contains(name)
      throw BatchError(
        .policyFailed, "this step has \(isAmbiguous ? "several entity mappings" : "no entity mapping") \(name)",
        hint: isAmbiguous ? "Give each a name of its own" : nil)
    }
    return try sourceInstances.filter { try $0.entity === mapping.source && mapping.takes($0) }.map {
      reference(to: mapping.destination, key: $0.key &+ mapping.offset)
    }
  }

  /// The destination objects of what a relationship of a source object leads to, whichever entity mapping makes them. A
  /// to-one is followed by its key alone, without a look at the other row.
  func destinationInstances(forSourceRelationshipNamed name: String, sourceInstances: [SourceObject]) throws
    -> [DestinationObject]
  {
    if sourceInstances.count == 1, let target = try sourceInstances[0].target(name) {
      guard let key = target.key, let object = try destination(target.entity, key: key) else { return [] }
      return [object]
    }
    return try sourceInstances.flatMap { source in
      guard let target = try source.target(name) else {
        return try source.objects(name).compactMap { try destination(of: $0) }
      }
      return try target.key.flatMap { try destination(target.entity, key: $0) }.map { [$0] } ?? []
    }
  }

  private func destination(_ source: Int, key: Int64) throws -> DestinationObject? {
    try firstMapping(source)?._withUnsafeGuaranteedRef { mapping in
      guard mapping.filter == nil else { return try graph.object(source, key: key).flatMap { try destination(of: $0) } }
      return reference(to: mapping.destination, key: key &+ mapping.offset)
    }
  }

  /// What became of a source object: the first of its mappings that takes it made it.
  func destination(of source: SourceObject) throws -> DestinationObject? {
    try bySource[source.entity.number].first { try $0.takes(source) }.map {
      reference(to: $0.destination, key: source.key &+ $0.offset)
    }
  }

  /// The source object of a destination object that an entity mapping made; nil for others.
  func sourceInstance(forEntityMappingNamed name: String, destination: DestinationObject) throws -> SourceObject? {
    guard let mapping = compiled[name], destination.entity === mapping.destination else { return nil }
    guard let source = try graph.object(mapping.source.number, key: destination.key &- mapping.offset) else {
      return nil
    }
    return try mapping.takes(source) ? source : nil
  }
}
