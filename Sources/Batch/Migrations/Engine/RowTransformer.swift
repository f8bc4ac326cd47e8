import CoreDataStore
import MappingModels
import RunSupport
import Streams

/// Turns pages of source rows into finished records, unit by unit. Lives on one thread.
final class RowTransformer {
  let plan: StepPlan
  let manager: StepObjects
  let dropped: DroppedKeys
  /// Where the step stands; the keys that are given out are the manager's, see ``standing``.
  @exclusivity(unchecked) var state: StepState
  let encoder = RecordEncoder()
  let row: RecordDecoder
  /// By source table and mappings: single rows of a version between come from now this table, now that.
  private var prepared: [[Int]: TablePass] = [:]
  /// Rows of the version that the mappings read, where steps are passed.
  private lazy var seen = RowPage()
  /// Takes objects that cannot be migrated, and the number of the step; nil if such a one ends the run.
  var rejects: (log: RejectLog, step: Int)? { didSet { manager.canReject = rejects != nil } }
  /// Hears what becomes of objects; nil for nobody.
  var watcher: (any ObjectWatcher)?

  init(plan: StepPlan, manager: StepObjects, dropped: DroppedKeys, state: StepState) {
    self.plan = plan
    self.manager = manager
    self.dropped = dropped
    self.state = state
    row = manager.currentRow
    manager.nextKeys = state.nextKeys
    manager.isResumed = state.unit > 0 || state.rowsRead > 0
  }

  deinit { manager.forgetObjects() }

  /// Where the step stands, with the keys given out so far: for a checkpoint, or for what follows the units.
  var standing: StepState {
    var state = state
    state.nextKeys = manager.nextKeys
    return state
  }

  /// The unit is done.
  func beginNextUnit() {
    state.unit += 1
    state.after = nil
  }

  /// Forgets all that was counted and made, as if no row had been read.
  func startOver() {
    state = StepState(plan: plan)
    manager.nextKeys = state.nextKeys
    manager.output.reset()
  }

  /// Runs a unit that is a single call.
  func call(_ unit: StepUnit) throws {
    let face = MigrationManager(manager)
    switch unit {
    case .begin(let index): try policy(index) { try $0.begin($1, with: face) }
    case .endCreation(let index): try policy(index) { try $0.endInstanceCreation(forMapping: $1, manager: face) }
    case .endRelationships(let index):
      try policy(index) { try $0.endRelationshipCreation(forMapping: $1, manager: face) }
    case .validation(let index): try policy(index) { try $0.performCustomValidation(forMapping: $1, manager: face) }
    case .end(let index): try policy(index) { try $0.end($1, manager: face) }
    case .rows, .links, .carried, .relationships: break
    }
    try manager.closeObjects()
  }

  private func policy(_ index: Int, _ body: (any EntityMigrationPolicy, EntityMapping) throws -> Void) throws {
    let mapping = plan.mappings[index]
    guard let policy = mapping.policy else { return }
    manager.enter(index)
    try naming(mapping, key: nil) {
      try body(policy.policy, mapping.mapping)
      try manager.throwIfCancelled()
    }
  }

  /// Adds to an error from a policy where it happened, unless the error says so itself.
  func naming<R>(_ mapping: CompiledMapping, key: Int64?, _ body: () throws -> R) throws -> R {
    do {
      return try body()
    } catch let error as BatchError {
      var named = error
      named.entity = error.entity ?? mapping.source.name
      named.key = error.key ?? key
      throw named
    } catch let error as StreamsError where error.code == .tooLarge {
      let error = plan.graph.budget.advised(error)
      throw BatchError(
        .refused, error.message, hint: error.hint, path: error.path, entity: mapping.source.name, key: key)
    } catch let error as StreamsError {
      throw error
    } catch {
      throw BatchError(
        .policyFailed, "the policy \(mapping.mapping.policyClassName ?? "") failed", entity: mapping.source.name,
        key: key,
        cause: error)
    }
  }

  /// Migrates a page of the store's rows into the manager's output, by a unit.
  func transform(_ page: RowPage, of unit: StepUnit) throws {
    let rows = try passing(page, unit)
    switch unit {
    case .rows(let table, let indexes): try self.rows(rows, table: table, mappings: indexes)
    case .links(let link):
      if let join = plan.firstReadJoin(unit) { state.tallies[0].add(links: UInt64(rows.count), of: join) }
      try links(rows, link)
    case .carried(let index): try carry(rows, plan.carried.tables[index], to: plan.firstCarried + index)
    case .relationships(let table, let index): try relationships(rows, table: table, mapping: index)
    case .begin, .endCreation, .endRelationships, .validation, .end: break
    }
    // A policy may keep a source object longer than its row.
    row.forget()
    state.rowsRead += UInt64(page.count)
    if page.count > 0 { state.after = page.rowid(page.count - 1) }
  }

  /// The rows of the version that the mappings read.
  private func passing(_ page: RowPage, _ unit: StepUnit) throws -> RowPage {
    guard let passed = plan.passed, let root = plan.root(of: unit) else { return page }
    try passed.make(page, of: root, into: seen)
    guard plan.isFirstRead(unit) || plan.firstReadJoin(unit) != nil else { return seen }
    for (index, tally) in passed.tallies.enumerated() { state.tallies[index + 1].add(tally) }
    guard plan.isFirstRead(unit) else { return seen }
    for (index, counts) in passed.counts.enumerated() {
      state.counts[plan.mappings.count + index].add(counts)
    }
    state.unmapped += passed.unmapped
    return seen
  }

