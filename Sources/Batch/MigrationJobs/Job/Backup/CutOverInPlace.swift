import CoreDataStore
import RunSupport
import Streams

/// The part of a cut-over that replaces an existing store (I9).
///
/// The order is the promise: everything of the old store into its main file; that state recorded; the files beside it
/// removed; a second name for the old file; only then the rename that shows the new one.
extension CutOver {
  /// SQLite's lock bytes: all locks that any connection to a database holds lie in this range of its file.
  static var sqliteLockStart: UInt64 { 1 << 30 }
  static var sqliteLockLength: UInt64 { 512 }

  func startInPlace(
    _ new: FileIdentity, newStore: String, backupSuffix: String, adopts: Bool,
    verifySourceUnchanged: () throws -> Void
  ) throws -> CutOverJournal {
    let backup = StoreBackup.path(of: job.destination, suffix: backupSuffix)
    guard !backupSuffix.isEmpty, !backupSuffix.contains("/") else {
      throw BatchError(.refused, "\"\(backupSuffix)\" is no suffix for a backup")
    }
    let old = try OldStoreIdentity(job.destination, fileSystem)
    if try !isSecondName(backup, of: old.main) { try refuseExisting(backup, "a backup of that name exists already") }
    for suffix in ["-wal", "-journal"] { try refuseExisting(backup + suffix, "a file lies beside the backup's name") }
    try verifySourceUnchanged()
    guard try OldStoreIdentity(job.destination, fileSystem) == old else {
      throw Self.changed("while it was being verified", job.destination)
    }
    guard let status = try fileSystem.status(job.destination) else {
      throw Self.changed("while it was being verified", job.destination)
    }
    let makesFolder = try makesFolder(backup)
    if adopts {
      try fileSystem.adopt(status, on: newStore)
      try fileSystem.adoptAttributes(of: job.destination, on: newStore)
    }
    let isWhole = old.wal == nil && old.rollbackJournal == nil
    return CutOverJournal(
      phase: isWhole ? .whole : .started, newStore: FilePaths.name(of: newStore), new: new,
      destination: job.destination, backup: backup, makesFolder: makesFolder, old: old, whole: isWhole ? old.main : nil)
  }

  /// Whether the backup's folder of external data is one that only backups of this program have ever had.
  private func makesFolder(_ backup: String) throws -> Bool {
    let folder = ExternalDataFolder(store: backup)
    guard try fileSystem.statusOfName(folder.path) != nil else { return true }
    return try StoreBackup.all(of: job.destination, fileSystem).contains { other in
      try ExternalDataFolder(store: other.path) == folder
        && BackupReceipt.read(for: other.path, fileSystem)?.ownsFolder == true
    }
  }

  func replace(_ journal: inout CutOverJournal) throws {
    switch try holder(journal) {
    case .new, .newWritten: try endExchange(journal)
    case .missing:
      throw goOnOrGiveUp(
        "the store is missing that the new one is to replace", "Put it back", path: journal.destination)
    case .other: throw Self.changed("since it was verified", journal.destination)
    case .old:
      // What came there in the last moment of an earlier try must not be put in place of the new store.
      guard try hasNewStore() else { throw Self.changed("in the last moment", journal.destination) }
      try giveBack(journal)
      if journal.phase == .started { try makeWhole(&journal) }
      let file = try fileSystem.open(journal.destination, .update)
      // Until after the rename nobody can open the old store, not even to read what it is about to lose beside it.
      defer { file.close() }
      guard try isLocked(file) else { throw Self.inUse(journal.destination) }
      try checkUntouched(journal, file)
      try file.sync()
      try removeFilesBeside(journal)
      try keepCompanions(journal)
      try keepBackup(&journal, file)
      do {
        try fileSystem.exchange(job.file(journal.newStore), with: journal.destination)
        try endExchange(journal)
      } catch let error as StreamsError where error.code == .unsupported {
        try fileSystem.rename(job.file(journal.newStore), to: journal.destination)
        try fileSystem.syncDirectory(FilePaths.directory(of: journal.destination))
      }
    }
  }

