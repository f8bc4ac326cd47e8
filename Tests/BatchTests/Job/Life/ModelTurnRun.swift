@testable import MigrationJobs

// A run, or a rollback, from its plan to its cut-over.
extension ModelTurn {
  private var isRollback: Bool { me.command == .rollback }

  mutating func beginRun() {
    switch me.stage {
    case .plan: plan()
    case .begin:
      if world.job == nil { world.job = ModelJob() }
      take(.beginLook, orElse: nil)
    case .beginLook:
      let isOurs = look(isOwn: true).life.phase == .leased || !guards.has(.lookAgainUnderLease)
      if isOurs { me.stage = .compare } else { release(isRollback ? .rollbackLook : .look) }
    case .compare: compare()
    default:
      // What an earlier run left has other names, or other fingerprints.
      world.job = ModelJob(plan: me.seen)
      (me.aim, me.stage) = (.claim, .lockSource)
    }
  }

  private mutating func plan() {
    if let store = world.store, world.isLocked(store) { return end(.waits) }
    if isRollback {
      guard let backup = backup() else { return end(.ended) }
      (me.restores, me.stage) = (backup.name, .begin)
      return
    }
    guard let store = world.store else { return end(.ended) }
    guard store.version == 1 else { return end(.claimed) }
    (me.planned, me.stage) = (store, .begin)
  }

  /// The backup that a rollback would put back; nil where it is refused.
  private func backup() -> ModelBackup? {
    let all = world.backups.filter { !$0.isSetAside }
    guard let store = world.store else { return all.last }
    guard let newest = all.last(where: { $0.receipt.hasContents(of: store) }) ?? all.last else { return nil }
    return newest.receipt.hasContents(of: store) || !guards.has(.receipt) ? newest : nil
  }

  private mutating func compare() {
    if isRollback {
      guard let backup = backup() else { return remove(.nothing) }
      world.job?.made = backup.file
      (me.restores, me.aim, me.stage) = (backup.name, .claim, .verify)
      return
    }
    guard let store = world.store else { return remove(.nothing) }
    guard store == me.planned || !guards.has(.compareUnderLease) else { return remove(.again) }
    (me.seen, me.stage) = (store, .writePlan)
  }

  mutating func work() {
    guard let job = world.job else { return end(.ended) }
    switch me.stage {
    case .lockSource:
      guard let plan = job.plan, let store = world.store, store.hasContents(of: plan) else { return failWork(.restart) }
      (me.lock, me.stage) = (store.number, .make)
    case .make:
      let made = job.made ?? ModelFile(number: world.nextNumber(), version: 2, rows: job.plan?.rows ?? 0)
      world.job?.made = made
      me.stage = .verify
    case .verify: verify(job)
    default:
      guard let made = job.made else { return end(.advised(.resume)) }
      let journal = ModelJournal(new: made, old: me.seen, backup: world.nextName(), restores: me.restores)
      world.job?.journal = journal
      me.stage = .replace
    }
  }

  /// A run that fails before it has a checkpoint leaves nothing, but where it goes on.
  private mutating func failWork(_ way: LifeAnswer.WayOut) {
    if me.command != .resume, world.job?.made == nil { remove(.nothing) } else { end(.advised(way)) }
  }

  private mutating func verify(_ job: ModelJob) {
    me.lock = 0
    if isRollback {
      guard backup()?.name == me.restores else { return remove(.nothing) }
    } else {
      guard let store = world.store, store.hasContents(of: job.plan) else { return end(.advised(.restart)) }
    }
    (me.seen, me.stage) = (world.store, .writeJournal)
  }

  /// The run fails with an error that would come again.
  mutating func fail() {
    world.job?.hasFailed = true
    end(.advised(.restart))
    world[process] = me
  }
}
