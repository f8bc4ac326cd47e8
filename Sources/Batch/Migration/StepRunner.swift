import Streams

/// Runs one step: reads the source store, writes the destination's file, and says at every checkpoint where it stands. Keeps I5 and I12.
final class StepRunner {
  /// What a step is given.
  struct Job {
    var reader: StoreReader
    var plan: StepPlan
    /// The step's number, from 1.
    var number = 1
    /// The file to write.
    var path: String
    var files: StepFiles
    var header: DatabaseHeader
    var metadata: StoreMetadata
    /// Whether this is the last step. Only then indexes are built: nobody searches a store between two steps.
    var hasIndexes: Bool
    var indexBuilding = IndexBuilding.engine
    /// What the header says at the end, also where it says another thing while the step works.
    var version: DatabaseHeader.Version
    var monitor: RunMonitor
    /// Whether to keep a digest of each table, for the verification.
    var keepsDigests = false
    /// Hears what is finished; nil for nobody.
    var watcher: (any PartWatcher)?
    /// Takes objects that cannot be migrated; nil if such a one ends the run.
    var rejects: RejectLog?
    /// Hears what becomes of objects; nil for nobody.
    var objectWatcher: (any ObjectWatcher)?
    /// Makes the step read only a sample; nil for all rows.
    var rehearsal: StepRehearsal?
    /// Whether the source is a part of a store, which lacks what may set values.
    var isExcerpt = false
    /// Rows of the source's tables, where a step before wrote them.
    var sourceRows: [String: UInt64] = [:]
    /// Makes a state durable as a checkpoint. Everything that it names is durable already (I3).
    var publish: @Sendable (StepState, _ builders: [UInt8]) throws -> Void
  }

  let job: Job
  let plan: StepPlan
  private let lookups: LookupTable
  let patches: PatchLog
  let transformer: RowTransformer
  var output: StepOutput
  var clock: CheckpointClock
  private let pages = BoundedQueue<RowPage>(capacity: 16)
  private let records = BoundedQueue<RecordPage>(capacity: 16)
  /// What the units have to do.
  private(set) var work = StepWork()
  /// Rows that this process had read before the step, and rows that the step had read before this process.
  private let rowsBefore: UInt64
  private let rowsAtStart: UInt64
  /// What look-ups beyond memory took to be restored.
  private let secondsOfRunsBefore: Double
  let isResumed: Bool
  var indexedLength = 0
  let indexes: [StoreIndex]
  /// The R-trees that the step builds.
  var rtrees: [RTreeLayout] { job.hasIndexes ? plan.layout.rtrees : [] }
  /// Takes entries of the indexes from the records as they are written.
  private var collector: EntryCollector?
  var collected: IndexEntries?

  /// Prepares a step, from its beginning or from where a checkpoint left it.
  init(_ job: Job, restart: StepRestart?) throws {
    self.job = job
    plan = job.plan
    let state = restart?.state ?? StepState(plan: plan)
    isResumed = restart != nil
    (rowsBefore, rowsAtStart) = (job.monitor.progress.rows, state.rowsRead)
    // When the tables are complete, look-ups and changes are no longer needed; older checkpoints still name their files.
    let needsLogs = state.phase == .units
    lookups = try LookupTable(
      needsLogs ? plan.lookups : [], model: plan.layout.model, files: job.files,
      restoring: restart != nil && needsLogs ? state.lookups : nil)
    secondsOfRunsBefore = lookups.secondsOfRuns
    patches = try PatchLog(
      path: job.files.path(needsLogs ? "patches" : "patches.closed"), fileSystem: job.files.fileSystem,
      restoring: restart != nil && needsLogs ? (state.patchLength, state.patchCount) : nil)
    let manager = MigrationManager(
      sourceModel: plan.step.source, layout: plan.layout, keys: plan.keys, graph: plan.graph, lookups: lookups,
      patches: patches, compiled: plan.mappings, entities: plan.entities, rules: plan.rules)
    let dropped = try DroppedKeys(plan: plan, files: job.files, restoring: restart != nil ? state.counts : nil)
    transformer = RowTransformer(plan: plan, manager: manager, dropped: dropped, state: state)
    transformer.watcher = job.objectWatcher
    if let rejects = job.rejects {
      if restart == nil || rejects.state.mappings.isEmpty { rejects.begin(mappings: plan.mappings.count) }
      transformer.rejects = (rejects, job.number)
    }
    output = try StepOutput(
      path: Self.workingPath(job.path, state), plan: plan, header: job.header, hasIndexes: job.hasIndexes,
      keepsDigests: job.keepsDigests, files: job.files, from: job.reader.snapshot, restoring: restart,
      watcher: job.watcher)
    clock = CheckpointClock(job.monitor.interval)
    indexes = StoreIndex.all(job.hasIndexes ? plan.layout : nil, carried: plan.carried.indexes)
    if restart == nil { try checkpoint() }
  }

  /// The file that a step in this state writes: patches move it to a new one.
  static func workingPath(_ path: String, _ state: StepState) -> String { state.isPatched ? path + ".patched" : path }

  /// Runs to the end. On return the step's store is complete and durable.
  func run() throws -> StepState {
    if transformer.state.phase == .units {
      work = try StepWork(plan, job.reader.snapshot, finished: transformer.state.unit, indexes: indexes)
    }
    noteWork()
    do {
      if transformer.state.phase == .units { try runUnits() }
    } catch {
      cancelCollector()
      throw error
    }
    // A step that is finished is not begun again: only the run's position was not published yet.
    if transformer.state.phase == .indexes { try buildIndexes() }
    output.close()
    return transformer.state
  }

