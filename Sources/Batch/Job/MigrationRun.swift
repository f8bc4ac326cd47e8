import Foundation
import Logging
import Streams

/// A run with its lease taken: goes on from the newest checkpoint and ends with the cut-over.
struct MigrationRun {
  let job: JobDirectory
  let plan: JobPlan
  let fileSystem: any FileSystem
  let policies: PolicyRegistry
  let monitor: RunMonitor
  let logger: Logger
  let logs: LogMemory
  let stageHandler: StageHandler?

  private var planFingerprint: [UInt8] { PlanFingerprint.bytes(plan.planFingerprint) }
  private var sourceFingerprint: [UInt8] { PlanFingerprint.bytes(plan.sourceFingerprint) }

  func run() throws -> MigrationJob.Report {
    let log = try JobLog(job, fileSystem, logger: logger)
    defer { log.close() }
    let cutOver = CutOver(fileSystem: fileSystem, job: job)
    // First of all: an in-place cut-over that was interrupted has changed the source already.
    if let finished = try cutOver.resume() { return try end(finished, rowsRead: 0, verified: nil, accounts: []) }
    let library = try ModelLibrary(paths: plan.models.map { job.file($0) })
    let mappings = try plan.mappings.flatMap { try MappingModelReader.read(path: job.file($0)) }
    let source = try SourceStore.open(plan.source, fileSystem, locking: .exclusive, copyFolder: job.recovered, logs: logs)
    defer { source.close() }
    try checkSource(source)
    let steps = try MigrationPlanner(
      library: library, mappings: mappings, policies: policies, order: plan.order, fuses: plan.fuses,
      parts: plan.parts ?? PartSelection()
    ).plan(source, target: plan.target, countsRows: false, checksValues: false).steps
    try checkPlan(steps)
    let result = try runSteps(steps, source, log)
    // Once more at the end: a source that could only be locked for reading may have changed under the run.
    try recheckSource()
    let (finished, verified) = try withExternalData(cutOver) {
      let verified = try verify(result, steps, source)
      // The cut-over takes the source's lock itself.
      source.close()
      try log.append(verified == nil ? "not verified; beginning the cut-over" : "verified; beginning the cut-over")
      try log.sync()
      let finished = try cutOver.run(
        newStore: result.path, destination: plan.destination, inPlace: plan.isInPlace, backupSuffix: plan.backupSuffix
      ) { try recheckSource() }
      return (finished, verified)
    }
    return try end(finished, rowsRead: result.rowsRead, verified: verified, accounts: result.accounts)
  }

  /// Takes values outside the store to a destination elsewhere: before the proof, which looks at them, and before the store gets its
  /// name, so that nobody sees it without them.
  private func withExternalData<Result>(_ cutOver: CutOver, _ body: () throws -> Result) throws -> Result {
    guard !plan.isInPlace else { return try body() }
    do {
      try ExternalDataCopy(fileSystem: fileSystem, monitor: monitor).take(from: plan.source, to: plan.destination)
      return try body()
    } catch {
      // What belongs to no store yet does not stay, but for a run that was only stopped. Also on a full disk, where it matters
      // most; the error is the first one's.
      if (error as? BatchError)?.code != .stopped, (try? cutOver.isPending()) == false {
        try? ExternalDataCopy(fileSystem: fileSystem).remove(from: plan.destination)
      }
      throw error
    }
  }

  private func recheckSource() throws {
    let again = try SourceStore.open(plan.source, fileSystem, locking: .none, copyFolder: job.recoveredAgain, logs: logs)
    defer { again.close() }
    try checkSource(again)
  }

  private func checkSource(_ source: StoreReader) throws {
    let found = PlanFingerprint.hex(try SourceFingerprint.of(source.snapshot))
    guard found == plan.sourceFingerprint else {
      throw BatchError(
        .badCheckpoint, "the source changed since the run began: it was \(plan.sourceFingerprint), now it is \(found)",
        hint: "Remove \(job.path) and start again; the source is untouched", path: plan.source)
    }
    guard let modified = try fileSystem.status(plan.source)?.modified, plan.isSourceTime(modified) else {
      throw BatchError(
        .badCheckpoint, "the source changed since the run began: its fingerprint is the same, its time of change is not",
        hint: "A copy has to keep that time (cp -p). Otherwise remove \(job.path) and start again; the source is untouched",
        path: plan.source)
    }
  }

