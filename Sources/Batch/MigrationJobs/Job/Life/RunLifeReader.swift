import RunSupport
import Streams

extension RunLife {
  /// Looks at a job directory and at the store that its run is about. Nothing is written.
  ///
  /// `isOwn`: this process has the lease. Of a run that another process works on the store is not looked at.
  package static func look(_ job: JobDirectory, _ fileSystem: any FileSystem, isOwn: Bool = false) throws -> RunLife {
    guard try job.exists(fileSystem) else { return RunLife(phase: .none) }
    do {
      return try look(existing: job.current(fileSystem), fileSystem, isOwn: isOwn)
    } catch {
      // Its owner may have removed it meanwhile.
      guard try job.exists(fileSystem) else { return RunLife(phase: .none) }
      throw error
    }
  }

  private static func look(existing job: JobDirectory, _ fileSystem: any FileSystem, isOwn: Bool) throws -> RunLife {
    if !isOwn, case .live = try Lease.inspect(job, fileSystem) {
      return RunLife(phase: try fileSystem.status(job.plan) == nil ? .leased : .working, isOwned: true)
    }
    do {
      if let journal = try CutOverJournal.read(job, fileSystem) {
        return try life(journal, job: job, fileSystem: fileSystem)
      }
      guard try fileSystem.status(job.plan) != nil else { return RunLife(phase: .leased) }
      let plan = try JobPlan.read(job, fileSystem)
      let phase = RunFailure.read(job, fileSystem) == nil ? Phase.working : .failed
      return RunLife(phase: phase, store: try source(plan, fileSystem))
    } catch let error as BatchError where [.badCheckpoint, .failed].contains(error.code) {
      // Of an output nothing has the name before the rename.
      let isElsewhere = (try? JobPlan.read(job, fileSystem)).map { !$0.isInPlace } ?? RunHistory.isElsewhere(job)
      let isThere =
        try isElsewhere || fileSystem.statusOfName(job.destination) != nil || fileSystem.status(job.cutOver) == nil
      return RunLife(phase: .unreadable, store: isThere ? .asItWas : .missing)
    }
  }

  private static func life(_ journal: CutOverJournal, job: JobDirectory, fileSystem: any FileSystem) throws
    -> RunLife
  {
    let cutOver = CutOver(fileSystem: fileSystem, job: job)
    // A new store that had its name and has it no more is as good as done.
    let holder = try cutOver.holder(journal)
    let isOver = try journal.phase == .done || cutOver.isLost(journal, holder)
    return try RunLife(holder, isOver: isOver, isRollback: journal.restores != nil) {
      try old(journal, fileSystem)
    }
  }

  /// With a journal, the owner of the destination's name shows where the run is.
  ///
  /// `old` says what became of the old store where neither it nor the new one has the name.
  init(_ holder: CutOver.Holder, isOver: Bool, isRollback: Bool, old: () throws -> Store) rethrows {
    let (phase, store): (Phase, Store) =
      switch (isOver, holder) {
      case (true, .new), (true, .old): (.done, .asItWas)
      case (true, .newWritten): (.done, .written)
      case (true, .other): (.done, .replaced)
      case (true, .missing): (.done, .missing)
      case (false, .old): (.cutOver, .asItWas)
      case (false, .new): (.renamed, .asItWas)
      case (false, .newWritten): (.renamed, .written)
      case (false, .other): (.cutOver, try old())
      case (false, .missing): (.cutOver, .missing)
      }
    self.init(phase: phase, store: store, isRollback: isRollback)
  }

  /// The old store is not as it was: it was written to, or it is another file.
  private static func old(_ journal: CutOverJournal, _ fileSystem: any FileSystem) throws -> Store {
    let now = try FileIdentity(database: journal.destination, fileSystem)
    return journal.old?.main.isSameFile(as: now) == true ? .written : .replaced
  }

  private static func source(_ plan: JobPlan, _ fileSystem: any FileSystem) throws -> Store {
    guard let status = try fileSystem.status(plan.source) else { return .missing }
    let changed: Store = plan.sourceInode.map { $0 == status.inode } ?? true ? .written : .replaced
    guard plan.isSourceTime(status.modified) else { return changed }
    // What a hot journal holds back is reported by the run, which takes it back on a copy.
    if let journal = try fileSystem.status(plan.source + "-journal"), journal.size > 0 { return .asItWas }
    guard let state = try? StoreState(plan.source, fileSystem) else { return changed }
    return state.fingerprint == plan.sourceFingerprint ? .asItWas : changed
  }
}