  /// Finds how a row is migrated in this pass, by its entity number alone where that is near.
  @inline(__always)
  func ways(_ page: RowPage, index: Int, pass: TablePass) throws -> UnsafeMutableBufferPointer<TablePass.Way> {
    try pass.ways(manager.locator.integer(pass.entityPosition, of: page.record(index)))
      ?? decode(page, index: index, pass: pass)
  }

  /// Decodes a row and finds how it is migrated in this pass.
  @inline(__always)
  func decode(_ page: RowPage, index: Int, pass: TablePass) throws -> UnsafeMutableBufferPointer<TablePass.Way> {
    guard row.decode(page.record(index)) else { throw damage("is damaged", pass: pass, key: page.rowid(index)) }
    guard let ways = pass.ways(row.integer(pass.entityPosition)) else {
      throw damage("has an entity number that its table does not hold", pass: pass, key: page.rowid(index))
    }
    return ways
  }

  /// The same for a row whose columns were located.
  @inline(__always)
  private func decodeLocated(
    _ page: RowPage, index: Int, pass: TablePass
  ) throws -> UnsafeMutableBufferPointer<TablePass.Way> {
    guard let ways = pass.ways(manager.locator.integer(pass.entityPosition)) else {
      return try decode(page, index: index, pass: pass)
    }
    manager.locator.lend(to: row)
    return ways
  }

  private func damage(_ what: String, pass: TablePass, key: Int64) -> BatchError {
    let bound = plan.binding.tables[pass.table]
    return BatchError(
      .badStore, "a row of \(bound.schema.name) \(what)", path: plan.graph.reader.path, entity: bound.layout.rootEntity,
      key: key)
  }

  func pass(table: Int, mappings: [Int]) throws -> TablePass {
    manager.locator.prepare(columnCount: plan.binding.tables[table].schema.columns.count)
    if let pass = prepared[[table] + mappings] { return pass }
    let pass = try TablePass(plan, table: table, mappings: mappings, manager: manager)
    prepared[[table] + mappings] = pass
    return pass
  }

  private func rows(_ page: RowPage, table: Int, mappings indexes: [Int]) throws {
    let pass = try pass(table: table, mappings: indexes)
    defer { pass.count(into: &state) }
    let watcher = watcher.flatMap { $0.concerns(table: table) ? $0 : nil }
    if watcher == nil { try pass.foresee(page) }
    let output = manager.output
    for index in 0..<page.count {
      let key = page.rowid(index)
      let (isLocated, isMigrated) =
        watcher == nil ? try pass.migrate(page, row: index, key: key, to: output) : (false, false)
      if isMigrated { continue }
      manager.isLocated = isLocated
      let ways = try isLocated ? decodeLocated(page, index: index, pass: pass) : decode(page, index: index, pass: pass)
      if !isLocated { try pass.countDecoded() }
      var (isTaken, isRejected, taken) = (false, false, [Int]())
      for way in ways {
        let fate = try take(key, by: way, telling: watcher)
        try count(key, way.index, isKept: fate.isKept)
        (isTaken, isRejected) = (isTaken || fate.isKept, isRejected || fate.isRejected)
        if fate.isKept, pass.looksForLost { taken.append(way.index) }
      }
      if ways.isEmpty {
        state.unmapped += 1
      } else if !isTaken {
        try pass.leave(key, isRejected: isRejected, manager: manager)
      }
      if pass.looksForLost, !isRejected { try pass.countLost(key, taken: taken, manager: manager) }
    }
  }

  @inline(__always)
  func take(_ key: Int64, mapping: CompiledMapping, index: Int) throws -> Bool {
    try naming(mapping, key: key) {
      guard try mapping.filter == nil || manager.withSource(for: mapping, key: key, { try mapping.takes($0) }) else {
        return false
      }
      return try migrate(key, mapping: mapping, index: index)
    }
  }

  @inline(__always)
  private func count(_ key: Int64, _ index: Int, isKept: Bool) throws {
    state.counts[index].read += 1
    if isKept {
      state.counts[index].kept += 1
    } else {
      state.counts[index].dropped += 1
      try dropped.append(key, mapping: index)
    }
  }

  @inline(__always)
  private func migrate(_ key: Int64, mapping: CompiledMapping, index: Int) throws -> Bool {
    guard let calls = mapping.calls else { return try migrateWithoutPolicy(key, mapping: mapping, index: index) }
    return try manager.migrate(key, by: mapping, index: index) { source in
      try calls._withUnsafeGuaranteedRef {
        try $0.createDestinationInstances(forSource: source, manager: MigrationManager(manager))
      }
    }
  }

  private func migrateWithoutPolicy(_ key: Int64, mapping: CompiledMapping, index: Int) throws -> Bool {
    if !manager.lookups.wants(mapping.destination.name), try mapping.encode(row, rowid: key, to: encoder) {
      manager.output.append(table: mapping.destination.table, rowid: key &+ mapping.offset, encoder)
      return true
    }
    return try manager.migrate(key, by: mapping, index: index) { source in
      _ = try manager.createDestinationInstance(forSource: source, in: mapping.mapping)
    }
  }
}