  private func checkPlan(_ steps: [MigrationStep]) throws {
    let found = PlanFingerprint.hex(
      try PlanFingerprint.of(
        steps: steps, extras: plan.extras, indexes: plan.indexBuilding, policies: policies, now: plan.now))
    guard found == plan.planFingerprint else {
      throw BatchError(
        .badCheckpoint, "the plan changed since the run began: it was \(plan.planFingerprint), now it is \(found)",
        hint: "Resume with the program and policies that began the run, or remove \(job.path) and start again", path: job.plan)
    }
  }

  private func stepPath(_ index: Int) -> String { job.file("step-\(index + 1).sqlite") }

  /// Runs the steps that are left; returns the last one's store.
  private func runSteps(_ steps: [MigrationStep], _ source: StoreReader, _ log: JobLog) throws -> Finished {
    let store = CheckpointStore(directory: job.checkpoints, fileSystem: fileSystem)
    let found = try store.newestValid(plan: planFingerprint, source: sourceFingerprint)
    for rejected in found?.rejected ?? [] { try log.append("checkpoint \(rejected.path) cannot be used: \(rejected.reason)") }
    var position = try RunPosition(found?.checkpoint, steps: steps.count)
    let publisher = RunPublisher(store: store, plan: planFingerprint, source: sourceFingerprint, last: found?.checkpoint.sequence)
    if found != nil { try log.append("resumed in step \(position.step + 1)") }
    while position.step < steps.count {
      let index = position.step
      let previous = position.previousStore.map { job.file($0) }
      let reader = try previous.map { try StoreReader(path: $0, fileSystem: fileSystem, locking: .none) } ?? source
      defer { if reader !== source { reader.close() } }
      monitor.update { ($0.step, $0.steps) = (index + 1, steps.count) }
      if position.state == nil { try tell(.willMigrate, steps[index], store: previous ?? plan.source) }
      let (state, rows, account) = try runStep(steps, position, reader, source, publisher)
      let name = FilePaths.name(of: StepRunner.workingPath(stepPath(index), state))
      try tell(.didMigrate, steps[index], store: job.file(name))
      position = RunPosition(
        step: index + 1, previousStore: name, rows: rows, digests: state.digests,
        accounts: position.accounts + [account])
      try publisher.publish(position)
      try removeFiles(upTo: index, keeping: name)
      try log.append("step \(index + 1) of \(steps.count) is written: \(account.summary)")
    }
    guard let name = position.previousStore else { throw BatchError(.failed, "the run has no step") }
    return Finished(
      path: job.file(name), rowsRead: monitor.progress.rows, tableRows: position.rows, digests: position.digests,
      accounts: position.accounts)
  }

  private func runStep(
    _ steps: [MigrationStep], _ position: RunPosition, _ reader: StoreReader, _ source: StoreReader, _ publisher: RunPublisher
  ) throws -> (state: StepState, rows: [String: UInt64], account: StepAccount) {
    let index = position.step
    let directory = job.path
    let files = StepFiles(
      prefix: job.file("step-\(index + 1)"), fileSystem: fileSystem, budget: MemoryBudget(total: plan.memory))
    let stepPlan = try StepPlan(
      step: steps[index], reader: reader, policies: policies, files: files, now: plan.now, extras: plan.extras)
    let target = steps[index].destination
    let metadata =
      steps[index].isIdentity
      ? source.metadata : source.metadata.migrated(to: target.versionHashes, identifiers: target.versionIdentifiers)
    let isLast = index + 1 == steps.count
    let building = isLast ? plan.indexBuilding : .engine
    var header = header(like: source.snapshot.header)
    let version = header.version
    if building == .sqlite { header.version = .rollback }
    let job = StepRunner.Job(
      reader: reader, plan: stepPlan, path: stepPath(index), files: files, header: header, metadata: metadata,
      hasIndexes: isLast, indexBuilding: building, version: version, monitor: monitor,
      keepsDigests: isLast && plan.verification != .none, sourceRows: position.rows
    ) { state, builders in
      var writer = ByteWriter()
      state.encode(into: &writer)
      var next = position
      next.state = RunPosition.State(step: writer.bytes, builders: builders)
      // The names of files that the state refers to are durable before it is (I3).
      try fileSystem.syncDirectory(directory)
      try publisher.publish(next)
    }
    let state = try StepRunner(job, restart: try position.restart(plan: stepPlan)).run()
    let rows = Dictionary(zip(stepPlan.tableNames, state.tableRows), uniquingKeysWith: { first, _ in first })
    return (state, rows, StepAccount(state, stepPlan))
  }

  /// The new store has the source's page size, vacuum mode and journal mode.
  private func header(like source: DatabaseHeader) -> DatabaseHeader {
    var header = DatabaseHeader(
      pageSize: source.pageSize, autoVacuum: source.autoVacuum, version: source.version)
    header.userVersion = source.userVersion
    header.applicationID = source.applicationID
    return header
  }

