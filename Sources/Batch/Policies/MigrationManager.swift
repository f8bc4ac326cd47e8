import Streams

/// What a policy can ask of the running migration, as NSMigrationManager offers it: make objects, find them, follow mappings.
public final class MigrationManager {
  /// The source model of the step.
  public let sourceModel: ManagedObjectModel
  /// The destination model of the step.
  public var model: ManagedObjectModel { layout.model }

  let layout: StoreLayout
  let entities: [String: DestinationEntity]
  let byNumber: [DestinationEntity?]
  let keys: KeyAssignment
  let graph: SourceGraph
  let lookups: LookupTable
  let patches: PatchLog
  /// Keys and link rows given out so far, a table each: entity tables first, then join tables.
  var nextKeys: [Int64]
  /// Where finished records go.
  var output = RecordPage()
  /// Decodes the source's current row.
  let currentRow = RecordDecoder()

  private var open: [DestinationObject] = []
  private let encoder = RecordEncoder()
  private var current: (source: SourceObject, mapping: CompiledMapping)?
  private var primary: DestinationObject?
  private let compiled: [String: CompiledMapping]

  init(
    sourceModel: ManagedObjectModel, layout: StoreLayout, keys: KeyAssignment, graph: SourceGraph, lookups: LookupTable,
    patches: PatchLog, compiled: [CompiledMapping], entities: [DestinationEntity]
  ) {
    self.sourceModel = sourceModel
    self.layout = layout
    self.keys = keys
    self.graph = graph
    self.lookups = lookups
    self.patches = patches
    self.compiled = Dictionary(compiled.map { ($0.mapping.name, $0) }, uniquingKeysWith: { first, _ in first })
    self.entities = Dictionary(uniqueKeysWithValues: entities.map { ($0.name, $0) })
    byNumber = [nil] + entities
    nextKeys = keys.firstNewKeys
  }

  private func entity(_ name: String) throws -> DestinationEntity {
    guard let entity = entities[name] else {
      throw BatchError(.policyFailed, "the destination model has no entity \(name)")
    }
    return entity
  }

  // MARK: Making objects

  /// Makes the destination object that stands for a source object, by the mapping's properties; it keeps the source's key,
  /// moved where several entities come together in one table. One call a source object.
  public func createDestinationInstance(forSource source: SourceObject, in mapping: EntityMapping) throws -> DestinationObject {
    guard let current, current.mapping.mapping.name == mapping.name, current.source === source, primary == nil else {
      throw BatchError(
        .policyFailed, "a source object can be given one destination object of its mapping",
        hint: "Use insert(entity:) for further ones", entity: source.entityName, key: source.key)
    }
    let object = DestinationObject(new: current.mapping.destination, key: source.key + current.mapping.offset, manager: self)
    try current.mapping.fill(object, row: currentRow, source: source, manager: self)
    primary = object
    open.append(object)
    return object
  }

  /// Makes a further object with a key of its own.
  public func insert(entity name: String) throws -> DestinationObject {
    let entity = try entity(name)
    guard !entity.isAbstract else { throw BatchError(.policyFailed, "an abstract entity has no objects", entity: name) }
    let key = nextKeys[entity.table]
    nextKeys[entity.table] += 1
    let object = DestinationObject(new: entity, key: key, manager: self)
    open.append(object)
    return object
  }

  // MARK: Finding objects

  /// Finds an object by the value of an attribute, through a look-up that the policy declares. NULL finds nothing.
  public func find(_ entity: String, _ attribute: String, _ value: Value) throws -> DestinationObject? {
    guard let entry = try lookups.find(entity, attribute, value) else { return nil }
    guard Int(entry.entity) < byNumber.count, let found = byNumber[Int(entry.entity)] else { return nil }
    // An object of this call is still open and can be changed.
    if let open = open.last(where: { $0.key == entry.key && $0.entity.table == found.table }) { return open }
    return DestinationObject(reference: found, key: entry.key, manager: self)
  }

  /// Finds an object by the value of an attribute, or makes one with that value.
  public func findOrCreate(_ entity: String, _ attribute: String, _ value: Value) throws -> DestinationObject {
    if let found = try find(entity, attribute, value) { return found }
    let object = try insert(entity: entity)
    try object.set(attribute, value)
    try lookups.add(object.entity, attribute, value, key: object.key)
    return object
  }

  /// The objects that an entity mapping makes of source objects: its own ones, whether they are written already or will be.
  public func destinationInstances(forEntityMappingNamed name: String, sourceInstances: [SourceObject]) throws
    -> [DestinationObject]
  {
    guard let mapping = compiled[name] else {
      throw BatchError(.policyFailed, "this step has no entity mapping \(name)")
    }
    return sourceInstances.filter { $0.entity.name == mapping.mapping.sourceEntity }.map {
      DestinationObject(reference: mapping.destination, key: $0.key + mapping.offset, manager: self)
    }
  }

  /// The source object of a destination object that an entity mapping made; nil for others.
  public func sourceInstance(forEntityMappingNamed name: String, destination: DestinationObject) throws -> SourceObject? {
    guard let mapping = compiled[name], let source = mapping.mapping.sourceEntity, destination.entity === mapping.destination
    else { return nil }
    return try graph.object(source, key: destination.key - mapping.offset)
  }

  // MARK: Called by the engine

  func nextOrder(_ key: Int64) -> Int64 { key &* 1024 }

  func patch(_ table: Int, key: Int64, column: Int, _ value: Value) throws {
    try patches.add(table: table, key: key, column: column, value)
  }

  /// Adds a row to a join table.
  func link(_ join: Int, source: Int64, destination: Int64) throws {
    let table = layout.joinTables[join]
    let number = layout.entityTables.count + join
    encoder.reset()
    for column in table.columns {
      switch column {
      case table.sourceColumn: encoder.append(source)
      case table.destinationColumn: encoder.append(destination)
      default: encoder.append(nextKeys[number] &* 1024)
      }
    }
    output.append(table: number, rowid: nextKeys[number], encoder)
    nextKeys[number] += 1
  }

  /// Runs a policy's call for one source row and writes what it made. Returns whether the row has its own object.
  func withSource(_ source: SourceObject, _ mapping: CompiledMapping, _ body: () throws -> Void) throws -> Bool {
    current = (source, mapping)
    defer { current = nil }
    try body()
    let madeOne = primary != nil
    try closeObjects()
    return madeOne
  }

  /// Runs a policy's call for the relationships of one object.
  func withRelationships(of source: SourceObject, _ body: () throws -> Void) throws {
    try body()
    try closeObjects()
  }

  /// Writes all open objects, in the order in which they were made.
  func closeObjects() throws {
    for object in open { try write(object) }
    open.removeAll(keepingCapacity: true)
    primary = nil
  }

  private func write(_ object: DestinationObject) throws {
    encoder.reset()
    encoder.appendNull()
    var borrowed = 0
    for column in 1..<object.columns.count {
      if borrowed < object.borrowed.count, object.borrowed[borrowed].column == column {
        let source = object.borrowed[borrowed].source
        encoder.append(type: currentRow.type(source), body: currentRow.body(source))
        borrowed += 1
      } else {
        encoder.append(object.columns[column])
      }
    }
    try lookups.addAll(object, row: currentRow)
    let isFurther = object !== primary && keys.keepsKeys(table: object.entity.table)
    output.append(table: isFurther ? keys.spoolNumber(object.entity.table) : object.entity.table, rowid: object.key, encoder)
    object.close()
  }
}