  /// What had the destination's name until the exchange is the old file, which has the backup's name, too, and goes; or
  /// a file that somebody put there in the last moment, which gets the name back. Where it is the new store, somebody
  /// has put that in place by another of its names. The destination's name is durable on return.
  private func endExchange(_ journal: CutOverJournal) throws {
    let (left, directory) = (job.file(journal.newStore), FilePaths.directory(of: journal.destination))
    guard try fileSystem.statusOfName(left) != nil else { return try fileSystem.syncDirectory(directory) }
    let (found, old) = (try FileIdentity(database: left, fileSystem), journal.whole ?? journal.old?.main)
    guard found?.isSameFile(as: old) == true || found?.isSameFile(as: journal.new) == true else {
      // Beside a log of the new store the other file would be taken for it: the new store keeps the name.
      if try hasLog(journal.destination) {
        _ = try setAside(left, of: journal)
        try fileSystem.syncDirectory(directory)
        return try fileSystem.remove(left)
      }
      try fileSystem.exchange(left, with: journal.destination)
      try fileSystem.syncDirectory(directory)
      throw Self.changed("in the last moment", journal.destination)
    }
    try fileSystem.syncDirectory(directory)
    try fileSystem.remove(left)
  }

  private func hasLog(_ path: String) throws -> Bool {
    try ["-wal", "-journal"].contains { try fileSystem.statusOfName(path + $0).map { $0.size > 0 } ?? false }
  }

  /// Takes SQLite's locks. Programs that only look at the store have them for a moment, and are waited for.
  private func isLocked(_ file: any File) throws -> Bool {
    try Patience.wait(for: file.path) {
      try file.lock(.exclusive, start: Self.sqliteLockStart, length: Self.sqliteLockLength)
    }
  }

  /// Lets SQLite bring the WAL, or what a hot journal holds back, into the main file, and records that state while
  /// the connection is still open and the WAL still there: a crash before leaves the WAL as the proof that nobody
  /// wrote since the source was verified.
  private func makeWhole(_ journal: inout CutOverJournal) throws {
    let now = try OldStoreIdentity(journal.destination, fileSystem)
    guard let old = journal.old, now.wal == old.wal, now.rollbackJournal == old.rollbackJournal,
      now.main.isSameFile(as: old.main)
    else { throw Self.changed("since it was verified", journal.destination) }
    let path = journal.destination
    var recorded = journal
    let file = try fileSystem.open(path, .read)
    defer { file.close() }
    try OldStore.makeWhole(path) {
      recorded.whole = try OldStoreIdentity(path, fileSystem, open: file).main
      recorded.phase = .whole
      try recorded.write(job, fileSystem)
    }
    journal = recorded
  }

  /// The caller holds SQLite's locks. Whatever differs from what was recorded was written by somebody else, and a
  /// replacement would take it out of sight.
  private func checkUntouched(_ journal: CutOverJournal, _ file: any File) throws {
    let now = try OldStoreIdentity(journal.destination, fileSystem, open: file)
    guard now.main == journal.whole, now.wal == nil || now.wal == journal.old?.wal,
      now.rollbackJournal == nil || now.rollbackJournal == journal.old?.rollbackJournal
    else { throw Self.changed("since it was verified", journal.destination) }
  }

  /// A rename beside an old -wal or -journal would let SQLite apply it to the new store. The main file is whole by now.
  private func removeFilesBeside(_ journal: CutOverJournal) throws {
    let path = journal.destination
    var isAny = false
    for log in logs(journal) { isAny = try take(log, journal) || isAny }
    if try fileSystem.statusOfName(path + "-shm") != nil {
      try fileSystem.remove(path + "-shm")
      isAny = true
    }
    if isAny { try fileSystem.syncDirectory(FilePaths.directory(of: path)) }
  }

  /// A log beside the old store: its name, the one that it has in the job directory while it is taken away, and what
  /// was recorded of it.
  struct LogBeside {
    var path: String
    var taken: String
    var own: FileIdentity?
  }

  func logs(_ journal: CutOverJournal) -> [LogBeside] {
    [("-wal", journal.old?.wal), ("-journal", journal.old?.rollbackJournal)].map { suffix, own in
      LogBeside(path: journal.destination + suffix, taken: job.file("beside" + suffix), own: own)
    }
  }

