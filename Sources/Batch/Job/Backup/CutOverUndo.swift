import Streams

extension CutOver {
  /// Takes back what a cut-over made outside of the job directory before its new store got the name, so that the run can be given up. The
  /// journal stays. Does nothing where the new store has its name, and in phase `done`.
  ///
  /// Returns the backup that stays, since it is the only one with the old store's contents by now; nil where none does.
  func undo() throws -> String? {
    guard let journal = try CutOverJournal.read(job, fileSystem), journal.phase != .done else { return nil }
    if try [.new, .newWritten].contains(holder(journal)) { return nil }
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

  private func removeCompanions(of backup: String, _ journal: CutOverJournal) throws {
    let receipt = BackupReceipt.path(of: backup)
    for path in [receipt, receipt + ".new"] { try fileSystem.remove(path) }
    try StoreBackup.removeFolder(of: backup, isOwned: journal.makesFolder, fileSystem)
  }
}
