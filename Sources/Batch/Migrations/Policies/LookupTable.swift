import CoreDataModel
import RunSupport
import Streams

/// Knows objects that a look-up no longer has to know.
protocol LookupStandIn: AnyObject {
  /// The object that the row at hand looks for by a key; nil if it is to be made.
  func object(of key: TaggedKey) throws -> SpillingEntry?
  /// Throws unless a new object of the row at hand got the key that was foreseen.
  func checkNew(_ key: Int64) throws
}

/// All look-ups of a step: which exist, what feeds them, and where they are kept.
final class LookupTable {
  private let model: ManagedObjectModel
  private let maps: [SpillingMap]
  /// Positions in `lookups`, by the entity whose objects feed them.
  private let feeding: NameTable<[Int]>
  /// The look-up that was asked last.
  @exclusivity(unchecked) private var asked: (entity: String, attribute: String, position: Int)?
  let lookups: [Lookup]
  let files: StepFiles
  /// Whether texts may be numbered instead of looked up: not where only some of the rows are read.
  let mayNumber: Bool
  /// What stands for a look-up whose texts are numbered.
  @exclusivity(unchecked) var numbered: [(any LookupStandIn)?]
  private var searcher: RunSearcher?
  private var secondsOfSearcher = 0.0
  /// Hears when all names are read once more, and when that is over.
  @exclusivity(unchecked) var onPass: (_ begins: Bool) -> Void = { _ in }
  /// Seconds that look-ups beyond memory took in this process, about.
  var secondsOfRuns: Double { maps.reduce(secondsOfSearcher) { $0 + $1.secondsOfRuns } }

  /// Entries that this process added.
  @exclusivity(unchecked) private(set) var added: UInt64 = 0

  /// Those that did not fit into memory.
  var inRuns: [Int] { maps.indices.filter { maps[$0].hasRuns } }

