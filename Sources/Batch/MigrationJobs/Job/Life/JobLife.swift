import RunSupport
import Streams

// What commands do with the life of a run before their own work: they ask `RunLife`, and do what it says.
extension MigrationJob {
  /// How often the state is read again that others change meanwhile.
  private static let mostLooks = 16

  /// Brings a store's run to where a command may begin: finishes what only has to be finished, gives up what was given
  /// up, removes what is left over. Throws `refused` with the command that leads on, and `leaseHeld` if another process
  /// is at work.
  ///
  /// Returns what stays beside the store of a run that was given up, see ``CutOver/undo()``.
  @discardableResult func settle(_ job: JobDirectory, for command: LifeCommand, _ request: Request? = nil) throws
    -> [String]
  {
    var kept: [String] = []
    for _ in 0..<Self.mostLooks {
      let life = try RunLife.look(job, fileSystem)
      let answer = life.answer(to: command)
      switch answer {
      case .begin where life.phase == .none: return kept
      case .begin, .giveUpFirst, .finishFirst: break
      case .wait:
        try refuseLiveRun(job)
        continue
      case .refuse(let way): throw refusal(life, way: way, job: job, request: request)
      case .goOn, .finish, .cutOverAgain, .giveUp, .look, .keep, .nothing: return kept
      }
      guard let lease = try Lease.takeIfThere(in: job, fileSystem) else { continue }
      defer { lease.release() }
      // Once more under the lease: somebody may have been here meanwhile.
      guard try RunLife.look(job, fileSystem, isOwn: true).answer(to: command) == answer else { continue }
      if answer == .finishFirst { try finishQuietly(job, lease) } else { kept += try giveUp(job, lease) }
    }
    throw BatchError(
      .leaseHeld, "other processes begin and end runs of this store at this moment", hint: "Try again in a moment",
      path: job.destination)
  }

  /// Finishes a run whose new store has its name. What is there instead by now is the next command's business.
  func finishQuietly(_ job: JobDirectory, _ lease: Lease) throws {
    do { _ = try finish(job.current(fileSystem), lease: lease, monitor: RunMonitor()) } catch let error as BatchError
      where error.code == .refused
    {
      guard try !job.exists(fileSystem) else { throw error }
    }
  }

  /// Finishes a cut-over and removes the job directory. The caller has the lease, and ``RunLife`` says that nothing
  /// else is left to do.
  func finish(_ job: JobDirectory, lease: Lease, monitor: RunMonitor) throws -> Report {
    if let plan = try? JobPlan.read(job, fileSystem) {
      return try MigrationRun(
        job: job, lease: lease, plan: plan, fileSystem: fileSystem, policies: policies, monitor: monitor,
        logger: logger,
        logs: logs, stageHandler: stageHandler, metrics: metrics
      ).run()
    }
    let cutOver = CutOver(fileSystem: fileSystem, job: job)
    let finished = try cutOver.resume()
    let journal = try cutOver.journal()
    let result = try cutOver.result(journal)
    return try job.whenOver(fileSystem) {
      let removed = try removeBackups(journal, latest: finished?.backup)
      var report = try? result.report(finished?.backup, fileSystem)
      report?.removedBackups = removed
      if let report { RunRecorder.end(job, report: report, fileSystem) }
      try job.remove(fileSystem, under: lease)
      return try report ?? result.report(finished?.backup, fileSystem)
    }
  }

  /// Removes what is beyond the limit of backups, of a run that was over before it had a plan.
  private func removeBackups(_ journal: CutOverJournal, latest: String?) throws -> [String] {
    guard let limit = journal.run?.keepsBackups, journal.old != nil else { return [] }
    return try StoreBackup.remove(beyond: limit, of: journal.destination, latest: latest, fileSystem)
  }

  /// Removes a job directory with what the run made elsewhere and no data depends on. The caller has the lease. Returns
  /// what stays beside the store, see ``CutOver/undo()``.
  func giveUp(_ job: JobDirectory, _ lease: Lease) throws -> [String] {
    let job = try job.current(fileSystem)
    var kept: [String] = []
    // A journal that cannot be read names nothing that could be removed.
    do {
      let cutOver = CutOver(fileSystem: fileSystem, job: job)
      kept = try cutOver.undo()
      try cutOver.forget()
    } catch let error as BatchError where error.code == .failed {
    }
    if let plan = try? JobPlan.read(job, fileSystem) {
      JobRegistry(fileSystem).forget(source: plan.namedSource, job: job)
    }
    try job.remove(fileSystem, under: lease)
    return kept
  }
}