  private func runUnits() throws {
    if job.indexBuilding == .engine, !isWrittenAgain {
      collector = try EntryCollector(
        indexes, tableNames: plan.tableNames, isEmpty: output.isEmpty, files: job.files, source: job.reader.snapshot,
        used: records)
    }
    while transformer.state.unit < plan.units.count {
      try run(plan.units[transformer.state.unit])
      transformer.state.unit += 1
      transformer.state.after = nil
      // What looks for links twice sorts in the memory of the entries.
      if collector != nil, isWrittenAgain || !joinsToCheck.isEmpty { cancelCollector() }
    }
    collected = try collector?.finish()
    collector = nil
    try finishTables()
  }

  private func cancelCollector() {
    collector?.cancel()
    collector = nil
  }

  private func run(_ unit: StepUnit) throws {
    guard let origin = plan.origin(of: unit) else {
      try transformer.call(unit)
      try output.take(transformer.manager.output)
      if let collector {
        let made = emptyRecords()
        made.exchange(with: transformer.manager.output)
        return try collector.push(made)
      }
      return transformer.manager.output.reset()
    }
    show(unit)
    let scan = try scan(origin)
    let (number, rehearsal) = (transformer.state.unit, job.rehearsal)
    rehearsal?.begin(unit: number, transformer.state, rows: output.rowCounts)
    let (monitor, pages, records, output, publish) = (job.monitor, pages, records, OutputBox(output), job.publish)
    let collector = collector
    try Pipeline<ScannedPage, Parcel>.run(
      read: {
        let page = pages.tryPop() ?? RowPage()
        guard try !monitor.isStopRequested && scan.next(into: page) else { return nil }
        return ScannedPage(rows: page, bytesRead: scan.bytesRead)
      },
      transform: { [self] scanned in
        try transformer.transform(scanned.rows, of: unit)
        let outsideBytes = scanned.rows.outsideBytes
        try pages.push(scanned.rows)
        rehearsal?.transformed(transformer.state)
        return try parcel(bytesRead: scanned.bytesRead, outsideBytes: outsideBytes)
      },
      write: { parcel in
        try output.output.take(parcel.records)
        rehearsal?.written(unit: number, rows: output.output.rowCounts)
        if let mark = parcel.mark { try mark.finish(output.output, publish) }
        if let collector { return try collector.push(parcel.records) }
        parcel.records.reset()
        try records.push(parcel.records)
      })
    work.finish(unit: transformer.state.unit)
    if job.monitor.isStopRequested {
      try checkpoint()
      try job.monitor.throwIfStopRequested()
    }
  }

  private func scan(_ origin: (root: UInt32, isWithoutRowid: Bool)) throws -> UnitScan {
    try UnitScan(after: transformer.state.after, sample: job.rehearsal?.samples[origin.root]) { [job] row in
      try RowScan(
        snapshot: job.reader.snapshot, root: origin.root, isWithoutRowid: origin.isWithoutRowid, after: row,
        rowLimit: job.files.budget.rowLimit, longValuesFrom: MemoryBudget.longValueBytes)
    }
  }

  /// Pages come back empty: who has used one resets it, which gives much memory back at once.
  private func emptyRecords() -> RecordPage { records.tryPop() ?? RecordPage() }

  private func parcel(bytesRead: UInt64, outsideBytes: Int) throws -> Parcel {
    let records = emptyRecords()
    records.exchange(with: transformer.manager.output)
    let rows = rowsBefore + transformer.state.rowsRead - rowsAtStart
    let objects = objectsRead(plan.units[transformer.state.unit])
    let done = work.fraction(
      unit: transformer.state.unit, pages: Double(bytesRead) / Double(job.reader.snapshot.geometry.pageSize))
    let bytes = records.byteCount + outsideBytes
    let before = job.monitor.progress.rows
    job.monitor.update { progress in
      (progress.rows, progress.objects) = (rows, objects)
      progress.bytes += UInt64(bytes)
      progress.advance(.rows(step: job.number), to: done)
      // Where the pace is limited they take no time of their own.
      if job.monitor.rate == nil {
        progress.estimate.setAside(lookups.secondsOfRuns - secondsOfRunsBefore, of: .rows(step: job.number))
      }
    }
    job.monitor.hold(rows: Int(clamping: rows &- before), bytes: bytes)
    return Parcel(records: records, mark: clock.isDue(adding: bytes) ? try mark() : nil)
  }

  private func mark() throws -> CheckpointMark {
    let lookups = try lookups.checkpoint()
    let patches = try patches.checkpoint()
    var state = transformer.state
    state.lookups = lookups.map(\.state)
    (state.patchLength, state.patchCount) = (patches.length, patches.count)
    let monitor = job.monitor
    var toSync = lookups.map(\.toSync) + [patches.toSync] + (try transformer.dropped.checkpoint())
    if let rejects = try job.rejects?.checkpoint() {
      state.rejects = rejects.state
      toSync.append(rejects.toSync)
    }
    return CheckpointMark(state: state, toSync: toSync) {
      for lookup in lookups { lookup.finish() }
      monitor.update { $0.checkpoints += 1 }
    }
  }

  /// Publishes where the step stands; no pipeline is running.
  private func checkpoint() throws { try mark().finish(output, job.publish) }
}

/// A page of rows, with the bytes that the scan had read by then.
private struct ScannedPage: Sendable {
  let rows: RowPage
  let bytesRead: UInt64
}

/// Finished records of one page of rows, with the mark of a checkpoint after them.
private struct Parcel: Sendable {
  let records: RecordPage
  let mark: CheckpointMark?
}

// Used by one thread at a time: the writing one while the pipeline runs.
private final class OutputBox: @unchecked Sendable {
  let output: StepOutput
  init(_ output: StepOutput) { self.output = output }
}