  /// Takes a file beside the old store away. It goes through the job directory: one that came in the last moment gets
  /// its name back.
  private func take(_ log: LogBeside, _ journal: CutOverJournal) throws -> Bool {
    guard let status = try fileSystem.statusOfName(log.path) else { return false }
    guard status.size > 0 else {
      try fileSystem.remove(log.path)
      return true
    }
    try fileSystem.rename(log.path, to: log.taken)
    guard try fileSystem.statusOfName(log.taken).map(FileIdentity.init) == log.own else {
      if try fileSystem.statusOfName(log.path) == nil { try fileSystem.rename(log.taken, to: log.path) }
      throw Self.changed("in the last moment", journal.destination)
    }
    try fileSystem.remove(log.taken)
    return true
  }

  /// A file that came beside the old store in the last moment of an earlier try, which died before it could give the
  /// name back.
  private func giveBack(_ journal: CutOverJournal) throws {
    for log in logs(journal) {
      guard let status = try fileSystem.statusOfName(log.taken), FileIdentity(status) != log.own,
        try fileSystem.statusOfName(log.path) == nil
      else { continue }
      try fileSystem.rename(log.taken, to: log.path)
      try fileSystem.syncDirectory(FilePaths.directory(of: journal.destination))
    }
  }

  /// What goes with the backup: values outside of it, in a folder of its own (by links: the new store may lose them),
  /// and a receipt. A rollback brings back what the backup's folder has.
  private func keepCompanions(_ journal: CutOverJournal) throws {
    guard let backup = journal.backup else { return }
    let folders = ExternalDataCopy(fileSystem: fileSystem)
    try folders.take(from: journal.destination, to: backup)
    if let restored = journal.restores { try folders.take(from: restored, to: journal.destination, mayFollow: true) }
    let new = try StoreState(job.file(journal.newStore), fileSystem)
    try BackupReceipt(new: new, ownsFolder: journal.makesFolder).write(for: backup, fileSystem)
  }

  /// The backup has its old name again; the other one goes, with the record of the migration that is undone.
  func endRestoring(_ journal: CutOverJournal) throws {
    guard let restored = journal.restores else { return }
    if journal.old == nil {
      try ExternalDataCopy(fileSystem: fileSystem).take(from: restored, to: journal.destination, mayFollow: true)
    }
    for file in [restored, restored + "-shm", BackupReceipt.path(of: restored)] { try fileSystem.remove(file) }
    try fileSystem.syncDirectory(FilePaths.directory(of: restored))
  }

  /// A second name for the old file, which costs nothing; a copy where the file system knows no second names.
  private func keepBackup(_ journal: inout CutOverJournal, _ file: any File) throws {
    guard let backup = journal.backup, let main = journal.whole else { return }
    let directory = FilePaths.directory(of: backup)
    if try isSecondName(backup, of: main) { return try fileSystem.syncDirectory(directory) }
    if journal.phase != .copying {
      try refuseExisting(backup, "a backup of that name exists already")
      do {
        try fileSystem.link(journal.destination, to: backup)
        return try fileSystem.syncDirectory(directory)
      } catch let error as StreamsError where error.code == .unsupported {
        // From here on a file of the backup's name is ours.
        journal.phase = .copying
        try journal.write(job, fileSystem)
      }
    }
    try StoreCopy(fileSystem: fileSystem).copy(file, to: backup)
    try fileSystem.syncDirectory(directory)
  }

  private func isSecondName(_ path: String, of main: FileIdentity) throws -> Bool {
    main.isSameFile(as: try fileSystem.statusOfName(path).map(FileIdentity.init))
  }

  private static func changed(_ when: String, _ path: String) -> BatchError {
    let giveUp = ProgramName.command("clean", "--all", path)
    return BatchError(
      .refused, "the store was written to, or replaced, \(when)",
      hint:
        "It is left as it is. Close the program that uses it, and give this run up with \(giveUp); then migrate the store again",
      next: [giveUp.line], path: path)
  }

  static func inUse(_ path: String) -> BatchError {
    let resume = ProgramName.command("resume", path)
    return BatchError(
      .refused, "the old store is open in another process",
      hint: "Close every program that uses it, then go on with \(resume): only the cut-over is left to do",
      next: [resume.line],
      path: path)
  }
}
