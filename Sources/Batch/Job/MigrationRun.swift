import Foundation
import Streams

/// A run with its lease taken: goes on from the newest checkpoint and ends with the cut-over.
struct MigrationRun {
  let job: JobDirectory
  let plan: JobPlan
  let fileSystem: any FileSystem
  let policies: PolicyRegistry
  let monitor: RunMonitor

  private var planFingerprint: [UInt8] { PlanFingerprint.bytes(plan.planFingerprint) }
  private var sourceFingerprint: [UInt8] { PlanFingerprint.bytes(plan.sourceFingerprint) }

  func run() throws -> MigrationJob.Report {
    let log = try JobLog(job, fileSystem)
    defer { log.close() }
    let cutOver = CutOver(fileSystem: fileSystem, job: job)
    // First of all: an in-place cut-over that was interrupted has changed the source already.
    if let finished = try cutOver.resume() { return try end(finished, rowsRead: 0, verified: nil) }
    let library = try ModelLibrary(paths: plan.models.map { job.file($0) })
    let mappings = try plan.mappings.flatMap { try MappingModelReader.read(path: job.file($0)) }
    let source = try SourceStore.open(plan.source, fileSystem, recoveringIn: job.path, locking: .exclusive)
    let uuid = source.metadata.uuid
    let steps: [MigrationStep]
    let result: Finished
    do {
      defer { source.close() }
      try checkSource(source)
      steps = try MigrationPlanner(library: library, mappings: mappings, policies: policies)
        .plan(source, target: plan.target).steps
      try checkPlan(steps)
      result = try runSteps(steps, source, log)
    }
    let verified = try verify(result, steps, uuid: uuid)
    try log.append("verified; beginning the cut-over")
    try log.sync()
    let finished = try cutOver.run(
      newStore: result.path, destination: plan.destination, inPlace: plan.isInPlace, backupSuffix: plan.backupSuffix
    ) {
      let again = try SourceStore.open(plan.source, fileSystem, recoveringIn: nil, locking: .shared)
      defer { again.close() }
      try checkSource(again)
    }
    return try end(finished, rowsRead: result.rowsRead, verified: verified)
  }

  private func checkSource(_ source: StoreReader) throws {
    let found = PlanFingerprint.hex(try SourceFingerprint.of(source.snapshot))
    guard found == plan.sourceFingerprint else {
      throw BatchError(
        .badCheckpoint, "the source changed since the run began: it was \(plan.sourceFingerprint), now it is \(found)",
        hint: "Remove \(job.path) and start again; the source is untouched", path: plan.source)
    }
  }

  private func checkPlan(_ steps: [MigrationStep]) throws {
    let found = PlanFingerprint.hex(try PlanFingerprint.of(steps: steps, policies: policies, now: plan.now))
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
    var rows: UInt64 = 0
    while position.step < steps.count {
      let index = position.step
      let previous = position.previousStore.map { job.file($0) }
      let reader = try previous.map { try StoreReader(path: $0, fileSystem: fileSystem, locking: .none) } ?? source
      defer { if reader !== source { reader.close() } }
      monitor.update { ($0.step, $0.steps) = (index + 1, steps.count) }
      let state = try runStep(steps, position, reader, source, publisher)
      rows += state.rowsRead
      let name = FilePaths.name(of: StepRunner.workingPath(stepPath(index), state))
      position = RunPosition(step: index + 1, previousStore: name, rows: state.tableRows)
      try publisher.publish(position)
      try removeFiles(upTo: index, keeping: name)
      try log.append("step \(index + 1) of \(steps.count) is written: \(steps[index].source.name) to \(steps[index].destination.name)")
    }
    guard let name = position.previousStore else { throw BatchError(.failed, "the run has no step") }
    return Finished(path: job.file(name), rowsRead: rows, tableRows: position.rows)
  }

