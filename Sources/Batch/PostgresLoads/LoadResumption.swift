import LoadTables
import MappingModels
import MigrationJobs
import Migrations
import RunSupport
import Streams

extension MigrationJob {
  /// Resumes an interrupted load; nil if there is none of this store. `server` has a password that the first command's
  /// had, too; without it libpq asks its environment.
  ///
  /// - Throws: ``BatchError`` with its effect, as `load(_:to:monitor:)` and
  ///   ``resume(_:memory:takeOver:rejects:consent:history:mappings:heldBy:monitor:)`` do.
  public func resumeLoad(
    _ path: String, server: PostgresServer? = nil, memory: MemoryBudget? = nil, takeOver: Bool = false,
    rejects: RejectLimit? = nil, consent: LossConsent = LossConsent(), history: ExtrasOptions.History? = nil,
    monitor makeMonitor: (RunMonitor.Interval) -> RunMonitor
  ) throws -> Report? {
    try settledLoad(path) {
      try resumedLoad(
        path, server: server, memory: memory, takeOver: takeOver, rejects: rejects, consent: consent, history: history,
        makeMonitor: makeMonitor)
    }
  }

  private func resumedLoad(
    _ path: String, server: PostgresServer?, memory: MemoryBudget?, takeOver: Bool, rejects: RejectLimit?,
    consent: LossConsent, history: ExtrasOptions.History?, makeMonitor: (RunMonitor.Interval) -> RunMonitor
  ) throws -> Report? {
    guard let folder = try LoadFolder(store: path, fileSystem), try folder.exists() else { return nil }
    let lease = takeOver ? try Lease.takeOver(folder.job, fileSystem) : try Lease.take(in: folder.job, fileSystem)
    defer { lease.release() }
    var (plan, _) = try folder.read()
    plan.memory = memory?.total ?? plan.memory
    try folder.goOn(plan)
    if plan.outcome == nil { try refuseChanged(folder) }
    var (migrated, earlier): (Report?, RunMonitor?)
    func nextMonitor(_ interval: RunMonitor.Interval) -> RunMonitor {
      let monitor = earlier?.successor(makeMonitor(interval)) ?? makeMonitor(interval)
      earlier = monitor
      return monitor
    }
    if plan.isMigrated, let job = try folder.migration(), try isBegun(job) {
      let report: Report
      do {
        report = try resumed(
          folder.store, memory: memory.map(Self.besideServer), takeOver: takeOver, rejects: rejects, consent: consent,
          history: history, makeMonitor: nextMonitor)
      } catch { throw BatchError(wrapping: error).withoutNext }
      try folder.note(report)
      migrated = report
    }
    guard try !hasDoneNothing(folder) else {
      _ = try folder.remove(rejects: nil)
      throw Self.hasDoneNothing(plan, path)
    }
    return try finish(
      folder, lease: lease, server: server ?? PostgresServer(url: plan.server), migrated: migrated,
      makeMonitor: nextMonitor)
  }

  private static func hasDoneNothing(_ plan: LoadPlan, _ path: String) -> BatchError {
    BatchError(
      .refused, "the load had migrated nothing when it ended",
      hint: "Begin it again: `\(plan.command() ?? "\(ProgramName.current) migrate")`", effect: .nothingWritten,
      next: plan.command().map { [$0] } ?? [], path: path)
  }
}
