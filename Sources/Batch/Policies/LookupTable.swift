import Streams

/// All look-ups of a step: which exist, what feeds them, and where they are kept.
final class LookupTable {
  private let model: ManagedObjectModel
  private let kept: [Lookup]
  private let maps: [SpillingMap]
  /// Positions in `kept`, by the entity whose objects feed them.
  private let feeding: NameTable<[Int]>
  @exclusivity(unchecked) private var keyBytes: [UInt8] = []
  /// The look-up that was asked last.
  @exclusivity(unchecked) private var asked: (entity: String, attribute: String, position: Int)?
  let lookups: [Lookup]

  /// Makes the look-ups, empty or from the states that a checkpoint tells.
  init(_ lookups: [Lookup], model: ManagedObjectModel, files: StepFiles, restoring states: [SpillingMap.State]?) throws {
    self.model = model
    self.lookups = lookups
    var feeding: [String: [Int]] = [:]
    let share = files.budget.lookupBytes / max(1, lookups.count)
    kept = lookups
    maps = try lookups.indices.map { index in
      let path = files.path("lookup.\(index)")
      return try states.map {
        try SpillingMap(path: path, fileSystem: files.fileSystem, memoryBytes: share, restoring: $0[index])
      } ?? SpillingMap(path: path, fileSystem: files.fileSystem, memoryBytes: share)
    }
    for (index, lookup) in lookups.enumerated() {
      for entity in model.entities where model.isKind(entity.name, of: lookup.entity) {
        feeding[entity.name, default: []].append(index)
      }
    }
    self.feeding = NameTable(feeding)
  }

  /// Does any look-up want objects of this entity?
  func wants(_ entity: String) -> Bool { feeding[entity] != nil }

  /// The look-ups that objects of an entity feed.
  func positions(feeding entity: String) -> [Int] { feeding[entity] ?? [] }

  /// The number of a look-up, where it is declared.
  func find(_ entity: String, _ attribute: String) -> Int? {
    kept.firstIndex { $0.entity == entity && $0.attribute == attribute }
  }

  private func position(_ entity: String, _ attribute: String) throws -> Int {
    // A policy asks for the same look-up with every row.
    if let asked, asked.entity == entity, asked.attribute == attribute { return asked.position }
    if let found = find(entity, attribute) {
      asked = (entity, attribute, found)
      return found
    }
    throw BatchError(
      .policyFailed, "no look-up of \(entity) by \(attribute) is declared",
      hint: "Add Lookup(entity: \"\(entity)\", attribute: \"\(attribute)\") to the policy's lookups")
  }

  /// Puts a value's bytes together: a byte for its class, then its own. False for NULL, which nothing is found by.
  private func encode(_ value: Value) -> Bool {
    switch value {
    case .null: return false
    case .integer(let integer): put(1, bits: UInt64(bitPattern: integer))
    case .real(let double):
      // A whole double finds the integer that SQLite made of it.
      if let integer = Int64(exactly: double) { return encode(.integer(integer)) }
      put(2, bits: double.bitPattern)
    case .text(var text): text.withUTF8 { put(3, UnsafeRawBufferPointer($0)) }
    case .blob(let bytes): bytes.withUnsafeBytes { put(4, $0) }
    }
    return true
  }

  private func put(_ tag: UInt8, bits: UInt64) { withUnsafeBytes(of: bits.littleEndian) { put(tag, $0) } }

  private func put(_ tag: UInt8, _ bytes: UnsafeRawBufferPointer) {
    keyBytes.removeAll(keepingCapacity: true)
    keyBytes.append(tag)
    keyBytes.append(contentsOf: bytes)
  }

  /// The same for a column of a row: a text's or a blob's bytes are not made a value first.
  private func encode(_ row: RecordDecoder, _ position: Int) throws -> Bool {
    let type = row.type(position)
    guard type >= 12 else { return encode(try row.value(position)) }
    encode(type, row.body(position))
    return true
  }

  /// The bytes of a text or a blob. As a value, a text that is no UTF-8 is repaired; here it is as well.
  private func encode(_ type: UInt64, _ body: UnsafeRawBufferPointer) {
    guard SerialType.isText(type) else { return put(4, body) }
    if body.allSatisfy({ $0 < 0x80 }) { return put(3, body) }
    _ = encode(.text(String(decoding: body, as: UTF8.self)))
  }

  func find(_ entity: String, _ attribute: String, row: RecordDecoder, _ position: Int) throws -> SpillingMap.Entry? {
    let place = try self.position(entity, attribute)
    guard try encode(row, position) else { return nil }
    return try keyBytes.withUnsafeBytes { try maps[place].find($0) }
  }

  /// Finds by the text in a column of the row that was located.
  func find(at place: Int, _ row: RecordLocator, _ column: Int) throws -> SpillingMap.Entry? {
    let (type, body) = row.column(column)
    encode(type, body)
    return try keyBytes.withUnsafeBytes { try maps[place].find($0) }
  }

  /// Adds an object under the text in a column of the row that was located; nothing is found under it yet.
  func add(at place: Int, _ row: RecordLocator, _ column: Int, key: Int64, entity: Int) throws {
    let (type, body) = row.column(column)
    encode(type, body)
    try keyBytes.withUnsafeBytes { try maps[place].insert($0, SpillingMap.Entry(key: key, entity: UInt32(entity))) }
  }

  /// Adds an object under a row's value at once.
  func add(_ entity: DestinationEntity, _ attribute: String, row: RecordDecoder, _ position: Int, key: Int64) throws {
    for place in feeding[entity.name] ?? [] where kept[place].attribute == attribute {
      guard try encode(row, position) else { continue }
      try insert(place, SpillingMap.Entry(key: key, entity: UInt32(entity.number)))
    }
  }

  func find(_ entity: String, _ attribute: String, _ value: Value) throws -> SpillingMap.Entry? {
    let position = try position(entity, attribute)
    guard encode(value) else { return nil }
    return try keyBytes.withUnsafeBytes { try maps[position].find($0) }
  }

  /// Adds an object under a value at once, for those who look for it in the same call.
  func add(_ entity: DestinationEntity, _ attribute: String, _ value: Value, key: Int64) throws {
    for position in feeding[entity.name] ?? [] where kept[position].attribute == attribute {
      guard encode(value) else { continue }
      try insert(position, SpillingMap.Entry(key: key, entity: UInt32(entity.number)))
    }
  }

  private func insert(_ position: Int, _ entry: SpillingMap.Entry) throws {
    let map = maps[position]
    try keyBytes.withUnsafeBytes { bytes in
      if kept[position].choice == .first, try map.find(bytes) != nil { return }
      try map.insert(bytes, entry)
    }
  }

  /// Adds a finished object to every look-up that wants it.
  func addAll(_ object: DestinationObject) throws {
    for position in feeding[object.entity.name] ?? [] {
      guard let attribute = object.entity.attributes[kept[position].attribute] else { continue }
      if let (type, body) = object.bytes(attribute.position) {
        encode(type, body)
      } else if try !encode(object.stored(attribute.position)) {
        continue
      }
      try insert(position, SpillingMap.Entry(key: object.key, entity: UInt32(object.entity.number)))
    }
  }

  /// Writes what is pending; the states may be published once the files are synced.
  func checkpoint() throws -> [SpillingMap.Mark] { try maps.map { try $0.checkpoint() } }
}
