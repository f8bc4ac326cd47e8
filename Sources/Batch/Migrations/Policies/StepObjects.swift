import CoreDataModel
import CoreDataStore
import MappingModels
import RunSupport
import Streams

/// The objects of a running step: makes, finds, links and writes them. Policies see it as ``MigrationManager``.
final class StepObjects {
  /// The source model of the step.
  let sourceModel: ManagedObjectModel
  /// The destination model of the step.
  var model: ManagedObjectModel { layout.model }

  let layout: StoreLayout
  let byNumber: [DestinationEntity?]
  // Used for every row: without counting references to what `byNumber` and `bySource` hold.
  private let entities: NameTable<Unmanaged<DestinationEntity>>
  private let firstBySource: UnsafeMutableBufferPointer<Unmanaged<CompiledMapping>?>
  let keys: KeyAssignment
  private let rules: [ObjectRules?]
  let graph: SourceGraph
  let lookups: LookupTable
  let patches: PatchLog
  /// Keys and link rows given out so far, a table each: entity tables first, then join tables.
  @exclusivity(unchecked) var nextKeys: [Int64]
  /// Where finished records go.
  let output = RecordPage()
  /// Decodes the source's current row.
  let currentRow: RecordDecoder
  /// Finds the columns of the source's current row, where `isLocated` says that its record has all columns of its
  /// table.
  let locator = RecordLocator(columnCount: 0)
  @exclusivity(unchecked) var isLocated = false
  /// Whether what a call makes can be taken back.
  @exclusivity(unchecked) var canReject = false
  /// Objects that the call at work has made to be found, where it can be taken back.
  @exclusivity(unchecked) var madeKeys: [MadeKey] = []
  struct MadeKey {
    var entity: DestinationEntity
    var attribute: String
    var value: Value
    var key: Int64
  }

  /// What an adapter of other policies keeps for the step.
  var attachment: AnyObject?
  /// Whether an earlier process has begun the step.
  var isResumed = false

  /// What the call at work has made, where somebody wants to know.
  @exclusivity(unchecked) var watched: [WatchedObject]?

  /// Kinds are the entities by number, then the mappings.
  let objects: OpenObjects<DestinationObject>
  private let sources: UnsafeMutableBufferPointer<SourceObject?>
  let linkColumns: [[LinkColumn]]
  @exclusivity(unchecked) var addedLinks: AddedLinks
  let encoder = RecordEncoder()
  /// The source object and the position of the mapping of the call at work.
  @exclusivity(unchecked) private var current: ObjectIdentifier?
  @exclusivity(unchecked) private(set) var currentMapping = -1
  /// What was looked for last, by which mapping: it was declared.
  @exclusivity(unchecked) var lastRead: (mapping: Int, entity: String, attribute: String)?
  @exclusivity(unchecked) private(set) var currentCompiled: Unmanaged<CompiledMapping>?
  private let mappings: [CompiledMapping]
  /// For every entity, by number, whether look-ups want its objects.
  private let feedsLookups: [Bool]
  /// What ends the migration when the call at work returns.
  @exclusivity(unchecked) private(set) var cancellation: (any Error)?
  /// Whether the object that stands for the source object was made.
  @exclusivity(unchecked) var hasPrimary = false
  /// Those with a name of their own.
  let compiled: NameTable<CompiledMapping>
  let ambiguousNames: Set<String>
  /// The mappings of every source entity, by Z_ENT.
  let bySource: [[CompiledMapping]]

