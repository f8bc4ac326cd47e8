@testable import MigrationJobs

/// A file of the model: which one it is, the version of its contents, and whose rows are in it.
struct ModelFile: Hashable {
  var number: UInt8
  var version: UInt8
  var rows: UInt8

  func hasContents(of other: ModelFile?) -> Bool { version == other?.version && rows == other?.rows }

  /// Rows that were there, that the application writes, one bit for each time, and that a copy of the person's own has.
  static let first: UInt8 = 1
  static let written: [UInt8] = [2, 4]
  static let own: UInt8 = 8
}

/// A backup, or a store that a rollback set aside.
struct ModelBackup: Hashable {
  var name: UInt8
  var isSetAside = false
  var file: ModelFile
  /// The new store when it got its name.
  var receipt: ModelFile
}

/// What `cutover.json` says.
struct ModelJournal: Hashable {
  var isDone = false
  var new: ModelFile
  /// Nil for a rollback of a store that was missing.
  var old: ModelFile?
  var backup: UInt8
  /// The name of the backup that a rollback puts back.
  var restores: UInt8?
}

/// The job directory. Who has its lease is told by the processes, since the kernel drops the lease with them.
struct ModelJob: Hashable {
  /// The source that the plan was made of.
  var plan: ModelFile?
  var hasFailed = false
  /// The name of the new store; behind an exchange what had the store's name.
  var made: ModelFile?
  var journal: ModelJournal?

  var isEmpty: Bool { plan == nil && !hasFailed && made == nil && journal == nil }
}

/// All that the processes, the application and the person can tell or change. Small, since there are many of them.
struct ModelWorld: Hashable {
  /// The file that has the store's name.
  var store: ModelFile?
  var backups: [ModelBackup] = []
  var job: ModelJob?
  var first = ModelProcess()
  var second = ModelProcess()
  /// Rows that nobody has asked to remove.
  var owed: UInt8
  /// The next file's number, and the next backup's name.
  var numbers: UInt8 = 10
  var names: UInt8 = 10
  /// Is the guard of that name in place?
  var knowsRename = true
  /// What may happen yet.
  var commands: UInt8 = 0
  var kills: UInt8 = 0
  var writes: UInt8 = 0
  var deeds: UInt8 = 0

  init(store: ModelFile?, backups: [ModelBackup] = []) {
    (self.store, self.backups) = (store, backups)
    owed = backups.reduce(store?.rows ?? 0) { $0 | $1.file.rows }
  }

  subscript(process: Int) -> ModelProcess {
    get { process == 0 ? first : second }
    set { if process == 0 { first = newValue } else { second = newValue } }
  }

  var isLeased: Bool { first.hasLease || second.hasLease }
  /// Does nobody run?
  var isQuiet: Bool { first.stage == .ended && second.stage == .ended }
  func isLocked(_ file: ModelFile) -> Bool { first.lock == file.number || second.lock == file.number }

  mutating func nextNumber() -> UInt8 {
    numbers += 1
    return numbers
  }

  mutating func nextName() -> UInt8 {
    names += 1
    return names
  }

  /// The rows that some file has.
  var rows: UInt8 { backups.reduce((store?.rows ?? 0) | (job?.made?.rows ?? 0)) { $0 | $1.file.rows } }

  /// Processes are alike: which one is the first tells nothing.
  func inOrder() -> ModelWorld {
    guard second.key < first.key else { return self }
    var other = self
    (other.first, other.second) = (second, first)
    return other
  }
}

// What a process sees: `RunLife.look` and `CutOver.holder`, of the model's files.
extension ModelWorld {
  func holder(new: ModelFile, old: ModelFile?, isDone: Bool) -> CutOver.Holder {
    guard let store else { return old == nil && !isDone ? .old : .missing }
    if store.number == new.number, store.version == new.version { return store.rows == new.rows ? .new : .newWritten }
    return !isDone && store == old ? .old : .other
  }

  func holder(_ journal: ModelJournal) -> CutOver.Holder {
    holder(new: journal.new, old: journal.old, isDone: journal.isDone || isBehindRename)
  }

  /// Nothing but the rename takes the new store out of the job directory.
  private var isBehindRename: Bool { knowsRename && job?.made == nil }

  /// Had the new store its name, whatever has become of it?
  func isOver(_ journal: ModelJournal) -> Bool {
    journal.isDone || isBehindRename && !holder(journal).isNew
  }

  func life(isOwn: Bool) -> RunLife {
    guard let job else { return RunLife(phase: .none) }
    if !isOwn, isLeased { return RunLife(phase: job.plan == nil ? .leased : .working, isOwned: true) }
    if let journal = job.journal { return life(journal) }
    guard let plan = job.plan else { return RunLife(phase: .leased) }
    return RunLife(phase: job.hasFailed ? .failed : .working, store: became(of: plan))
  }

  private func became(of file: ModelFile) -> RunLife.Store {
    guard let store else { return .missing }
    return store.hasContents(of: file) ? .asItWas : store.number == file.number ? .written : .replaced
  }

  private func life(_ journal: ModelJournal) -> RunLife {
    RunLife(holder(journal), isOver: isOver(journal), isRollback: journal.restores != nil) {
      store?.number == journal.old?.number ? .written : .replaced
    }
  }
}
