import CoreDataStore
import RunSupport
import Streams

/// Runs one step: reads the source store, writes the destination's file, and says at every checkpoint where it stands.
/// Keeps I5 and I12.
package final class StepRunner {
  private let job: StepJob
  private let plan: StepPlan
  private let lookups: LookupTable
  private let patches: PatchLog
  /// Owns the step's state for as long as units run.
  private let transformer: RowTransformer
  private let output: StepOutput
  private var clock: CheckpointClock
  private let pages = BoundedQueue<RowPage>(capacity: 16)
  private let records = BoundedQueue<RecordPage>(capacity: 16)
  /// What the units have to do.
  private var work = StepWork()
  /// Rows that this process had read before the step, and rows that the step had read before this process.
  private let rowsBefore: UInt64
  private let rowsAtStart: UInt64
  /// What look-ups beyond memory took to be restored.
  private let secondsOfRunsBefore: Double
  private let isResumed: Bool
  private let indexes: StepIndexes
  private let progress: StepProgress
  /// Who works while rows pass; nil where all is done on one thread.
  private let crew: Crew?
  /// Takes entries of the indexes from the records as they are written.
  private var collector: EntryCollector?

  /// Prepares a step, from its beginning or from where a checkpoint left it. Publishes nothing.
  package init(_ job: StepJob, restart: StepRestart?) throws {
    self.job = job
    plan = job.plan
    let state = restart?.state ?? StepState(plan: plan)
    isResumed = restart != nil
    (rowsBefore, rowsAtStart) = (job.monitor.progress.rows, state.rowsRead)
    // When the tables are complete, look-ups and changes are no longer needed; older checkpoints still name their
    // files.
    let needsLogs = state.phase == .units
    let restoring = restart != nil && needsLogs
    lookups = try LookupTable(
      needsLogs ? plan.lookups : [], model: plan.layout.model, files: job.files,
      restoring: restoring ? state.lookups : nil, readsAll: job.rehearsal == nil)
    secondsOfRunsBefore = lookups.secondsOfRuns
    patches = try PatchLog(
      path: job.files.path(needsLogs ? "patches" : "patches.closed"), fileSystem: job.files.fileSystem,
      restoring: restoring ? (state.patchLength, state.patchCount) : nil)
    let dropped = try DroppedKeys(
      of: plan.isReadAgain, files: job.files, restoring: restart != nil ? state.counts : nil)
    transformer = RowTransformer(
      plan: plan, manager: plan.makeManager(lookups, patches), dropped: dropped, state: state)
    transformer.watcher = job.objectWatcher
    if let rejects = job.rejects {
      if restart == nil || rejects.state.mappings.isEmpty { rejects.begin(mappings: plan.mappings.count) }
      transformer.rejects = (rejects, job.number)
    }
    output = try StepOutput(
      path: state.workingPath(job.path), plan: plan, header: job.header, hasIndexes: job.hasIndexes,
      keepsDigests: job.keepsDigests, files: job.files, from: job.reader.snapshot, restoring: restart,
      watcher: job.watcher)
    (clock, crew) = (job.clock, try job.isSmall ? nil : Crew(helpers: IndexEntries.helpers))
    indexes = StepIndexes(job)
    progress = StepProgress(job, indexes)
  }

  /// Runs to the end. On return the step's store is complete and durable.
  package func run() throws -> StepState {
    // What planning had needed, a run would have on top of its own: memory, and the pages of its code.
    if !job.isSmall {
      ProcessMemory.giveBack()
      ProgramPages.giveBack()
    }
    if !isResumed, !job.waitsForCheckpoint() { try checkpoint() }
    let (phase, unit) = (transformer.state.phase, transformer.state.unit)
    work = try StepWork(
      plan, job.reader.snapshot, finished: phase == .units ? unit : plan.units.count, indexes: indexes.indexes)
    if phase == .units, plan.units.indices.contains(unit) {
      work.resume(unit: unit, rowsRead: progress.objectsRead(plan.units[unit], in: transformer.state))
    }
    progress.note(work, in: transformer.state)
    lookups.onPass = progress.passes
    var collected: IndexEntries?
    do {
      if phase == .units { collected = try job.files.budget.advising(runUnits) }
    } catch {
      cancelCollector()
      throw error
    }
    return try job.files.budget.advising { try ending(collected: collected).run() }
  }

  /// Hands the state on to what follows when all rows were read.
  private func ending(collected: IndexEntries?) -> StepEnding {
    StepEnding(
      job: job, indexes: indexes, progress: progress, patches: patches, state: transformer.standing, output: output,
      clock: clock, collected: collected, joinsToCheck: joinsToCheck)
  }

  /// Whether keys or values of written rows are changed at the end. Index entries that were collected are worth nothing
  /// then.
  private var isWrittenAgain: Bool { patches.count > 0 || job.lostReferences(in: transformer.state) != nil }

  /// Join tables that may hold a link twice; a resumed run does not know what was added before.
  private var joinsToCheck: [Int] {
    guard isResumed, plan.mayAddLinks, transformer.state.phase == .units else {
      return transformer.manager.joinsToCheck
    }
    return plan.layout.joinTables.indices.filter { output.rowCounts[plan.layout.entityTables.count + $0] > 1 }
  }

  /// Runs the units that are left. Returns the entries of indexes that were collected on the way.
  private func runUnits() throws -> IndexEntries? {
    if job.indexBuilding == .engine, !isWrittenAgain {
      collector = EntryCollector(
        indexes.indexes, tableNames: plan.tableNames, isEmpty: output.isEmpty, files: job.files,
        source: job.reader.snapshot, used: records, crew: crew)
    }
    while transformer.state.unit < plan.units.count {
      try run(plan.units[transformer.state.unit])
      transformer.beginNextUnit()
      // What looks for links twice sorts in the memory of the entries.
      if collector != nil, isWrittenAgain || !joinsToCheck.isEmpty { cancelCollector() }
    }
    let collected = try collector?.finish()
    collector = nil
    releasePages()
    return collected
  }

  /// Gives the pages' memory back: indexes need theirs.
  private func releasePages() {
    while pages.tryPop() != nil {}
    while records.tryPop() != nil {}
    if !job.isSmall { ProcessMemory.giveBack() }
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
    progress.show(unit, in: transformer.state)
    let (scan, number) = (try scan(origin), transformer.state.unit)
    job.rehearsal?.begin(unit: number, transformer.standing, rows: output.rowCounts)
    let writer = ParcelWriter(output, unit: number, job: job, collector: collector, used: records)
    try pass(unit, scan: scan, to: writer)
    job.rehearsal?.ended(lookups)
    work.finish(unit: transformer.state.unit)
    if job.monitor.isStopRequested {
      try checkpoint()
      try job.monitor.throwIfStopRequested()
    }
  }

  private func pass(_ unit: StepUnit, scan: UnitScan, to writer: ParcelWriter) throws {
    let (monitor, pages, rehearsal) = (job.monitor, pages, job.rehearsal)
    let read = { @Sendable () throws -> ScannedPage? in
      let page = pages.tryPop() ?? RowPage()
      guard try !monitor.isStopRequested && scan.next(into: page) else { return nil }
      return ScannedPage(rows: page, bytesRead: scan.bytesRead)
    }
    let transform = { (scanned: ScannedPage) throws -> Parcel in
      try self.transformer.transform(scanned.rows, of: unit)
      let outsideBytes = scanned.rows.outsideBytes
      try pages.push(scanned.rows)
      rehearsal?.transformed(self.transformer.standing)
      return try self.parcel(bytesRead: scanned.bytesRead, outsideBytes: outsideBytes)
    }
    if let crew {
      try Pipeline<ScannedPage, Parcel>.run(crew, read: read, transform: transform, into: writer.stage(of: crew))
    } else {
      while let page = try read() { try writer.take(transform(page)) }
    }
  }

  private func scan(_ origin: (root: UInt32, isWithoutRowid: Bool)) throws -> UnitScan {
    try UnitScan(after: transformer.state.after, sample: job.rehearsal?.samples[origin.root]) { [job] row in
      try RowScan(
        snapshot: job.reader.snapshot, root: origin.root, isWithoutRowid: origin.isWithoutRowid, after: row,
        rowLimit: job.files.budget.rowLimit, longValuesFrom: MemoryBudget.longValueBytes)
    }
  }

  /// Pages come back empty: who has used one resets it.
  private func emptyRecords() -> RecordPage { records.tryPop() ?? RecordPage() }

  private func parcel(bytesRead: UInt64, outsideBytes: Int) throws -> Parcel {
    let records = emptyRecords()
    records.exchange(with: transformer.manager.output)
    let rows = rowsBefore + transformer.state.rowsRead - rowsAtStart
    let objects = progress.objectsRead(plan.units[transformer.state.unit], in: transformer.state)
    let done = work.fraction(
      unit: transformer.state.unit, pages: Double(bytesRead) / Double(job.reader.snapshot.geometry.pageSize),
      named: Double(lookups.added) / Double(max(1, rows - rowsBefore)))
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
    var state = transformer.standing
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
