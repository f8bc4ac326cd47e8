@testable import MigrationJobs

// The end of a run: what is claimed, and the removal of the directory.
extension ModelTurn {
  mutating func end() {
    if [.unlinkPlan, .unlinkFiles, .unlinkJournal].contains(me.stage), !me.hasLease, world.isLeased {
      breaks(.noLoss, "files of another process's run are removed")
    }
    switch me.stage {
    case .result: result()
    case .unlinkPlan:
      world.job?.plan = nil
      me.stage = .unlinkFiles
    case .unlinkFiles:
      world.job?.made = nil
      world.job?.hasFailed = false
      me.stage = .unlinkJournal
    case .unlinkJournal:
      world.job?.journal = nil
      me.stage = guards.has(.leaseLast) ? .unlinkLease : .removeDirectory
    case .unlinkLease:
      me.hasLease = false
      me.stage = guards.has(.leaseLast) ? .removeDirectory : .unlinkPlan
    case .removeDirectory:
      if world.job?.isEmpty == true, !world.isLeased { world.job = nil }
      afterRemoval()
    default: claim()
    }
  }

  private mutating func afterRemoval() {
    switch me.aim {
    case .again: me.stage = me.command == .rollback ? .rollbackLook : .look
    case .nothing: end(.ended)
    case .seen: end(.claimed)
    case .claim: me.stage = .claim
    }
  }

  /// The look in front of the removal. Without a plan, and where the store was replaced, it is the last one.
  private mutating func result() {
    guard me.aim == .claim, guards.has(.lookAtResult) else { return remove(me.aim) }
    let isThere = isThere(true)
    if isThere, me.hasPlan || me.command != .resume { return remove(.claim) }
    guard isThere || isSameVersion else { return remove(.nothing) }
    checkClaim()
    remove(.seen)
  }

  /// The last look.
  private mutating func claim() {
    guard !guards.has(.lookAtResult) || isThere(false) || isSameVersion else { return end(.ended) }
    checkClaim()
    end(.claimed)
  }

  private func isThere(_ hasJournal: Bool) -> Bool {
    guard let new = me.new else { return false }
    return world.holder(new: new, old: nil, isDone: true).isNew
  }

  /// Another store at the version that was asked for is as good, but for a rollback.
  private var isSameVersion: Bool { me.new?.version == 2 && world.store?.version == 2 }

  private mutating func checkClaim() {
    if world.store == nil || world.store?.version != me.new?.version {
      breaks(.noFalseSuccess, "success is claimed of a store that is not there")
    }
  }
}
