import CoreDataModel
import CoreDataStore
import Foundation
import Migrations
import RunSupport
import Streams

extension MigrationJob {
  /// How often a store is planned that changes meanwhile, before that is reported.
  private static let mostPlans = 8

  /// Migrates a store. One whose migration was interrupted is refused, but with ``Request/restarts``: see
  /// ``resume(_:memory:takeOver:rejects:consent:history:mappings:heldBy:monitor:)``.
  ///
  /// What is migrated is what was planned (I15): under lease and exclusive lock the store is looked at again, and
  /// planned again where it is another one by then. On return the result is durable under its name, or the store needed
  /// nothing. A run that is interrupted is finished by ``resume(_:memory:takeOver:rejects:consent:history:mappings:heldBy:monitor:)``.
  ///
  /// - Throws: ``BatchError`` with its effect: `nothingWritten` for what is refused, `resumable` for a run that ended
  ///   on its way.
  public func migrate(_ request: Request, monitor: RunMonitor) throws -> Report {
    try settled(request.output ?? request.source) { try migrate(request, monitor) }
  }

  /// The source's absolute path. Throws `noSuchFile` where not even its folder is there.
  private func sourcePath(_ request: Request) throws -> String {
    guard try fileSystem.status(FilePaths.directory(of: request.source)) != nil else {
      throw NearName.noSuchFile(request.source, "store")
    }
    return try JobDirectory(destination: request.source).destination
  }

  /// The same, for callers that know themselves what is left.
  package func migrate(_ request: Request, _ monitor: RunMonitor) throws -> Report {
    let source = try sourcePath(request)
    var kept: [String] = []
    for _ in 0..<Self.mostPlans {
      let job = try JobDirectory(destination: request.output ?? request.source).current(fileSystem)
      guard request.parts.isAll || job.destination != source else {
        throw BatchError(
          .refused, "a store of some parts cannot take the place of the whole one",
          hint: "Give it a path of its own with --output", effect: .nothingWritten, path: source)
      }
      // Nothing is given up for a migration that cannot be planned.
      if request.restarts, try RunLife.look(job, fileSystem).answer(to: .restart) == .giveUpFirst {
        _ = try planOrLeave(request, job)
      }
      kept += try settle(job, for: request.restarts ? .restart : .migrate, request)
      let (plan, seen) = try planOrLeave(request, job)
      guard plan.destination == nil || request.output != nil else {
        throw BatchError(
          .refused, "a mapping file names a database for the result, and the store would be replaced",
          hint: "Load it with load(_:to:monitor:), or name an output", effect: .nothingWritten, path: source)
      }
      guard !plan.isUpToDate else { return leftAlone(source, plan, output: request.output) }
      if var report = try begin(request, plan: plan, planned: seen, job: job, source: source, monitor: monitor) {
        report.notes += kept.map {
          "\($0) is kept from the run that was given up: it may be the only copy of its contents"
        }
        return report
      }
    }
    throw BatchError(
      .refused, "the store changes again and again while it is being planned",
      hint: "Close the program that writes to it, and try again", effect: .nothingWritten, path: source)
  }

  private func leftAlone(_ source: String, _ plan: MigrationPlan, output: String?) -> Report {
    var report = Report(
      destination: source, sourceVersion: plan.sourceVersion.name, targetVersion: plan.targetVersion.name, steps: 0)
    report.notes = output.map { ["no store was made at \($0): one at the version already is not copied"] } ?? []
    return report
  }

  /// Plans, and waits a moment for whoever has the store; a live run of it is reported at once.
  private func planOrLeave(_ request: Request, _ job: JobDirectory) throws -> (plan: MigrationPlan, seen: StoreSighting)
  {
    var countsRows = false
    if case .percent = request.rejects?.most { countsRows = true }
    var planned = try Patience.whileLocked(request.source) {
      try plan(request, countsRows: countsRows)
    } mayGoOn: {
      try refuseLiveRun(job)
    }
    // Only a plan that is shown has to say more of the versions between than the steps do.
    planned.plan.path = []
    return planned
  }