  init(
    sourceModel: ManagedObjectModel, layout: StoreLayout, keys: KeyAssignment, graph: SourceGraph, lookups: LookupTable,
    patches: PatchLog, compiled: [CompiledMapping], entities: [DestinationEntity], rules: [ObjectRules?]
  ) {
    self.sourceModel = sourceModel
    self.layout = layout
    (self.keys, self.rules) = (keys, rules)
    self.graph = graph
    currentRow = RecordDecoder(longValues: graph.longValues)
    self.lookups = lookups
    self.patches = patches
    let named = Dictionary(grouping: compiled, by: \.mapping.name)
    self.compiled = NameTable(named.compactMapValues { $0.count == 1 ? $0.first : nil })
    ambiguousNames = Set(named.filter { $0.value.count > 1 }.keys)
    self.entities = NameTable(
      Dictionary(uniqueKeysWithValues: entities.map { ($0.name, Unmanaged.passUnretained($0)) }))
    byNumber = [nil] + entities
    bySource = graph.byNumber.map { entity in compiled.filter { $0.source === entity } }
    firstBySource = .allocate(capacity: bySource.count)
    _ = firstBySource.initialize(from: bySource.map { $0.first.map { Unmanaged.passUnretained($0) } })
    mappings = compiled
    objects = OpenObjects(kinds: entities.count + 1 + compiled.count)
    feedsLookups = [false] + entities.map { lookups.wants($0.name) }
    sources = .allocate(capacity: graph.byNumber.count)
    sources.initialize(repeating: nil)
    linkColumns = layout.joinTables.map(LinkColumn.columns)
    nextKeys = keys.firstNewKeys
    addedLinks = AddedLinks(joins: layout.joinTables.count)
  }

  deinit {
    sources.deinitialize()
    sources.deallocate()
    firstBySource.deallocate()
  }

  /// The destination's entity of a name, for as long as the manager lives.
  func entity(_ name: String) throws -> Unmanaged<DestinationEntity> {
    guard let entity = entities.find(name) else {
      throw BatchError(.policyFailed, "the destination model has no entity \(name)")
    }
    return entity.pointee
  }

  /// What the model demands of objects of an entity, by Z_ENT; nil for nothing.
  func rules(_ number: Int) -> ObjectRules? { rules.indices.contains(number) ? rules[number] : nil }

  /// The first mapping of a source entity, by Z_ENT, for as long as the manager lives.
  func firstMapping(_ source: Int) -> Unmanaged<CompiledMapping>? { firstBySource[source] }

  // MARK: Making objects

  /// Makes the destination object that stands for a source object, by the mapping's properties; it keeps the source's
  /// key, moved where several entities come together in one table. One call a source object.
  /// - Throws: ``BatchError``, and `StreamsError` of the disk below.
  func createDestinationInstance(forSource source: SourceObject, in mapping: EntityMapping) throws -> DestinationObject
  {
    guard current == ObjectIdentifier(source), !hasPrimary, let currentCompiled else { throw secondInstance(source) }
    return try currentCompiled._withUnsafeGuaranteedRef { compiled in
      guard compiled.mapping.name == mapping.name else { throw secondInstance(source) }
      return try create(compiled, source)
    }
  }

  func secondInstance(_ source: SourceObject) -> BatchError {
    BatchError(
      .policyFailed, "a source object can be given one destination object of its mapping",
      hint: "Use insert(entity:) for further ones", entity: source.entityName, key: source.key)
  }

  func create(_ compiled: CompiledMapping, _ source: SourceObject) throws -> DestinationObject {
    let kind = byNumber.count + currentMapping
    let object = objects.open(kind, key: source.key &+ compiled.offset) {
      DestinationObject(compiled.destination, mapping: compiled, kind: kind, hasColumns: true, manager: self)
    }
    hasPrimary = true
    try compiled.evaluate(into: object, source: source, manager: self)
    return object
  }

  /// Makes a further object with a key of its own.
  /// - Throws: ``BatchError``, and `StreamsError` of the disk below.
  func insert(entity name: String) throws -> DestinationObject {
    try entity(name)._withUnsafeGuaranteedRef { entity in
      guard !entity.isAbstract else {
        throw BatchError(.policyFailed, "an abstract entity has no objects", entity: name)
      }
      try checkDeclared(entity)
      let key = nextKeys[entity.table]
      nextKeys[entity.table] += 1
      return objects.open(entity.number, key: key) {
        DestinationObject(entity, mapping: nil, kind: entity.number, hasColumns: true, manager: self)
      }
    }
  }