  /// Removes what finished steps no longer need: their scratch files, and the stores that they read.
  private func removeFiles(upTo index: Int, keeping kept: String) throws {
    for name in try fileSystem.list(job.path) where name != kept {
      // The store that the step read stays until the next step is done: the checkpoint before this one still needs it.
      let isInput = name.hasPrefix("step-\(index).sqlite")
      let isDone = (0...index + 1).contains { name.hasPrefix("step-\($0).") }
      if isDone, !isInput { try fileSystem.remove(job.file(name)) }
    }
  }

  /// What the last step left.
  private struct Finished {
    var path: String
    var rowsRead: UInt64
    var tableRows: [String: UInt64]
    var digests: [String: ProofDigest]
    var accounts: [StepAccount]
    var notes: [String] { accounts.flatMap(\.notes) }
  }

  /// Proves the finished store as the run was asked to; nil for not at all.
  private func verify(_ result: Finished, _ steps: [MigrationStep], _ source: StoreReader) throws -> VerificationReport? {
    guard plan.verification != .none, let model = steps.last?.destination else { return nil }
    monitor.update { progress in
      progress.begin("verification")
      progress.fraction = 0.95
    }
    let expectation = StoreVerifier.Expectation(
      uuid: source.metadata.uuid, rows: result.tableRows,
      otherTables: Set(source.schema.rows.filter { $0.type == "table" }.map(\.name)),
      hasModelNames: plan.target != .identity, digests: result.digests, isDense: plan.indexBuilding == .engine)
    let report = try StoreVerifier(path: result.path, model: model, fileSystem: fileSystem)
      .verify(
        expectation, mode: plan.verification, memory: MemoryBudget(total: plan.memory), monitor: monitor,
        external: ExternalDataPlaces(store: plan.destination, source: plan.source)
      ) { fraction, what in
        monitor.update { ($0.activity, $0.fraction) = ("verification: \(what)", 0.95 + 0.05 * fraction) }
      }
    do {
      try report.throwIfViolated(accepting: try accepted(report, steps, source))
    } catch var error as BatchError {
      if report.violations.contains(where: { $0.kind == .dangling }), !result.notes.isEmpty {
        let left = result.notes.joined(separator: "; ")
        error.hint = "Objects that were left out are still referred to (\(left)): clear those keys in the policy"
      }
      throw error
    }
    return report
  }

  /// Keys that led nowhere in the source already stay in an inferred migration; they must not have become more.
  private func accepted(
    _ report: VerificationReport, _ steps: [MigrationStep], _ source: StoreReader
  ) throws -> Set<Violation.Kind> {
    let dangling = report.violations.filter { $0.kind == .dangling }
    guard let first = steps.first, !dangling.isEmpty, steps.allSatisfy(\.isInferred) else { return [] }
    let binding = try StoreBinding(
      layout: StoreLayout(model: first.source, purpose: .reading), schema: source.schema, modelName: first.source.name,
      path: source.path)
    let before = try DanglingKeys(reader: source, binding: binding).count()
    return dangling.reduce(0) { $0 + $1.count } <= before ? [.dangling] : []
  }

  private func end(_ finished: CutOverResult, rowsRead: UInt64, verified: VerificationReport?, accounts: [StepAccount]) throws
    -> MigrationJob.Report
  {
    if plan.isInPlace, let limit = plan.keepsBackups {
      try StoreBackup.remove(beyond: limit, of: plan.destination, fileSystem)
    }
    let backup = try finished.backup.flatMap { try fileSystem.statusOfName($0) != nil ? $0 : nil }
    try job.remove(fileSystem)
    // Only now: a kill in between leaves an entry that leads nowhere and counts as none, not a job that nobody finds.
    JobRegistry(fileSystem).forget(source: plan.source)
    monitor.update { $0.fraction = 1 }
    return MigrationJob.Report(
      destination: finished.destination, backup: backup, sourceVersion: plan.sourceVersion,
      targetVersion: plan.targetVersion,
      steps: plan.steps,
      rowsRead: rowsRead,
      rows: Dictionary((verified?.entities ?? []).map { ($0.name, $0.rows) }, uniquingKeysWith: { first, _ in first }),
      externalData: verified?.external, isVerified: plan.verification != .none,
      bytes: try fileSystem.status(finished.destination)?.size ?? 0, notes: plan.notes + accounts.flatMap(\.notes),
      accounts: accounts)
  }
}