  /// Throws `leaseHeld` if a live process has the lease.
  func refuseLiveRun(_ job: JobDirectory) throws {
    guard try job.exists(fileSystem), case .live(let owner) = try Lease.inspect(job, fileSystem) else { return }
    throw Lease.held(owner, job)
  }

  /// Takes the lease and migrates; nil if the store is not the planned one any longer, or another run came first: then
  /// ask again.
  private func begin(
    _ request: Request, plan: MigrationPlan, planned: StoreSighting, job: JobDirectory, source: String,
    monitor: RunMonitor
  ) throws -> Report? {
    let isInPlace = source == job.destination
    try refuseEarly(plan, job, isInPlace: isInPlace, memory: request.memory)
    let lease = try Lease.begin(job, fileSystem)
    defer { lease.release() }
    guard try RunLife.look(job, fileSystem, isOwn: true).phase == .leased else { return nil }
    lease.guardRun(monitor)
    do {
      let opened = try lookAgain(source, job)
      defer { opened.close() }
      let seen = try planned.again(opened, fileSystem)
      guard seen == planned else {
        try job.remove(fileSystem, under: lease)
        return nil
      }
      // Another run may have ended at that name meanwhile.
      if !isInPlace { try refuseTakenNames(plan, job) }
      return try run(request, plan: plan, job: job, lease: lease, source: opened, seen: seen, monitor: monitor)
    } catch {
      try lease.throwIfReplaced()
      // A run that is over has no work either.
      if (error as? BatchError)?.effect != .done, try isWithoutWork(job) {
        JobRegistry(fileSystem).forget(source: request.madeFrom?.path ?? source, job: job)
        try job.remove(fileSystem, under: lease)
        throw error
      }
      throw BatchError(wrapping: error).withinRun
    }
  }

  /// Runs a plan. `source` is open under the lock that the run keeps, and was seen to be as
  /// planned.
  private func run(
    _ request: Request, plan: MigrationPlan, job: JobDirectory, lease: Lease, source: StoreReader,
    seen: StoreSighting,
    monitor: RunMonitor
  ) throws -> Report {
    let run = try jobPlan(request, plan: plan, job: job, source: source.path, seen: seen, token: lease.owner.token)
    let steps = plan.steps
    return try MigrationRun(
      job: job, lease: lease, plan: run, fileSystem: fileSystem, policies: policies, monitor: monitor, logger: logger,
      logs: logs, stageHandler: stageHandler, metrics: metrics, explains: request.explains, planned: steps,
      seen: source,
      unwritten: UnwrittenRun {
        // A process that stood still may have been replaced meanwhile.
        try lease.throwIfReplaced()
        return try writeDown(run, of: request, steps: steps, job: job, log: $0)
      },
      smallStore: smallStore, mayEndUnwritten: mayEndUnwritten(request, source)
    )
    .run()
  }

  /// Opens the store under the lock that the run keeps: one that is in use is refused before anything is written.
  private func lookAgain(_ source: String, _ job: JobDirectory) throws -> StoreReader {
    try Patience.whileLocked(source) {
      try SourceStore.opened(source, fileSystem, locking: .exclusive, copyFolder: job.recovered, logs: logs)
    }
  }

  /// Whether nothing was migrated yet. A directory without a checkpoint would only be in the way.
  private func isWithoutWork(_ job: JobDirectory) throws -> Bool {
    guard try job.exists(fileSystem), try fileSystem.status(job.cutOver) == nil else { return false }
    return try fileSystem.status(job.checkpoints) == nil || fileSystem.list(job.checkpoints).isEmpty
  }

  /// Whether the directory's run has a plan, or a cut-over to finish. A kill in the removal of the directory leaves
  /// only the latter.
  package func isBegun(_ job: JobDirectory) throws -> Bool {
    try fileSystem.status(job.plan) != nil || fileSystem.status(job.cutOver) != nil
  }
}
