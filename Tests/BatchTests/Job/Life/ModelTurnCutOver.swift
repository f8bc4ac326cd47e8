@testable import MigrationJobs

// The cut-over: `CutOver.finish` and `CutOver.undo`.
extension ModelTurn {
  mutating func cutOver() {
    guard let job = world.job, let journal = job.journal else { return end(.advised(.resume)) }
    switch me.stage {
    case .replace: replace(journal)
    case .check:
      guard world.store == journal.old || !guards.has(.compareUnderLock) else { return end(.advised(.giveUp)) }
      me.stage = .link
    case .link: link(journal, job)
    default:
      guard world.store != nil, let made = job.made else { return end(.advised(.resume)) }
      world.job?.made = guards.has(.exchange) ? world.store : nil
      world.store = made
      me.stage = .endExchange
    }
  }

  private mutating func replace(_ journal: ModelJournal) {
    guard !journal.isDone else { return afterCutOver() }
    guard !world.isOver(journal) else { return me.stage = .writeDone }
    switch world.holder(journal) {
    case .new, .newWritten: me.stage = .endExchange
    case .other where journal.old == nil: end(.advised(.giveUp))
    case .old where journal.old == nil: me.stage = .link
    case .missing: end(.advised(.putBack))
    case .other where guards.has(.compareUnderLock): end(.advised(.giveUp))
    case .old, .other:
      me.stage = .check
      guard let store = world.store, guards.has(.lockOldStore) else { return }
      me.lock = store.number
    }
  }

  private mutating func link(_ journal: ModelJournal, _ job: ModelJob) {
    guard let made = job.made else { return end(.advised(.resume)) }
    guard journal.old != nil else {
      guard world.store == nil || !guards.has(.linkNeverReplaces) else { return end(.advised(.giveUp)) }
      (world.store, me.stage) = (made, .endExchange)
      return
    }
    me.stage = .exchange
    if let there = world.backups.first(where: { $0.name == journal.backup }) {
      if there.file.number != journal.old?.number { end(.advised(.giveUp)) }
      return
    }
    guard let store = world.store else { return end(.advised(.resume)) }
    world.backups.append(
      ModelBackup(name: journal.backup, isSetAside: journal.restores != nil, file: store, receipt: made))
  }

  mutating func endCutOver() {
    guard let job = world.job, let journal = job.journal else { return end(.advised(.resume)) }
    switch me.stage {
    case .endExchange: endExchange(journal, job)
    case .exchangeBack:
      world.job?.made = world.store
      world.store = job.made
      end(.advised(.giveUp))
    case .endRestoring:
      world.backups.removeAll { $0.name == journal.restores }
      me.stage = .writeDone
    default:
      world.job?.journal?.isDone = true
      me.lock = 0
      afterCutOver()
    }
  }

  private mutating func endExchange(_ journal: ModelJournal, _ job: ModelJob) {
    me.stage = journal.restores == nil ? .writeDone : .endRestoring
    guard let left = job.made else { return }
    if let old = journal.old, left.number != journal.new.number || !guards.has(.leftNewStore) {
      guard left.number == old.number else { return me.stage = .exchangeBack }
      if left.rows & ~journal.new.rows & world.owed != 0, left.number != world.store?.number {
        breaks(.noLoss, "rows that the new store lacks were replaced")
      }
      if let planned = me.planned, !left.hasContents(of: planned) {
        breaks(.noLoss, "another store was migrated than was planned")
      }
    }
    world.job?.made = nil
  }

  private mutating func afterCutOver() {
    me.new = world.job?.journal?.new
    switch me.command {
    case .cleanAll: me.stage = .undo
    case .rollback where me.aim == .claim: remove(.claim)
    default: me.stage = .result
    }
  }

  mutating func giveUp() {
    switch me.stage {
    case .undo:
      let isTaken = undo()
      if isTaken { me.stage = .forgetCutOver } else { remove(me.aim) }
    case .takeBack:
      _ = undo()
      me.stage = .forgetTakenBack
    case .forgetCutOver:
      if guards.has(.journalFirst) { world.job?.journal = nil }
      remove(me.aim)
    default:
      world.job?.journal = nil
      world.job?.hasFailed = false
      me.stage = .lockSource
    }
  }

  /// What is no store of the run's is kept beside the store.
  private mutating func setAside(_ journal: ModelJournal) {
    guard let left = world.job?.made, guards.has(.setAsideForeign) else { return }
    let named = world.backups.filter { [journal.backup, journal.restores].contains($0.name) }.map(\.file.number)
    let isMade =
      left == journal.new && journal.restores.map { name in world.backups.contains { $0.name == name } } ?? true
    guard !isMade, !(named + [world.store?.number ?? 0]).contains(left.number) else { return }
    world.backups.append(ModelBackup(name: world.nextName(), isSetAside: true, file: left, receipt: left))
    world.job?.made = nil
  }

  /// Takes back what a cut-over made outside of the directory. False where there is none, or the new store has its
  /// name.
  private mutating func undo() -> Bool {
    guard let journal = world.job?.journal, !world.isOver(journal) else { return false }
    if world.holder(journal).isNew { return false }
    setAside(journal)
    guard let kept = world.backups.first(where: { $0.name == journal.backup }), kept.file.number == journal.old?.number,
      kept.file.number == world.store?.number || !guards.has(.undoKeepsOnlyCopy)
    else { return true }
    world.backups.removeAll { $0.name == journal.backup }
    return true
  }
}
