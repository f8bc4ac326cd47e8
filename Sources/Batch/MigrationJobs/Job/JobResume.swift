import CoreDataStore
import Foundation
import Migrations
import RunSupport
import Streams

extension MigrationJob {
  /// Finishes an interrupted run, found by its source or its destination.
  ///
  /// `memory` replaces the run's own budget; the finished bytes do not depend on it. `rejects` replaces the run's own
  /// limit, and `heldBy` the file that holds its cut-over. `mappings` stand in for the run's own mapping models, if its finished steps do not depend on what changed.
  /// `consent` adds to what may be lost. Another `history` than the run's own lets it begin
  /// again with the first row. With `takeOver` a process that has the lease and gives no sign of life is killed first,
  /// see ``Lease/takeOver(_:_:patience:)``.
  ///
  /// - Throws: ``BatchError`` with its effect: `refused` when there is no run, or when another store is under the
  ///   destination's name by now, `badCheckpoint` when its source was written to or replaced, and what a migration
  ///   throws.
  public func resume(
    _ path: String, memory: MemoryBudget? = nil, takeOver: Bool = false, rejects: RejectLimit? = nil,
    consent: LossConsent = LossConsent(), history: ExtrasOptions.History? = nil, mappings: [String] = [],
    heldBy: String? = nil, monitor makeMonitor: (RunMonitor.Interval) -> RunMonitor
  ) throws -> Report {
    try settled(path) {
      try resumed(
        path, memory: memory, takeOver: takeOver, rejects: rejects, consent: consent, history: history,
        mappings: mappings, heldBy: heldBy, makeMonitor: makeMonitor)
    }
  }

  /// The same, for callers that know themselves what is left.
  package func resumed(
    _ path: String, memory: MemoryBudget?, takeOver: Bool, rejects: RejectLimit?, consent: LossConsent,
    history: ExtrasOptions.History?, mappings: [String] = [], heldBy: String? = nil,
    makeMonitor: (RunMonitor.Interval) -> RunMonitor
  ) throws -> Report {
    guard let job = try JobRegistry(fileSystem).find(path), let lease = try lease(of: job, takeOver) else {
      throw noRun(path)
    }
    defer { lease.release() }
    let life = try RunLife.look(job, fileSystem, isOwn: true)
    if let refusal = try resumeRefusal(life, job, named: path) { throw refusal }
    let answer = life.answer(to: .resume)
    switch answer {
    case .goOn, .finish, .cutOverAgain: try job.refuseLinks(fileSystem)
    case .refuse, .begin, .finishFirst, .giveUp, .giveUpFirst, .look, .keep, .nothing, .wait:
      try job.remove(fileSystem, under: lease)
      throw noRun(path)
    }
    if answer == .finish {
      return try withinRun {
        try finish(job.current(fileSystem), lease: lease, monitor: makeMonitor(RunMonitor.standardInterval))
      }
    }
    do {
      var plan = try changed(JobPlan.read(job, fileSystem), job, memory: memory, rejects: rejects, heldBy: heldBy)
      try add(consent, to: &plan, job)
      try finishCorrection(of: plan, job: job.current(fileSystem), lease: lease)
      if !mappings.isEmpty { plan = try correct(plan, mappings: mappings, job: job.current(fileSystem), lease: lease) }
      if answer == .cutOverAgain { try takeBackCutOver(&plan, job.current(fileSystem)) }
      try fileSystem.remove(job.failure)
      return try withinRun {
        try goOn(plan, job: job, lease: lease, monitor: makeMonitor(plan.interval), consent: consent, history: history)
      }
    } catch {
      // What else goes wrong follows from that.
      try lease.throwIfReplaced()
      throw error
    }
  }

  /// Why a run that nobody works on is not resumed; nil if it is. ``resume`` and ``status(_:)`` ask the same.
  ///
  /// Whoever names what was made of an XML store wants to go on with that, whatever has become of the file.
  func resumeRefusal(_ life: RunLife, _ job: JobDirectory, named path: String) throws -> BatchError? {
    switch life.answer(to: .resume) {
    case .refuse(let way): return refusal(life, way: way, job: job, resumes: true)
    case .cutOverAgain where try !canCutOverAgain(job): return refusal(life, way: .restart, job: job, resumes: true)
    case .goOn:
      let plan = try JobPlan.read(job, fileSystem)
      return try otherOrigin(plan, job, named: path)
        ?? CutOver(fileSystem: fileSystem, job: job).takenOutput(
          plan, resume: command(["resume", job.destination], on: job))
    default: return nil
    }
  }

  /// A run that was over before it had a plan has nothing to continue with.
  private func canCutOverAgain(_ job: JobDirectory) throws -> Bool {
    try fileSystem.status(job.plan) != nil
      && CutOver(fileSystem: fileSystem, job: job.current(fileSystem)).hasNewStore()
  }

  private func withinRun<Result>(_ body: () throws -> Result) throws -> Result {
    do { return try body() } catch { throw BatchError(wrapping: error).withinRun }
  }

