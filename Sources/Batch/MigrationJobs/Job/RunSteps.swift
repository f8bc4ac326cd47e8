import CoreDataModel
import CoreDataStore
import Foundation
import Migrations
import RunSupport
import StoreVerification
import Streams

// The steps of a run, from the newest checkpoint on.
extension MigrationRun {
  /// What is left for rows beside the models of the path.
  func memory(_ steps: [MigrationStep]) -> MemoryBudget {
    MemoryBudget(total: plan.memory).less(steps.reduce(0) { $0 + $1.modelBytes })
  }

  private func storeName(_ index: Int) -> String { "step-\(index + 1).sqlite" }

  /// Runs the steps that are left; returns the last one's store.
  func runSteps(_ steps: [MigrationStep], source: StoreReader, log: JobLog) throws -> Finished {
    let store = CheckpointStore(directory: job.checkpoints, fileSystem: fileSystem)
    let found = planned == nil ? try store.newestValid(plan: planFingerprint, source: sourceFingerprint) : nil
    for rejected in found?.rejected ?? [] {
      try log.append("checkpoint \(rejected.path) cannot be used: \(rejected.reason)")
    }
    var position = try begin(at: found?.checkpoint, steps: steps.count)
    let publisher = publisher(store, last: found, log)
    var early: EarlyVerification?
    if found != nil { try log.append("resumed in step \(position.step + 1)") }
    let rejects = try rejectLog(position)
    try foresee(steps, source)
    while position.step < steps.count {
      let index = position.step
      let previous = position.previousStore.map { job.working($0) }
      let reader = try previous.map { try StoreReader(path: $0, fileSystem: fileSystem, locking: .none) } ?? source
      defer { if reader !== source { reader.close() } }
      monitor.update { ($0.step, $0.steps) = (index + 1, steps.count) }
      if position.state == nil { try tell(.willMigrate, steps[index], store: previous ?? plan.source) }
      let (state, rows, account, watcher) = try runStep(
        steps, position: position, reader: reader, source: source, publisher: publisher, rejects: rejects)
      early = watcher
      let name = state.workingPath(storeName(index))
      try tell(.didMigrate, steps[index], store: job.working(name))
      position = RunPosition(
        step: index + 1, previousStore: name, rows: rows, digests: state.digests,
        accounts: position.accounts + [account], rejects: rejects.map { _ in state.rejects })
      try publisher.publishEnd(position, isLast: position.step == steps.count)
      try removeFiles(upTo: index, keeping: name)
      try log.append("step \(index + 1) of \(steps.count) is written: \(account.summary)")
    }
    guard let name = position.previousStore else { throw BatchError(.failed, "the run has no step") }
    return Finished(
      path: job.working(name), rowsRead: monitor.progress.rows, tableRows: position.rows, digests: position.digests,
      accounts: position.accounts, early: early)
  }

  /// Where the run goes on. What later steps have left, and this one before its first checkpoint, is made again: it was
  /// made of a store that may become another one, as by a corrected mapping model.
  private func begin(at checkpoint: Checkpoint?, steps: Int) throws -> RunPosition {
    let position = try RunPosition(checkpoint, steps: steps)
    try removeWork(fromStep: position.step + (position.state == nil ? 1 : 2))
    return position
  }

  /// Removes what a step, counted from 1, and those behind it have written.
  func removeWork(fromStep first: Int) throws {
    let prefix = job.working("step-")
    for path in try fileSystem.list(job.path).map(job.file) where path.hasPrefix(prefix) {
      guard let step = Int(path.dropFirst(prefix.count).prefix { $0 != "." }), step >= first else { continue }
      try fileSystem.remove(path)
    }
  }

  private func publisher(_ store: CheckpointStore, last: FoundCheckpoint?, _ log: JobLog) -> RunPublisher {
    RunPublisher(
      store, in: job, fileSystem: fileSystem, under: lease, plan: plan, last: last,
      mayWait: { mayEndUnwritten && unwritten?.isOpen == true }
    ) { try unwritten?.writeDown(log) }
  }

