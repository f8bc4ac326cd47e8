import CoreDataModel
import CoreDataStore
import CoreMetrics
import Foundation
import Logging
import MappingModels
import Migrations
import RunSupport
import StoreVerification
import Streams

/// A run with its lease taken: continues from the newest checkpoint and ends with the cut-over. Keeps I1.
struct MigrationRun {
  let job: JobDirectory
  let lease: Lease
  var plan: JobPlan
  let fileSystem: any FileSystem
  let policies: PolicyRegistry
  let monitor: RunMonitor
  let logger: Logger
  let logs: LogMemory
  let stageHandler: StageHandler?
  let metrics: any MetricsFactory
  var explains: [ExplainedObjects] = []
  /// The steps of a run that begins, as they were planned just now; nil for one that is resumed.
  var planned: [MigrationStep]?
  /// Its source, open under the exclusive lock and seen to be the planned one; nil for a run that is resumed.
  var seen: StoreReader?
  /// Writes a run that begins down; nil for one that is resumed.
  var unwritten: UnwrittenRun?
  var smallStore = MigrationJob.smallStore
  /// Whether it begins without a plan on the disk.
  var mayEndUnwritten = false

  var planFingerprint: [UInt8] { PlanFingerprint.bytes(plan.planFingerprint) }
  var sourceFingerprint: [UInt8] { PlanFingerprint.bytes(plan.sourceFingerprint) }

  func run() throws -> MigrationJob.Report {
    let recorder = RunRecorder(job, plan: plan, isNew: planned != nil, logger: logger)
    do {
      var report = try run(recorder)
      report.notes += recorder.notes
      return report
    } catch {
      // Behind the removal of the directory, or a successor, nothing is written down.
      if !lease.mayBeReplaced {
        keep(after: error)
        recorder.end(error, monitor.progressNow)
      }
      throw error
    }
  }

  private func run(_ recorder: RunRecorder) throws -> MigrationJob.Report {
    let log = try JobLog(job, fileSystem, logger: logger)
    defer { log.close() }
    if !mayEndUnwritten { try unwritten?.writeDown(log) }
    let pulse = RunPulse(
      job, monitor: monitor, recorder: recorder, metrics: RunMetrics(store: plan.destination, factory: metrics)
    ) { _ = try? unwritten?.writeDown(log) }
    defer { pulse.end() }
    // First of all: an in-place cut-over that was interrupted has changed the source already.
    if let finished = try CutOver(fileSystem: fileSystem, job: job).resume() {
      try? monitor.hooks.reached(.afterCutOver)
      return try end(finished, pulse: pulse, recorder: recorder, rowsRead: 0, verified: nil, accounts: [])
    }
    if planned != nil {
      try log.append("started: \(plan.sourceVersion) to \(plan.targetVersion), \(plan.steps.counted("step"))")
    }
    let source = try seen ?? openSource()
    defer { source.close() }
    if planned != nil { try reach(.planned) }
    if seen == nil { try checkSource(source) }
    let steps = try steps(source)
    recorder.describe(steps, source, fingerprint: plan.sourceFingerprint)
    // Something may have come to the output's name since the run began: hours later would be late to say so.
    if let taken = try CutOver(fileSystem: fileSystem, job: job).takenOutput(plan) { throw taken }
    let (result, verified) = try noting {
      let result = try runSteps(steps, source: source, log: log)
      try takeExternalData(result)
      try reach(.copied)
      return (result, try verify(result, steps: steps, source: source))
    }
    if verified != nil { try reach(.proved) }
    try settle(result.accounts)
    try holdCutOver(log)
    // Once more at the end: a source that could only be locked for reading may have changed under the run. In place the
    // cut-over asks for it.
    if !plan.isInPlace { try recheckSource() }
    // The cut-over takes the source's lock itself.
    source.close()
    let finished = try cutOver(result, source: source, isVerified: verified != nil, log: log)
    try? monitor.hooks.reached(.afterCutOver)
    return try end(
      finished, pulse: pulse, recorder: recorder, rowsRead: result.rowsRead, verified: verified,
      accounts: result.accounts, model: steps.last?.destination)
  }

