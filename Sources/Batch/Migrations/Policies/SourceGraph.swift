import CoreDataModel
import CoreDataStore
import RunSupport
import Streams

/// The source of a step as objects: entities, single rows by key, and to-many relationships through sorted runs.
package final class SourceGraph {
  package let reader: StoreReader
  package let binding: StoreBinding
  package let entities: [String: SourceEntity]
  /// Entities by Z_ENT; the first element is unused.
  package let byNumber: [SourceEntity?]
  private let fetchRoom: FetchRoom
  /// Single rows, a table each; made when they are asked for.
  @exclusivity(unchecked) private var fetchers: [RowFetcher?]
  // The same without counting references for every row: `byNumber` and `fetchers` hold them.
  private let entityReferences: UnsafeMutableBufferPointer<Unmanaged<SourceEntity>?>
  private let fetcherReferences: UnsafeMutableBufferPointer<Unmanaged<RowFetcher>?>
  @exclusivity(unchecked) private var runs: [String: RelationRun] = [:]
  private let scratch: StepFiles
  let rowLimit: Int
  /// What the step may take in memory.
  var budget: MemoryBudget { scratch.budget }
  /// Reads what rows of the source refer to. For the transforming thread alone.
  let longValues: LongValueReader
  /// What makes the rows of the reader's store to rows of the version at hand; nil if they are.
  let passed: (any PassedVersion)?

  package init(
    reader: StoreReader, binding: StoreBinding, scratch: StepFiles, rowLimit: Int, passed: (any PassedVersion)? = nil
  ) throws {
    self.reader = reader
    self.passed = passed
    self.binding = binding
    self.scratch = scratch
    self.rowLimit = rowLimit
    fetchRoom = FetchRoom(bytes: scratch.budget.fetchBytes)
    longValues = LongValueReader(snapshot: reader.snapshot, limit: rowLimit)
    let names = binding.layout.entityNames
    let all = try binding.remembered(ModelFacts.sourceEntities) {
      try names.map { try SourceEntity(name: $0, binding: binding) }
    }
    entities = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })
    byNumber = [nil] + all
    fetchers = Array(repeating: nil, count: binding.tables.count)
    entityReferences = .allocate(capacity: byNumber.count)
    _ = entityReferences.initialize(from: byNumber.map { $0.map { Unmanaged.passUnretained($0) } })
    fetcherReferences = .allocate(capacity: fetchers.count)
    fetcherReferences.initialize(repeating: nil)
  }

  deinit {
    entityReferences.deallocate()
    fetcherReferences.deallocate()
  }

  /// The value that a row lacks because its column was added later: the column's default.
  package func missing(_ entity: SourceEntity, _ position: Int) -> Value {
    let columns = binding.tables[entity.table].schema.columns
    return position < columns.count ? columns[position].defaultValue ?? .null : .null
  }

  /// Fetches an object of an entity, by Z_ENT, or of its sub-entities. It may be one that was fetched before.
  package func object(_ number: Int, key: Int64) throws -> SourceObject? {
    guard let expected = entityReferences[number] else { return nil }
    return try expected._withUnsafeGuaranteedRef { expected in
      if let fetcher = fetcherReferences[expected.table] {
        return try fetcher._withUnsafeGuaranteedRef { try $0.object(expected, key: key, of: self) }
      }
      return try fetcher(for: expected)?.object(expected, key: key, of: self)
    }
  }

  /// Nil for a table that begins without rows.
  private func fetcher(for expected: SourceEntity) -> RowFetcher? {
    let table = binding.tables[expected.table]
    guard let origin = origin(table.schema.rootPage, isWithoutRowid: false) else { return nil }
    let lookup = RowLookup(
      snapshot: reader.snapshot, root: origin.root, cacheBytes: scratch.budget.lookupCacheBytes / 2, rowLimit: rowLimit,
      longValuesFrom: MemoryBudget.longValueBytes)
    let fetcher = RowFetcher(
      lookup, passed: passed.map { ($0, table.schema.rootPage) }, entityPosition: table.positions[1],
      columns: table.schema.columns.count, room: fetchRoom)
    fetchers[expected.table] = fetcher
    fetcherReferences[expected.table] = Unmanaged.passUnretained(fetcher)
    return fetcher
  }

  /// Releases the objects that were fetched: they hold on to the graph.
  package func forgetObjects() {
    fetcherReferences.update(repeating: nil)
    fetchers = Array(repeating: nil, count: fetchers.count)
    fetchRoom.empty()
  }

  /// Keys at the other end of a to-many relationship.
  package func keys(of relationship: StoredRelationship, named name: String, owner: SourceObject) throws -> [Int64] {
    let identifier = Self.fileName(relationship)
    let run = try runs[identifier] ?? makeRun(relationship, named: name, identifier)
    runs[identifier] = run
    return try run.values(owner.key)
  }

  /// Follows from where the links lie and nothing else: a resumed run asks for relationships in another order, and two
  /// entities of one table may have different ones of one name.
  private static func fileName(_ relationship: StoredRelationship) -> String {
    let place =
      switch relationship.storage {
      case .ownKey(let table, let column, _, _): "own.\(table).\(column)"
      case .inverseKey(let table, let column, _): "inverse.\(table).\(column)"
      case .ownerKey(let table, let column, _): "owner.\(table).\(column)"
      case .join(let table, let ownerIsSource): "join.\(table).\(ownerIsSource ? "source" : "destination")"
      }
    return place + (relationship.isOrdered ? ".ordered" : "")
  }

  private func makeRun(
    _ relationship: StoredRelationship, named name: String, _ file: String
  ) throws -> RelationRun {
    let path = scratch.path("relation.\(file)")
    let scan = try pairScan(relationship.storage, isOrdered: relationship.isOrdered)
    return try RelationRun(path: path, identifier: name, scratch: scratch) { try forEachPair(scan, $0) }
  }

  /// The run of a name, which `fill` makes where there is none.
  func valueRun(_ name: String, fill: (_ add: (Int64, Int64, Int64) throws -> Void) throws -> Void) throws
    -> RelationRun
  {
    if let run = runs[name] { return run }
    let run = try RelationRun(path: scratch.path("relation.\(name)"), identifier: name, scratch: scratch, fill: fill)
    runs[name] = run
    return run
  }

  /// Calls `body` with owner, order and other of every pair, in the order of the rows that have them.
  package func forEachPair(_ scan: PairScan, _ body: (Int64, Int64, Int64) throws -> Void) throws {
    let decoder = RecordDecoder()
    try forEachPage(scan.root, isWithoutRowid: scan.isWithoutRowid) { page in
      try scratch.throwIfStopped()
      for row in 0..<page.count where decoder.decode(page.record(row)) {
        let rowid = page.rowid(row)
        guard let owner = scan.owner.read(decoder, rowid), let other = scan.other.read(decoder, rowid) else { continue }
        try body(owner, scan.order.flatMap { decoder.integer($0) } ?? 0, other)
      }
    }
  }

  /// Where pairs of keys are read from.
  package struct PairScan {
    enum Place: Equatable {
      case rowid
      case column(Int)
      func read(_ decoder: RecordDecoder, _ rowid: Int64) -> Int64? {
        switch self {
        case .rowid: rowid
        case .column(let position): decoder.integer(position)
        }
      }
    }
    var root: UInt32
    var owner: Place
    var other: Place
    var order: Int?
    /// Whether it is a join table that is kept as an index.
    var isWithoutRowid = false

    /// Whether another scan gives the same pairs with owner and other exchanged; nil for other pairs.
    func isTurned(_ scan: PairScan) -> Bool? {
      guard root == scan.root else { return nil }
      if (owner, other) == (scan.owner, scan.other) { return false }
      return (owner, other) == (scan.other, scan.owner) ? true : nil
    }
  }

  /// Entities of a kind that have objects of their own.
  func concrete(_ kind: String) -> [SourceEntity] {
    let model = binding.layout.model
    return byNumber.compactMap { $0 }.filter {
      model.isKind($0.name, of: kind) && model.entity($0.name)?.isAbstract == false
    }
  }

  /// Where a row of ``pairScan(_:isOrdered:)`` holds the place of the owner among the objects that the other leads to.
  func inverseOrder(_ storage: RelationshipStorage) -> Int? {
    switch storage {
    case .join(let table, let ownerIsSource):
      ownerIsSource ? binding.joins[table].sourceOrderPosition : binding.joins[table].destinationOrderPosition
    case .ownKey(let table, _, _, let order): order.map { binding.tables[table].positions[$0] }
    case .inverseKey, .ownerKey: nil
    }
  }

  /// How the pairs (owner, other) of a relationship are read from one table.
  package func pairScan(_ storage: RelationshipStorage, isOrdered: Bool) throws -> PairScan {
    switch storage {
    case .ownKey(let table, let column, _, _):
      let bound = binding.tables[table]
      return PairScan(root: bound.schema.rootPage, owner: .rowid, other: .column(bound.positions[column]), order: nil)
    case .inverseKey(let table, let column, let order), .ownerKey(let table, let column, let order):
      let bound = binding.tables[table]
      return PairScan(
        root: bound.schema.rootPage, owner: .column(bound.positions[column]), other: .rowid,
        order: isOrdered ? order.map { bound.positions[$0] } : nil)
    case .join(let table, let ownerIsSource):
      let bound = binding.joins[table]
      let (source, destination) = (bound.sourcePosition, bound.destinationPosition)
      // A join's order column is named after the column that it orders: the objects seen from the owner.
      let order = ownerIsSource ? bound.destinationOrderPosition : bound.sourceOrderPosition
      return PairScan(
        root: bound.schema.rootPage, owner: .column(ownerIsSource ? source : destination),
        other: .column(ownerIsSource ? destination : source), order: isOrdered ? order : nil,
        isWithoutRowid: bound.schema.isWithoutRowid)
    }
  }
}

extension ModelFacts {
  fileprivate static let sourceEntities = Key<[SourceEntity]>("entities of a source")
}