  /// Makes the look-ups, empty or from the states that a checkpoint names. `readsAll` says whether all rows are read.
  init(
    _ lookups: [Lookup], model: ManagedObjectModel, files: StepFiles, restoring states: [SpillingMap.State]?,
    readsAll: Bool = true
  ) throws {
    (self.model, mayNumber) = (model, readsAll)
    (self.lookups, self.files) = (lookups, files)
    numbered = lookups.map { _ in nil }
    var feeding: [String: [Int]] = [:]
    let share = files.budget.lookupBytes / max(1, lookups.count)
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

  /// Whether any look-up wants objects of this entity.
  func wants(_ entity: String) -> Bool { feeding[entity] != nil }

  /// The look-ups that objects of an entity feed.
  func positions(feeding entity: String) -> [Int] { feeding[entity] ?? [] }

  /// The number of a look-up, where it is declared.
  func find(_ entity: String, _ attribute: String) -> Int? {
    lookups.firstIndex { $0.entity == entity && $0.attribute == attribute }
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

  /// Calls `body` with a value as a key: a byte for its class, then its own. Nil for NULL, which nothing is found by.
  private func keyed<R>(_ value: Value, _ body: (TaggedKey) throws -> R) rethrows -> R? {
    func bits(_ tag: UInt8, _ bits: UInt64) throws -> R {
      try withUnsafeBytes(of: bits.littleEndian) { try body(TaggedKey(tag: tag, body: $0)) }
    }
    switch value {
    case .null: return nil
    case .integer(let integer): return try bits(1, UInt64(bitPattern: integer))
    case .real(let double):
      // A whole double finds the integer that SQLite made of it.
      return try Int64(exactly: double).map { try bits(1, UInt64(bitPattern: $0)) } ?? bits(2, double.bitPattern)
    case .text(var text):
      return try text.withUTF8 { try body(TaggedKey(tag: Self.text, body: UnsafeRawBufferPointer($0))) }
    case .blob(let bytes): return try bytes.withUnsafeBytes { try body(TaggedKey(tag: 4, body: $0)) }
    }
  }

  /// In an entry's entity: several objects have the value. For look-ups that are wishes.
  static let repeated: UInt32 = 1 << 31

  /// The byte that keys of texts begin with.
  static let text: UInt8 = 3

  /// The same for a column of a row: a text's or a blob's bytes are not made a value first.
  private func keyed<R>(_ row: RecordDecoder, position: Int, body: (TaggedKey) throws -> R) throws -> R? {
    let type = row.type(position)
    return try type < 12 ? keyed(row.value(position), body) : keyed(type, bytes: row.body(position), body: body)
  }

  /// The bytes of a text or a blob. As a value, a text that is no UTF-8 is repaired; here it is as well.
  private func keyed<R>(_ type: UInt64, bytes: UnsafeRawBufferPointer, body: (TaggedKey) throws -> R) rethrows -> R? {
    guard SerialType.isText(type) else { return try body(TaggedKey(tag: 4, body: bytes)) }
    if Self.isPlain(bytes) { return try body(TaggedKey(tag: Self.text, body: bytes)) }
    return try keyed(.text(String(decoding: bytes, as: UTF8.self)), body)
  }

  /// Whether this is a text of ASCII alone, which needs no repair.
  @inline(__always)
  static func isPlain(_ bytes: UnsafeRawBufferPointer) -> Bool {
    var (offset, bits) = (0, UInt64(0))
    while offset + 8 <= bytes.count {
      bits |= bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
      offset += 8
    }
    while offset < bytes.count {
      bits |= UInt64(bytes[offset])
      offset += 1
    }
    return bits & 0x8080_8080_8080_8080 == 0
  }

  /// Whether this is a text that stays as it is when it is made a value.
  static func isSound(_ bytes: UnsafeRawBufferPointer) -> Bool {
    isPlain(bytes) || String(validating: bytes, as: UTF8.self) != nil
  }

  func find(_ entity: String, attribute: String, row: RecordDecoder, position: Int) throws -> SpillingMap.Entry? {
    let place = try self.position(entity, attribute)
    return try keyed(row, position: position) { try find(place, key: $0) } ?? nil
  }

  /// Adds an object under a row's value at once. `isNew` says that the look-up that was asked last has just found nothing
  /// under it: it is not asked again.
  func add(
    _ entity: DestinationEntity, attribute: String, row: RecordDecoder, position: Int, key: Int64, isNew: Bool
  ) throws {
    for place in feeding[entity.name] ?? [] where lookups[place].attribute == attribute {
      try keyed(row, position: position) {
        try insert(
          place, key: $0, entry: SpillingEntry(key: key, entity: UInt32(entity.number)),
          isNew: isNew && place == asked?.position)
      }
    }
  }

  func find(_ entity: String, attribute: String, value: Value) throws -> SpillingMap.Entry? {
    let place = try position(entity, attribute)
    return try keyed(value) { try find(place, key: $0) } ?? nil
  }

  private func find(_ place: Int, key: TaggedKey) throws -> SpillingMap.Entry? {
    if let names = numbered[place] { return try names.object(of: key) }
    return try maps[place].find(key)
  }

  /// The same under a value, for those who look for it in the same call.
  func add(_ entity: DestinationEntity, attribute: String, value: Value, key: Int64, isNew: Bool) throws {
    for place in feeding[entity.name] ?? [] where lookups[place].attribute == attribute {
      try keyed(value) {
        try insert(
          place, key: $0, entry: SpillingEntry(key: key, entity: UInt32(entity.number)),
          isNew: isNew && place == asked?.position)
      }
    }
  }

  /// Adds an entry to a look-up under the bytes of a text or a blob.
  @inline(__always)
  func add(at place: Int, _ type: UInt64, body: UnsafeRawBufferPointer, entry: SpillingMap.Entry) throws {
    try keyed(type, bytes: body) { try insert(place, key: $0, entry: entry) }
  }

  /// Adds an entry to a look-up under a value.
  @inline(__always)
  func add(at place: Int, _ value: Value, _ entry: SpillingMap.Entry) throws {
    try keyed(value) { try insert(place, key: $0, entry: entry) }
  }

  private func insert(_ place: Int, key: TaggedKey, entry: SpillingMap.Entry, isNew: Bool = false) throws {
    if let names = numbered[place] { return try names.checkNew(entry.key) }
    if !isNew, lookups[place].choice == .first, let found = try maps[place].find(key) {
      guard lookups[place].isWish, found.key != entry.key, found.entity & Self.repeated == 0 else { return }
      return try maps[place].insert(key, SpillingEntry(key: found.key, entity: found.entity | Self.repeated))
    }
    added += 1
    try maps[place].insert(key, entry)
  }

  /// Entries of a look-up; nil once some are in runs.
  func knownCount(at place: Int) -> Int? { maps[place].hasRuns ? nil : maps[place].tableCount }

  /// Whether a look-up will soon be larger than its memory.
  func isFilling(at place: Int) -> Bool { maps[place].isFilling }

  /// Adds an object under a sound text that nothing is found under yet; false where something is.
  func addIfNew(at place: Int, _ text: UnsafeRawBufferPointer, _ entry: SpillingMap.Entry) throws -> Bool {
    let key = TaggedKey(tag: Self.text, body: text)
    guard try maps[place].find(key) == nil else { return false }
    added += 1
    try maps[place].insert(key, entry)
    return true
  }

  /// Writes what is pending; the states may be published once the files are synced.
  func checkpoint() throws -> [SpillingMap.Mark] { try maps.map { try $0.checkpoint() } }
}

extension LookupTable {
  /// Finds by the text in a column of the row that was located.
  func find(at place: Int, _ row: RecordLocator, _ column: Int) throws -> SpillingMap.Entry? {
    let (type, body) = row.column(column)
    return try keyed(type, bytes: body) { try maps[place].find($0) } ?? nil
  }

  /// Adds an object under the text in a column of the row that was located; nothing is found under it yet.
  func add(at place: Int, _ row: RecordLocator, _ column: Int, key: Int64, entity: Int) throws {
    let (type, body) = row.column(column)
    added += 1
    try keyed(type, bytes: body) { try maps[place].insert($0, SpillingEntry(key: key, entity: UInt32(entity))) }
  }

  /// Looks again for one of the keys that ``foresee(at:_:)`` did not find.
  func findInserted(at place: Int, _ keys: ForeseenKeys, _ row: Int) throws -> SpillingMap.Entry? {
    try maps[place].findInserted(keys, row)
  }

  /// Looks for keys that will be asked for, on two threads where runs have to be read.
  func foresee(at place: Int, _ keys: ForeseenKeys) throws {
    maps[place].foresee(keys)
    guard keys.openCount > 0 else { return }
    if searcher == nil { searcher = try RunSearcher() }
    let begin = ContinuousClock.now
    try searcher?.search(maps[place], keys)
    secondsOfSearcher += (ContinuousClock.now - begin) / .seconds(1)
  }
}