  /// Judges by what was counted what the plan could not know before the first row.
  private func settle(_ accounts: [StepAccount]) throws {
    let findings = LossJudge(consent: plan.consent ?? LossConsent()).findings(accounts)
    guard !findings.isEmpty else { return }
    let resume = ProgramName.command(["resume", plan.destination] + LossJudge.options(findings))
    let giveUp = ProgramName.command("clean", "--all", plan.destination)
    throw BatchError(
      .refused, LossJudge.text(findings),
      hint: "The store is as it was. Give them up with \(resume), or end the run with \(giveUp)",
      next: [resume.line, giveUp.line], path: plan.source)
  }

  /// What the journal says of the run when the plan is gone.
  func facts(_ source: StoreReader) -> RunFacts {
    RunFacts(
      sourceVersion: plan.sourceVersion, targetVersion: plan.targetVersion,
      sourceHashes: StoreMark(source.metadata).hashes,
      steps: plan.steps, isVerified: plan.verification != .none,
      rejects: plan.rejects.map { _ in FilePaths.name(of: finalRejectPath) }, arguments: plan.arguments,
      source: plan.isInPlace ? nil : plan.source, keepsBackups: plan.keepsBackups)
  }

  /// The steps, as they were planned just now or are planned again.
  private func steps(_ source: StoreReader) throws -> [MigrationStep] {
    let steps = try planned ?? planAgain(source)
    // A hundred versions take more memory than a run; only of many small stores the next one asks for them again.
    if !isSmall(source) { ModelLibrary.forgetKnown() }
    return steps
  }

  /// The steps, by the run's copies of models and mapping models.
  func planAgain(_ source: StoreReader) throws -> [MigrationStep] {
    let steps = try plan.planner(job, policies).plan(
      source, target: plan.target, countsRows: false, checksValues: false
    ).steps
    try checkPlan(steps)
    return steps
  }

  /// Takes values outside the store along to a destination elsewhere: into the job directory, beside the new store,
  /// before the proof, which looks at them. They get their place with the store.
  private func takeExternalData(_ result: Finished) throws {
    guard !plan.isInPlace else { return }
    try ExternalDataCopy(fileSystem: fileSystem, monitor: monitor).take(from: plan.source, to: result.path, isOwn: true)
  }

  func openSource() throws -> StoreReader {
    func open(_ locking: DatabaseSnapshot.Locking) throws -> StoreReader {
      try SourceStore.opened(plan.source, fileSystem, locking: locking, copyFolder: job.recovered, logs: logs)
    }
    do {
      return try Patience.whileLocked(plan.source) { try open(.exclusive) }
    } catch let error as StreamsError where error.code == .locked && job.generation > 1 {
      // An owner elsewhere that was replaced may have the lock as long as it is stopped. It is only read; and at the
      // end it is looked at again, as a source is that could only be locked for reading.
      return try open(.none)
    }
  }

  private func end(
    _ finished: CutOverResult, pulse: RunPulse, recorder: RunRecorder, rowsRead: UInt64,
    verified: VerificationReport?,
    accounts: [StepAccount], model: ManagedObjectModel? = nil
  ) throws -> MigrationJob.Report {
    try job.whenOver(fileSystem) {
      try tidy(
        finished, pulse: pulse, recorder: recorder, rowsRead: rowsRead, verified: verified, accounts: accounts,
        model: model)
    }
  }