  private func noRun(_ path: String) -> BatchError {
    BatchError(
      .refused, "no interrupted migration of this store is known",
      hint:
        "Check the path: a run is found by its store, and by its output. One of a store of up to 64 MiB that was killed in its first second left nothing to resume, and migrate begins again: \(ProgramName.command("migrate", "--help")) says how",
      effect: .nothingWritten, next: [ProgramName.command("migrate", "--help").line], path: path)
  }

  /// Nil if the directory has gone: its run has ended.
  private func lease(of job: JobDirectory, _ takeOver: Bool) throws -> Lease? {
    guard takeOver else { return try Lease.takeIfThere(in: job, fileSystem) }
    do { return try Lease.takeOver(job, fileSystem) } catch {
      guard try job.exists(fileSystem) else { return nil }
      throw error
    }
  }

  private func changed(
    _ plan: JobPlan, _ job: JobDirectory, memory: MemoryBudget?, rejects: RejectLimit?, heldBy: String?
  ) throws -> JobPlan {
    var plan = plan
    plan.hold(by: heldBy)
    if let memory { plan.memory = memory.total }
    guard let rejects else { return plan }
    var rows: UInt64 = 0
    if case .percent = rejects.most { rows = try sourceRows(plan, job.current(fileSystem)) }
    let limit = RejectLimit(rejects.most, withValues: rejects.withValues || plan.rejects?.withValues == true)
    plan.rejects = RejectPlan(limit: limit.count(rows: rows), withValues: limit.withValues)
    // A run that is started over has it, too.
    plan.arguments = plan.arguments.map { ReplayCommand.arguments($0, with: limit) }
    return plan
  }

  /// The names of what may be lost have to be those of the run's versions. A store that is migrated by its tables is its
  /// own version, and has names that no model knows.
  private func add(_ consent: LossConsent, to plan: inout JobPlan, _ job: JobDirectory) throws {
    plan.add(consent)
    guard !consent.dropped.isEmpty, plan.fromTables != true else { return }
    do { try RequestNames(try plan.library(job), store: nil).check(consent) } catch var error as BatchError {
      // What there is of the run is as it was.
      error.effect = .resumable
      throw error
    }
  }

  /// Rows of a run's source, which are counted once more.
  private func sourceRows(_ plan: JobPlan, _ job: JobDirectory) throws -> UInt64 {
    let source = try SourceStore.opened(plan.source, fileSystem, locking: .shared, logs: logs)
    defer { source.close() }
    return try plan.planner(job, policies).plan(source, target: plan.target, countsRows: true, checksValues: false)
      .rows.reduce(0) { $0 + $1.rows }
  }

  /// The cut-over was for another file than the one that has the store's name now. The run continues before the
  /// cut-over, and looks at its source.
  private func takeBackCutOver(_ plan: inout JobPlan, _ job: JobDirectory) throws {
    _ = try CutOver(fileSystem: fileSystem, job: job).undo()
    // A backup of the first cut-over may have stayed, and keeps its name.
    let now = Date().timeIntervalSinceReferenceDate.rounded()
    plan.backupSuffix = try StoreBackup.freeSuffix(.replaced, of: job.destination, now: now, fileSystem: fileSystem)
    try plan.write(to: job, fileSystem)
    try fileSystem.remove(job.cutOver)
    try fileSystem.syncDirectory(job.path)
  }

  private func goOn(
    _ plan: JobPlan, job: JobDirectory, lease: Lease, monitor: RunMonitor, consent: LossConsent,
    history: ExtrasOptions.History?
  ) throws -> Report {
    lease.guardRun(monitor)
    let job = try workingDirectory(of: job, lease, monitor)
    var kept = try JobPlan.read(job, fileSystem)
    let before = kept
    kept.add(consent)
    // Kept for the next resume, too: without a limit what was rejected until then would be told by nobody. The memory
    // is for this one alone.
    (kept.rejects, kept.heldBy, kept.arguments) = (plan.rejects, plan.heldBy, plan.arguments)
    if kept != before { try kept.write(to: job, fileSystem) }
    var run = MigrationRun(
      job: job, lease: lease, plan: plan, fileSystem: fileSystem, policies: policies,
      monitor: monitor, logger: logger, logs: logs, stageHandler: stageHandler, metrics: metrics,
      smallStore: smallStore
    )
    if let history, history != plan.extras.history { try run.beginAgain(history) }
    return try run.run()
  }

  /// The job's directory as this process may write to it: not to files that an owner elsewhere has open.
  private func workingDirectory(of job: JobDirectory, _ lease: Lease, _ monitor: RunMonitor) throws -> JobDirectory {
    // Looked at again under the lease: another successor may have been here.
    var job = try job.current(fileSystem)
    if lease.isFromElsewhere { job = try job.succeeding(fileSystem) }
    try job.copyWorkingFiles(fileSystem, monitor)
    return job
  }
}
