@testable import MigrationJobs

/// Where a process is: each stage is one look, or one change that a crash leaves whole or undone.
enum ModelStage: UInt8 {
  case ended
  // Before a command's own work.
  case look, settleTake, settleLook
  // A run begins.
  case plan, begin, beginLook, compare, writePlan
  // It works, and comes to its cut-over.
  case lockSource, make, verify, writeJournal
  // The cut-over.
  case replace, check, link, exchange, endExchange, exchangeBack, endRestoring, writeDone
  // It is given up, or the cut-over taken back.
  case undo, forgetCutOver, takeBack, forgetTakenBack
  // The result is looked at, and the directory removed.
  case result, unlinkPlan, unlinkFiles, unlinkJournal, unlinkLease, removeDirectory, claim
  // Other commands.
  case resumeTake, resumeLook, cleanLook, cleanTake, cleanLookAgain, rollbackLook, rollbackTake, rollbackLookAgain
}

/// What a process does when the directory is removed.
enum ModelAim: UInt8 {
  /// Look once more, and claim what is there.
  case claim
  /// Claim what was seen before the removal.
  case seen
  /// Begin anew.
  case again
  /// End, and claim nothing.
  case nothing
}

/// One of the two processes: its command, where it is, and what it remembers.
struct ModelProcess: Hashable {
  var command = LifeCommand.migrate
  var stage = ModelStage.ended
  var aim = ModelAim.nothing
  var hasLease = false
  /// Does a plan tell of the run that it finishes?
  var hasPlan = false
  /// The number of the file that it has SQLite's exclusive lock on.
  var lock: UInt8 = 0
  /// The store that was planned, and as it was seen last.
  var planned: ModelFile?
  var seen: ModelFile?
  /// The answer that it found, as a number.
  var found: UInt8 = 0
  /// The backup that it puts back.
  var restores: UInt8?
  /// The new store, when the journal is gone.
  var new: ModelFile?

  /// For an order among processes: the same for equal ones.
  var key: Int {
    func number(_ file: ModelFile?) -> Int {
      file.map { 1 + Int($0.number) << 7 | Int($0.version) << 4 | Int($0.rows) } ?? 0
    }
    let what = Int(stage.rawValue) << 3 | Int(aim.rawValue) << 1 | (hasLease ? 1 : 0)
    let files = number(planned) &* 31 &+ number(seen) &* 1009 &+ number(new) &* 65_537
    return (what << 8 | Int(found)) << 24 &+ Int(lock) << 16 &+ Int(restores ?? 0) << 8 &+ files
      &+ command.rawValue.utf8.count
  }
}

/// How a command ended.
enum ModelOutcome: Equatable {
  /// It said that the store is at the version that was asked for.
  case claimed
  /// It said something else, with nothing to follow.
  case ended
  /// Another process is at work.
  case waits
  /// It was refused or failed, and named what leads on.
  case advised(LifeAnswer.WayOut)
}

/// What keeps the promises. Each can be taken out, to see that the check finds it.
enum ModelGuard: String, CaseIterable, Sendable {
  case leaseExcludes = "one process at a time has the lease"
  case lookAgainUnderLease = "a process looks again when it has the lease"
  case compareUnderLease = "what is migrated is what was planned"
  case compareUnderLock = "the cut-over compares the old store with its journal"
  case lockOldStore = "the cut-over has SQLite's exclusive lock on the old store"
  case exchange = "names are exchanged, and who came in the last moment gets the name back"
  case linkNeverReplaces = "a new name never replaces a file"
  case undoKeepsOnlyCopy = "giving up leaves a backup that no other name leads to"
  case setAsideForeign = "giving up sets aside what came into the new store's place, or wrote to it"
  case leftNewStore = "a new store that was put in place by hand is left there"
  case overBehindRename = "a new store that had its name, and has it no more, is not put in place again"
  case journalFirst = "giving up forgets the cut-over before the plan and the new store"
  case receipt = "a rollback compares the store with the backup's receipt"
  case leaseLast = "the lease goes last"
  case lookAtResult = "the store is looked at before anything is claimed"
  case finishBehindRename = "nobody gives up behind the rename"
  case offerRestart = "where the store changed, the way out is to begin anew"
  case rollbackBeginsAnew = "a rollback whose store changed begins anew"

  /// The promise that is broken without it.
  var promise: ModelPromise {
    switch self {
    case .lookAtResult: .noFalseSuccess
    case .offerRestart, .rollbackBeginsAnew, .journalFirst, .leftNewStore, .overBehindRename: .wayOut
    default: .noLoss
    }
  }
}

enum ModelPromise: String, Sendable {
  case noLoss = "no loss"
  case noFalseSuccess = "no false success"
  case wayOut = "a way out"
}

/// The guards that are in place, and the real table as they leave it.
struct ModelGuards {
  var missing: ModelGuard?

  func has(_ one: ModelGuard) -> Bool { one != missing }

  func answer(_ life: RunLife, _ command: LifeCommand) -> LifeAnswer {
    let answer = life.answer(to: command)
    switch missing {
    case .finishBehindRename where command == .cleanAll && life.phase == .renamed && !life.isOwned: return .giveUp
    case .offerRestart where answer == .refuse(.restart): return .refuse(.resume)
    case .rollbackBeginsAnew where command == .rollback && life.isRollback && answer == .giveUpFirst:
      return .refuse(.rollback)
    default: return answer
    }
  }
}

extension LifeAnswer {
  /// A number for each answer, as a process remembers it.
  var number: UInt8 {
    switch self {
    case .begin: 1
    case .goOn: 2
    case .finish: 3
    case .finishFirst: 4
    case .cutOverAgain: 5
    case .giveUp: 6
    case .giveUpFirst: 7
    case .look: 8
    case .keep: 9
    case .nothing: 10
    case .wait: 11
    case .refuse: 12
    }
  }
}
