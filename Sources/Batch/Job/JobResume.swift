import Foundation
import Streams

extension MigrationJob {
  /// Finishes an interrupted run, found by its source or its destination. Throws `refused` when there is none.
  ///
  /// `memory` replaces the run's own budget; the finished bytes do not depend on it. `rejects` replaces the run's own limit; it is a number. With `takeOver` a process that has the lease
  /// and gives no sign of life is killed first, see ``Lease/takeOver(_:_:patience:)``.
  public func resume(
    _ path: String, memory: MemoryBudget? = nil, takeOver: Bool = false, rejects: RejectLimit? = nil,
    monitor makeMonitor: (RunMonitor.Interval) -> RunMonitor
  ) throws -> Report {
    let found = try JobRegistry(fileSystem).find(path)
    guard let job = found, try isBegun(job) else {
      if let found { try removeLeftover(found) }
      throw BatchError(
        .refused, "no interrupted migration of this store is known", hint: "Start one with \(ProgramName.current) migrate",
        path: path)
    }
    let lease = takeOver ? try Lease.takeOver(job, fileSystem) : try Lease.take(in: job, fileSystem)
    defer { lease.release() }
    try job.refuseLinks(fileSystem)
    guard var plan = try plan(of: job) else { return try endRemoval(job.current(fileSystem), lease) }
    if let memory { plan.memory = memory.total }
    if let rejects {
      guard case .count(let limit) = rejects.most else {
        throw BatchError(
          .refused, "a run that goes on can be given a number of rejects, not a part of a store that is not counted again",
          hint: "Give a number, as --max-rejects 100", path: path)
      }
      plan.rejects = RejectPlan(limit: limit, withValues: rejects.withValues || plan.rejects?.withValues == true)
    }
    let monitor = makeMonitor(plan.interval)
    lease.guardRun(monitor)
    do {
      let run = MigrationRun(
        job: try workingDirectory(of: job, lease, monitor), lease: lease, plan: plan, fileSystem: fileSystem, policies: policies,
        monitor: monitor, logger: logger, logs: logs, stageHandler: stageHandler, metrics: metrics)
      return try run.run()
    } catch {
      // What else goes wrong follows from that.
      try lease.throwIfReplaced()
      throw error
    }
  }

  /// The job's directory as this process may write to it: not to files that an owner elsewhere has open.
  private func workingDirectory(of job: JobDirectory, _ lease: Lease, _ monitor: RunMonitor) throws -> JobDirectory {
    // Asked again under the lease: another successor may have been here.
    var job = try job.current(fileSystem)
    if lease.isFromElsewhere { job = try job.succeeding(fileSystem) }
    try job.copyWorkingFiles(fileSystem, monitor)
    return job
  }

  /// Nil where the cut-over is all that is left, which needs no plan: its directory is half removed, or the plan is damaged.
  private func plan(of job: JobDirectory) throws -> JobPlan? {
    guard try fileSystem.status(job.plan) != nil else { return nil }
    do {
      return try JobPlan.read(job, fileSystem)
    } catch let error as BatchError where error.code == .badCheckpoint && error.cause is DecodingError {
      if try CutOver(fileSystem: fileSystem, job: job.current(fileSystem)).isPending() { return nil }
      throw error
    }
  }

  /// Without a plan little can be reported.
  private func endRemoval(_ job: JobDirectory, _ lease: Lease) throws -> Report {
    let finished = try CutOver(fileSystem: fileSystem, job: job).resume()
    try job.remove(fileSystem, under: lease)
    return Report(
      destination: job.destination, backup: finished?.backup, sourceVersion: "", targetVersion: "", steps: 1,
      bytes: try fileSystem.status(job.destination)?.size ?? 0)
  }
}
