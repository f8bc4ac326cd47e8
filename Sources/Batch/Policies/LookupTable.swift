import Streams

/// All look-ups of a step: which exist, what feeds them, and where they are kept.
final class LookupTable {
  private struct Kept {
    var lookup: Lookup
    var map: SpillingMap
  }

  private let model: ManagedObjectModel
  @exclusivity(unchecked) private var kept: [Kept] = []
  /// Positions in `kept`, by the entity whose objects feed them.
  private let feeding: NameTable<[Int]>
  @exclusivity(unchecked) private var keyBytes: [UInt8] = []
  let lookups: [Lookup]

  /// Makes the look-ups, empty or from the states that a checkpoint tells.
  init(_ lookups: [Lookup], model: ManagedObjectModel, files: StepFiles, restoring states: [SpillingMap.State]?) throws {
    self.model = model
    self.lookups = lookups
    var feeding: [String: [Int]] = [:]
    let share = files.budget.lookupBytes / max(1, lookups.count)
    for (index, lookup) in lookups.enumerated() {
      let path = files.path("lookup.\(index)")
      let map =
        try states.map {
          try SpillingMap(path: path, fileSystem: files.fileSystem, memoryBytes: share, restoring: $0[index])
        } ?? SpillingMap(path: path, fileSystem: files.fileSystem, memoryBytes: share)
      kept.append(Kept(lookup: lookup, map: map))
      for entity in model.entities where model.isKind(entity.name, of: lookup.entity) {
        feeding[entity.name, default: []].append(index)
      }
    }
    self.feeding = NameTable(feeding)
  }

  /// Does any look-up want objects of this entity?
  func wants(_ entity: String) -> Bool { feeding[entity] != nil }

  private func position(_ entity: String, _ attribute: String) throws -> Int {
    if let found = kept.firstIndex(where: { $0.lookup.entity == entity && $0.lookup.attribute == attribute }) { return found }
    throw BatchError(
      .policyFailed, "no look-up of \(entity) by \(attribute) is declared",
      hint: "Add Lookup(entity: \"\(entity)\", attribute: \"\(attribute)\") to the policy's lookups")
  }

  private func encode(_ value: Value) -> Bool {
    keyBytes.removeAll(keepingCapacity: true)
    switch value {
    case .null: return false
    case .integer(let integer):
      keyBytes.append(1)
      withUnsafeBytes(of: integer.littleEndian) { keyBytes.append(contentsOf: $0) }
    case .real(let double):
      // A whole double finds the integer that SQLite made of it.
      if let integer = Int64(exactly: double) { return encode(.integer(integer)) }
      keyBytes.append(2)
      withUnsafeBytes(of: double.bitPattern.littleEndian) { keyBytes.append(contentsOf: $0) }
    case .text(let text):
      keyBytes.append(3)
      keyBytes.append(contentsOf: text.utf8)
    case .blob(let bytes):
      keyBytes.append(4)
      keyBytes.append(contentsOf: bytes)
    }
    return true
  }

  func find(_ entity: String, _ attribute: String, _ value: Value) throws -> SpillingMap.Entry? {
    let position = try position(entity, attribute)
    guard encode(value) else { return nil }
    return try keyBytes.withUnsafeBytes { try kept[position].map.find($0) }
  }

  /// Adds an object under a value at once, for those who look for it in the same call.
  func add(_ entity: DestinationEntity, _ attribute: String, _ value: Value, key: Int64) throws {
    for position in feeding[entity.name] ?? [] where kept[position].lookup.attribute == attribute {
      guard encode(value) else { continue }
      try insert(position, SpillingMap.Entry(key: key, entity: UInt32(entity.number)))
    }
  }

  private func insert(_ position: Int, _ entry: SpillingMap.Entry) throws {
    let map = kept[position].map
    try keyBytes.withUnsafeBytes { bytes in
      if kept[position].lookup.choice == .first, try map.find(bytes) != nil { return }
      try map.insert(bytes, entry)
    }
  }

  /// Adds a finished object to every look-up that wants it.
  func addAll(_ object: DestinationObject) throws {
    guard let positions = feeding[object.entity.name] else { return }
    for position in positions {
      guard let attribute = object.entity.attributes[kept[position].lookup.attribute] else { continue }
      guard encode(try object.stored(attribute.position)) else { continue }
      try insert(position, SpillingMap.Entry(key: object.key, entity: UInt32(object.entity.number)))
    }
  }

  /// Writes what is pending; the states may be published once the files are synced.
  func checkpoint() throws -> [SpillingMap.Mark] { try kept.map { try $0.map.checkpoint() } }
}