  // MARK: Called by the engine

  /// An object that is written, or will be.
  func reference(to entity: DestinationEntity, key: Int64) -> DestinationObject {
    objects.reference(entity.number, key: key) {
      DestinationObject(entity, mapping: nil, kind: entity.number, hasColumns: false, manager: self)
    }
  }

  /// A place after all places given out before: what is added later comes later.
  func nextOrder() -> Int64 {
    let slot = keys.orderSlot
    nextKeys[slot] += 1
    return nextKeys[slot] &* 1024
  }

  func patch(_ table: Int, key: Int64, column: Int, _ value: Value) throws {
    try patches.add(table: table, key: key, column: column, value)
  }

  /// The calls that follow are those of this mapping.
  func enter(_ mapping: Int) {
    guard currentMapping != mapping else { return }
    // The manager holds it.
    (currentMapping, currentCompiled) = (mapping, Unmanaged.passUnretained(mappings[mapping]))
  }

  /// Runs a policy's call for one source row and writes what it made. Returns whether the row has its own object.
  func migrate(_ key: Int64, by mapping: CompiledMapping, index: Int, body: (SourceObject) throws -> Void) throws
    -> Bool
  {
    enter(index)
    try withSource(for: mapping, key: key) { source in
      current = ObjectIdentifier(source)
      defer { current = nil }
      try body(source)
    }
    if watched != nil { watch() }
    let madeOne = hasPrimary
    try closeObjects()
    return madeOne
  }

  /// Makes the source object for a row; one that nobody refers to any longer is used again.
  @inline(__always)
  func withSource<R>(for mapping: CompiledMapping, key: Int64, _ body: (SourceObject) throws -> R) rethrows -> R {
    let number = mapping.source.number
    if sources[number] == nil || !isKnownUniquelyReferenced(&sources[number]) {
      sources[number] = SourceObject(entity: mapping.source, graph: graph, key: key, decoder: currentRow)
    }
    // `sources` holds it.
    return try Unmanaged.passUnretained(sources[number].unsafelyUnwrapped)._withUnsafeGuaranteedRef { source in
      source.key = key
      return try body(source)
    }
  }

  /// Ends the migration with an error when the policy's call returns, as NSMigrationManager's function of that name
  /// does; what the call has made is not written. As with an error that is thrown, the run stays and can be resumed.
  func cancelMigration(with error: any Error) { cancellation = cancellation ?? error }

  /// Ends the migration where a policy has asked for it.
  @inline(__always)
  func throwIfCancelled() throws { if let cancellation { throw cancellation } }

  /// Writes all open objects, in the order in which they were made.
  func closeObjects() throws {
    try throwIfCancelled()
    // Before anything is written or can be looked up: an object that fails is taken back with all that its call has
    // made.
    if canReject {
      try objects.forEach {
        try $0.check()
        try $0.encode(to: encoder)
      }
      madeKeys.removeAll(keepingCapacity: true)
    }
    try objects.close { try write($0) }
    hasPrimary = false
    addedLinks.endCall()
  }

  private func write(_ object: DestinationObject) throws {
    if feedsLookups[object.entity.number] { try lookups.addAll(object) }
    if !appendUnchanged(object) {
      if !canReject { try object.check() }
      try object.encode(to: encoder)
      let isFurther = object.mapping == nil && keys.keepsKeys(table: object.entity.table)
      output.append(
        table: isFurther ? KeyAssignment.spoolNumber(object.entity.table) : object.entity.table, rowid: object.key,
        encoder)
    }
    object.close()
  }

  /// Releases all objects, which hold on to the manager. No call may follow.
  func forgetObjects() {
    attachment = nil
    objects.removeAll()
    sources.update(repeating: nil)
    graph.forgetObjects()
  }
}
