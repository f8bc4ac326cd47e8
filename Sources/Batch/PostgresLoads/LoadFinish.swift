import LoadTables
import MappingModels
import MigrationJobs
import RunSupport
import Streams

extension MigrationJob {
  /// Loads, and removes what the load kept.
  func finish(
    _ folder: LoadFolder, lease: Lease, server: PostgresServer, migrated: Report?,
    makeMonitor: (RunMonitor.Interval) -> RunMonitor
  ) throws -> Report {
    ProcessMemory.giveBack()
    var (plan, model) = try folder.read()
    let monitor = makeMonitor(plan.interval)
    lease.guardRun(monitor)
    let pulse = RunPulse(folder.job, monitor: monitor)
    defer { pulse.end() }
    let store = try LoadStore(plan.isMigrated ? folder.store : plan.source, model: model, fileSystem)
    defer { store.close() }
    if plan.outcome == nil { try refuseChanged(folder) }
    var load = PostgresLoad(
      schema: try LoadSchemaPlanner.plan(model, plan.options), store: store, server: server,
      proves: plan.verification != .none,
      rowLimit: MemoryBudget(total: plan.memory).rowLimit, monitor: monitor, isBegun: true)
    load.expectsBook = plan.isOnServer
    // It is that server only when it has shown it.
    plan.server = server.address.shown
    plan.isOnServer = true
    note(plan, in: folder, whenBegun: &load, pulse)
    let earlier = plan.isMigrated ? try earlier(folder, plan) : nil
    do { try run(load, of: &plan, in: folder, hasRejects: earlier?.rejects != nil) } catch let error as BatchError {
      folder.note(error)
      throw LoadAdvice(folder).explained(error)
    }
    pulse.end()
    let rejects = try folder.remove(rejects: earlier?.rejects?.path)
    return report(plan, migrated ?? earlier, rejects: rejects, rowsLoaded: monitor.progress.rows)
  }

  private func run(_ load: PostgresLoad, of plan: inout LoadPlan, in folder: LoadFolder, hasRejects: Bool) throws {
    // Whoever begins the load again may have corrected what rejected them.
    let mark = hasRejects ? nil : plan.mark
    guard plan.outcome == nil else { return try load.finish(mark: mark) }
    try load.complete(mark: mark) { outcome in
      try refuseChanged(folder)
      plan.outcome = outcome
      try folder.write(plan)
    }
  }

  /// Notes in the folder that the server has the load's tables, once it has; if it takes none, removes the folder.
  private func note(_ begun: LoadPlan, in folder: LoadFolder, whenBegun load: inout PostgresLoad, _ pulse: RunPulse) {
    load.didBegin = { try folder.write(begun) }
    load.wasTurnedAway = {
      pulse.end()
      _ = try folder.remove(rejects: nil)
    }
  }

  /// Refuses a store that was written to since its load began: its rows would be of two states, or of an earlier one.
  func refuseChanged(_ folder: LoadFolder) throws {
    guard try folder.read().plan.hasChanged(fileSystem) else { return }
    let advice = LoadAdvice(folder)
    throw BatchError(
      .badCheckpoint, "the store changed since its load began: what is loaded would not be what it has",
      hint: "A copy has to keep the time of change (cp -p). Otherwise begin again: \(advice.beginningAgain)",
      effect: .resumable, next: [advice.beginningAgainLine], path: folder.source)
  }

  /// What the migration in front came to, whoever finished it.
  private func earlier(_ folder: LoadFolder, _ plan: LoadPlan) throws -> Report {
    var report = Report(
      destination: folder.store, sourceVersion: plan.sourceVersion, targetVersion: plan.version,
      steps: max(1, plan.migrated?.steps ?? 1))
    report.rowsRead = plan.migrated?.rowsRead ?? 0
    report.rejects = try plan.migrated.map { $0.rejects.map(folder.moved) } ?? folder.rejects()
    return report
  }

  private func report(
    _ plan: LoadPlan, _ migrated: Report?, rejects: String?, rowsLoaded: UInt64
  ) -> Report {
    let outcome = plan.outcome ?? PostgresLoad.Outcome()
    var report =
      migrated ?? Report(destination: "", sourceVersion: plan.sourceVersion, targetVersion: plan.version, steps: 1)
    if let rejects { report.rejects?.path = rejects }
    report.destination = plan.place
    (report.rows, report.bytes) = (outcome.rows, outcome.bytes)
    if migrated == nil { report.rowsRead = rowsLoaded }
    report.notes += outcome.notes
    report.isVerified = plan.verification != .none
    return report
  }
}