  private func tidy(
    _ finished: CutOverResult, pulse: RunPulse, recorder: RunRecorder, rowsRead: UInt64,
    verified: VerificationReport?,
    accounts: [StepAccount], model: ManagedObjectModel?
  ) throws -> MigrationJob.Report {
    try lease.throwIfReplaced()
    let cutOver = CutOver(fileSystem: fileSystem, job: job)
    let journal = try cutOver.journal()
    let result = try cutOver.result(journal)
    guard result.isThere else { return try endReplaced(result, backup: finished.backup, pulse: pulse) }
    var removed: [String] = []
    if plan.isInPlace, let limit = plan.keepsBackups {
      removed = try StoreBackup.remove(beyond: limit, of: plan.destination, latest: finished.backup, fileSystem)
    }
    var report = MigrationJob.Report(
      destination: finished.destination,
      backup: try finished.backup.flatMap { try fileSystem.statusOfName($0) != nil ? $0 : nil },
      removedBackups: removed,
      sourceVersion: plan.sourceVersion, targetVersion: plan.targetVersion, steps: plan.steps, rowsRead: rowsRead,
      rows: Dictionary((verified?.entities ?? []).map { ($0.name, $0.rows) }, uniquingKeysWith: { first, _ in first }),
      externalData: verified?.external, isVerified: plan.verification != .none,
      bytes: try fileSystem.status(finished.destination)?.size ?? 0,
      notes: plan.notes + proofNotes(verified) + accounts.flatMap(\.notes) + result.notes,
      accounts: accounts, rejects: try takeRejects())
    report.replay = report.rejects?.replay(source: plan.source, backup: report.backup, destination: plan.destination)
    report.peakMemory = report.peakMemory.map { max($0, recorder.mostMemory) }
    pulse.end()
    recorder.finish(finish(report, verified: verified, model: model), wholeProgress)
    try job.remove(fileSystem, under: lease)
    // Only now: a kill in between leaves an entry that leads nowhere and counts as none, not a job that nobody finds.
    JobRegistry(fileSystem).forget(source: plan.namedSource, job: job)
    monitor.update { $0.estimate.finish(at: $0.seconds) }
    // Last of all: nothing kept anybody from the store meanwhile.
    try cutOver.result(journal).throwIfReplaced(fileSystem)
    return report
  }

  private var wholeProgress: MigrationProgress {
    var progress = monitor.progressNow
    progress.fraction = 1
    return progress
  }

  /// Another store has the destination's name by now: the run is over, and nothing is claimed of it.
  private func endReplaced(_ result: RunResult, backup: String?, pulse: RunPulse) throws -> MigrationJob.Report {
    _ = try takeRejects()
    // What is written to the directory while it is emptied would stay, and the directory with it.
    pulse.end()
    try job.remove(fileSystem, under: lease)
    JobRegistry(fileSystem).forget(source: plan.namedSource, job: job)
    return try result.report(backup, fileSystem)
  }

  /// What stays of the run when its directory goes.
  private func finish(
    _ report: MigrationJob.Report, verified: VerificationReport?, model: ManagedObjectModel?
  ) -> RunHistory.Finished {
    var entities: [RunHistory.Size] = []
    let reader = try? StoreReader(path: report.destination, fileSystem: fileSystem, locking: .none)
    defer { reader?.close() }
    // The receipt of the backup says what the store was when it got its name.
    let receipt = report.backup.flatMap { try? BackupReceipt.read(for: $0, fileSystem) }
    if let model, let reader {
      entities = RunHistory.Size.all(reader, model: model)
      for index in entities.indices {
        guard let rows = report.rows[entities[index].entity] else { continue }
        (entities[index].rows, entities[index].isEstimate) = (rows, false)
      }
    }
    return RunHistory.Finished(
      backup: report.backup, bytes: report.bytes, peakMemory: report.peakMemory, entities: entities,
      tallies: report.accounts.map(RunHistory.Tally.init),
      read: RunHistory.Tally.read(report.accounts.first),
      proof: RunHistory.Proof(verified, mode: plan.verification, isCompared: plan.hasOwnDigests),
      rejects: report.rejects, notes: report.notes.prefix(200).map { String($0.prefix(1000)) },
      result: receipt?.new
        ?? reader.flatMap { try? StoreState(report.destination, snapshot: $0.snapshot, fileSystem: fileSystem) },
      identity: reader.map { StoreIdentity($0.metadata) })
  }
}