  /// What of the whole run can be known before its first row: the steps say more as they begin.
  private func foresee(_ steps: [MigrationStep], _ source: StoreReader) throws {
    guard let last = steps.last else { return }
    let bytes = try fileSystem.status(plan.source)?.size ?? 0
    let layout = try StoreLayout(model: last.destination)
    let indexes = layout.joinTables.count + layout.indexes.count
    let proof = proofWork(bytes: bytes, isEarly: plan.indexBuilding == .engine && !isSmall(source))
    let later = try LaterSteps(steps, source: source).work()
    monitor.note { progress in
      progress.estimate = ProgressEstimate(steps: steps.count, shownBefore: progress.estimate.shownBefore)
      for (index, work) in later.enumerated() { progress.estimate.foresee(.rows(step: index + 2), work: work) }
      progress.estimate.foresee(.proof, work: proof)
      // As if rows had a hundred bytes, and every index half of them.
      progress.estimate.foresee(.indexes, work: Double(bytes) / 200 * Double(indexes) * WorkCost.indexEntry)
    }
  }

  private func runStep(
    _ steps: [MigrationStep], position: RunPosition, reader: StoreReader, source: StoreReader,
    publisher: RunPublisher,
    rejects: RejectLog?
  ) throws -> (state: StepState, rows: [String: UInt64], account: StepAccount, early: EarlyVerification?) {
    let index = position.step
    let directory = job.path
    let files = StepFiles(
      prefix: job.working("step-\(index + 1)"), fileSystem: fileSystem, budget: memory(steps),
      throwIfStopped: monitor.throwIfStopRequested)
    let stepPlan = try StepPlan(
      step: steps[index], reader: reader, policies: policies, files: files, now: plan.now,
      seed: plan.token ?? "", extras: plan.extras, validation: plan.validation ?? .all)
    let isLast = index + 1 == steps.count
    let building = isLast ? plan.indexBuilding : .engine
    var header = header(like: source.snapshot.header)
    let version = header.version
    if building == .sqlite { header.version = .rollback }
    let isSmall = isSmall(reader)
    // What is small is verified as fast at the end.
    let looksEarly = isLast && building == .engine && !isSmall
    let early = looksEarly ? try earlyVerification(stepPlan, header, memory: files.budget) : nil
    let job = StepJob(
      reader: reader, plan: stepPlan, number: index + 1, path: job.working(storeName(index)), files: files,
      header: header,
      metadata: metadata(of: steps[index], source),
      hasIndexes: isLast, indexBuilding: building, version: version, monitor: monitor,
      keepsDigests: isLast && plan.verification != .none, watcher: early, rejects: rejects,
      objectWatcher: ObjectExplainer(explains, in: stepPlan, number: index + 1, logger), sourceRows: position.rows,
      isSmall: isSmall, waitsForCheckpoint: { publisher.waits }, begin: publisher.waits ? publisher.begin : nil
    ) { state, builders in
      var writer = ByteWriter()
      state.encode(into: &writer)
      var next = position
      next.state = RunPosition.State(step: writer.bytes, builders: builders)
      if rejects != nil { next.rejects = state.rejects }
      // The names of files that the state refers to are durable before it is (I3).
      try fileSystem.syncDirectory(directory)
      try publisher.publish(next)
    }
    let state = try StepRunner(job, restart: try position.restart(plan: stepPlan)).run()
    let rows = Dictionary(zip(stepPlan.tableNames, state.tableRows), uniquingKeysWith: { first, _ in first })
    return (state, rows, try StepAccount(state, stepPlan), early)
  }

  private func metadata(of step: MigrationStep, _ source: StoreReader) -> StoreMetadata {
    let target = step.destination
    return step.isIdentity
      ? source.metadata : source.metadata.migrated(to: target.versionHashes, identifiers: target.versionIdentifiers)
  }

  /// Verifies what is written at once, if that is used in the end: a full verification looks at the finished file alone.
  private func earlyVerification(_ step: StepPlan, _ header: DatabaseHeader, memory: MemoryBudget) throws
    -> EarlyVerification?
  {
    guard plan.verification == .fast || plan.verification == .sqlite else { return nil }
    let shape = job.working("shape.sqlite")
    try StoreShape.write(step, header: header, to: shape, fileSystem)
    defer { try? fileSystem.remove(shape) }
    return try EarlyVerification(
      shape: shape, layout: step.layout, fileSystem: fileSystem, memory: memory)
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
    let keptPath = job.working(kept)
    for path in try fileSystem.list(job.path).map(job.file) where path != keptPath {
      // The store that the step read stays until the next step is done: the checkpoint before this one still needs it.
      let isInput = path.hasPrefix(job.working("step-\(index).sqlite"))
      let isDone = (0...index + 1).contains { path.hasPrefix(job.working("step-\($0).")) }
      if isDone, !isInput { try fileSystem.remove(path) }
    }
  }
}