  private func runStep(
    _ steps: [MigrationStep], _ position: RunPosition, _ reader: StoreReader, _ source: StoreReader, _ publisher: RunPublisher
  ) throws -> StepState {
    let index = position.step
    let files = StepFiles(
      prefix: job.file("step-\(index + 1)"), fileSystem: fileSystem, budget: MemoryBudget(total: plan.memory))
    let stepPlan = try StepPlan(step: steps[index], reader: reader, policies: policies, files: files, now: plan.now)
    let target = steps[index].destination
    let metadata = source.metadata.migrated(to: target.versionHashes, identifiers: target.versionIdentifiers)
    let job = StepRunner.Job(
      reader: reader, plan: stepPlan, path: stepPath(index), files: files, header: header(like: source.snapshot.header),
      metadata: metadata, hasIndexes: index + 1 == steps.count, monitor: monitor
    ) { state, builders in
      var writer = ByteWriter()
      state.encode(into: &writer)
      var next = position
      next.state = RunPosition.State(step: writer.bytes, builders: builders)
      try publisher.publish(next)
    }
    return try StepRunner(job, restart: try position.restart(plan: stepPlan)).run()
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
      if (0...index + 1).contains(where: { name.hasPrefix("step-\($0).") }) { try fileSystem.remove(job.file(name)) }
    }
  }

  /// What the last step left.
  private struct Finished {
    var path: String
    var rowsRead: UInt64
    var tableRows: [UInt64]
  }

  /// Proves the finished store through SQLite alone. Nil when the run was asked not to.
  private func verify(_ result: Finished, _ steps: [MigrationStep], uuid: String) throws -> VerificationReport? {
    guard plan.verifies, let model = steps.last?.destination else { return nil }
    monitor.update { ($0.activity, $0.fraction) = ("verification", 0.95) }
    let layout = try StoreLayout(model: model)
    let names = layout.entityTables.map(\.name) + layout.joinTables.map(\.name)
    let expected = Dictionary(zip(names, result.tableRows), uniquingKeysWith: { first, _ in first })
    let report = try StoreVerifier(path: result.path, model: model, fileSystem: fileSystem)
      .verify(expectedRows: expected, expectedUUID: uuid) { fraction, what in
        monitor.update { ($0.activity, $0.fraction) = ("verification: \(what)", 0.95 + 0.05 * fraction) }
      }
    try report.throwIfViolated()
    return report
  }

  private func end(_ finished: CutOverResult, rowsRead: UInt64, verified: VerificationReport?) throws -> MigrationJob.Report {
    try job.remove(fileSystem)
    // Only now: a kill in between leaves an entry that leads nowhere and counts as none, not a job that nobody finds.
    JobRegistry(fileSystem).forget(source: plan.source)
    monitor.update { $0.fraction = 1 }
    return MigrationJob.Report(
      destination: finished.destination, backup: finished.backup, sourceVersion: "", targetVersion: plan.target, steps: 1,
      rowsRead: rowsRead, rows: Dictionary((verified?.entities ?? []).map { ($0.name, $0.rows) }, uniquingKeysWith: { first, _ in first }),
      isVerified: plan.verifies,
      bytes: try fileSystem.status(finished.destination)?.size ?? 0)
  }
}

/// Makes positions of a run durable, one checkpoint after the other.
private final class RunPublisher: @unchecked Sendable {
  // Sendable by discipline: the migrating thread publishes while no pipeline runs, the writing thread while one does.
  private let store: CheckpointStore
  private let plan: [UInt8]
  private let source: [UInt8]
  private var last: UInt64

  init(store: CheckpointStore, plan: [UInt8], source: [UInt8], last: UInt64?) {
    (self.store, self.plan, self.source, self.last) = (store, plan, source, last ?? 0)
  }

  func publish(_ position: RunPosition) throws {
    last += 1
    try store.publish(
      Checkpoint(sequence: last, planFingerprint: plan, sourceFingerprint: source, sections: position.sections))
  }
}

/// Where a run goes on: the step, the store that it reads, and the state within it.
struct RunPosition: Equatable {
  /// A step's own state and the open pages of its builders.
  struct State: Equatable {
    var step: [UInt8]
    var builders: [UInt8]
  }

  /// The step at work, from 0; the number of steps when all are done.
  var step: Int
  /// The name in the job directory of the store that the step before left; nil for the source.
  var previousStore: String?
  /// Rows of that store's tables: entity tables, then join tables.
  var rows: [UInt64] = []
  /// Nil at the beginning of a step.
  var state: State?

  init(step: Int, previousStore: String?, rows: [UInt64]) {
    self.step = step
    self.previousStore = previousStore
    self.rows = rows
  }

  /// The beginning of a run, or what a checkpoint tells.
  init(_ checkpoint: Checkpoint?, steps: Int) throws {
    step = 0
    guard let checkpoint else { return }
    guard var position = checkpoint.reader(of: "position") else {
      throw StreamsError(.damagedCheckpoint, "the checkpoint does not say where the run stands")
    }
    step = try position.readInt()
    previousStore = try position.readOptional { try $0.readString(cap: 255) }
    rows = try position.readArray(elementSize: 8) { try $0.readUInt64() }
    guard step >= 0, step <= steps, previousStore?.contains("/") != true else { throw position.damaged("the step") }
    if let state = checkpoint.sections["state"], let builders = checkpoint.sections["builders"] {
      self.state = State(step: state, builders: builders)
    }
  }

  /// The sections of a checkpoint.
  var sections: [String: [UInt8]] {
    var writer = ByteWriter()
    writer.writeInt(step)
    writer.writeOptional(previousStore) { $0.writeString($1) }
    writer.writeArray(rows) { $0.writeUInt64($1) }
    var sections = ["position": writer.bytes]
    if let state { (sections["state"], sections["builders"]) = (state.step, state.builders) }
    return sections
  }

  func restart(plan: StepPlan) throws -> StepRestart? {
    guard let state else { return nil }
    var reader = ByteReader(state.step, subject: "state")
    return StepRestart(state: try StepState(from: &reader, plan: plan), builders: state.builders)
  }
}
