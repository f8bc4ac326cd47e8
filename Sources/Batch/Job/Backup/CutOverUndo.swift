import Foundation
import Streams

extension CutOver {
  /// Takes back what a cut-over made outside of the job directory before its new store got the name, so that the run can be given up. The
  /// journal stays. Does nothing where the new store has its name, and in phase `done`.
  ///
  /// Returns the backup that stays, since it is the only one with the old store's contents by now; nil where none does.
  func undo() throws -> String? {
    guard let journal = try CutOverJournal.read(job, fileSystem), try !isBehindRename(journal),
      try ![.new, .newWritten].contains(holder(journal))
    else { return nil }
    let kept = try takeBack(journal)
    try setAside(journal)
    return kept
  }

  /// Forgets a cut-over that was taken back, before what it needs goes: nobody shall be told to finish it. That of a new store that had its name
  /// stays to the last.
  func forget() throws {
    guard let journal = try CutOverJournal.read(job, fileSystem), try !isBehindRename(journal),
      try ![.new, .newWritten].contains(holder(journal))
    else { return }
    try fileSystem.remove(job.cutOver)
    try fileSystem.syncDirectory(job.path)
  }

  private func takeBack(_ journal: CutOverJournal) throws -> String? {
    try takeFolderBack(journal)
    guard let backup = journal.backup else { return nil }
    try fileSystem.remove(backup + ".new")
    guard let kept = try FileIdentity(database: backup, fileSystem) else {
      try removeCompanions(of: backup, journal)
      return nil
    }
    let isLink = kept.isSameFile(as: journal.whole ?? journal.old?.main)
    // Another file of that name is nobody's business.
    guard isLink || journal.phase == .copying else { return nil }
    let now = try FileIdentity(database: journal.destination, fileSystem)
    guard isLink ? kept.isSameFile(as: now) : now == journal.whole else { return backup }
    try fileSystem.remove(backup)
    try removeCompanions(of: backup, journal)
    try fileSystem.syncDirectory(FilePaths.directory(of: backup))
    return nil
  }

  /// The new store's name in the job directory may lead to somebody's data: to a file that came in the last moment of the exchange, or to the
  /// new store, written to before it was taken back. That is no leftover: it is kept beside the store.
  private func setAside(_ journal: CutOverJournal) throws {
    let left = job.file(journal.newStore)
    guard let found = try FileIdentity(database: left, fileSystem) else { return }
    let names = [journal.destination, journal.backup, journal.restores].compactMap(\.self)
    let hasOtherName = try names.contains { try found.isSameFile(as: fileSystem.statusOfName($0).map(FileIdentity.init)) }
    // Of a rollback it is the backup, or its copy.
    let isLeftover = try journal.restores.map { try fileSystem.statusOfName($0) != nil } ?? true
    guard !hasOtherName, !isLeftover || !found.hasSameContents(as: journal.new) else { return }
    let now = Date().timeIntervalSinceReferenceDate
    let suffix = try StoreBackup.freeSuffix(.setAside, of: journal.destination, now, fileSystem)
    try fileSystem.rename(left, to: StoreBackup.path(of: journal.destination, suffix: suffix))
    try fileSystem.syncDirectory(FilePaths.directory(of: journal.destination))
  }

  private func removeCompanions(of backup: String, _ journal: CutOverJournal) throws {
    let receipt = BackupReceipt.path(of: backup)
    for path in [receipt, receipt + ".new"] { try fileSystem.remove(path) }
    try StoreBackup.removeFolder(of: backup, isOwned: journal.makesFolder, fileSystem)
  }
}
