import Foundation
import Streams

extension CutOver {
  /// Takes back what a cut-over made outside of the job directory before its new store got the name, so that the run
  /// can be given up. The journal stays. Does nothing where the new store has its name, and in phase `done`.
  ///
  /// Returns what stays beside the store: a backup that is the only one with the old store's contents by now, and what
  /// was set aside (I15).
  func undo() throws -> [String] {
    guard let journal = try journalBeforeRename() else { return [] }
    // First: a folder of external data stays as long as a file has it by its name.
    let aside = try setAside(journal)
    return try [takeBack(journal), aside].compactMap(\.self)
  }

  /// Forgets a cut-over that was taken back, before what it needs goes: nobody must be advised to finish it. That of a
  /// new store that had its name stays to the last.
  func forget() throws {
    guard try journalBeforeRename() != nil else { return }
    try fileSystem.remove(job.cutOver)
    try fileSystem.syncDirectory(job.path)
  }

  /// The journal of a cut-over whose new store never had its name; nil for any other, and if there is none.
  private func journalBeforeRename() throws -> CutOverJournal? {
    guard let journal = try CutOverJournal.read(job, fileSystem), try !isBehindRename(journal),
      try !holder(journal).isNew
    else { return nil }
    return journal
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

  /// The new store's name in the job directory may lead to somebody's data: to a file that came in the last moment of
  /// the exchange, or to the new store, written to before it was taken back. That is no leftover: it is kept beside the
  /// store.
  private func setAside(_ journal: CutOverJournal) throws -> String? {
    let left = job.file(journal.newStore)
    guard let found = try FileIdentity(database: left, fileSystem) else { return nil }
    // Of a rollback it is the backup, or its copy.
    let isLeftover = try journal.restores.map { try fileSystem.statusOfName($0) != nil } ?? true
    guard !isLeftover || !found.hasSameContents(as: journal.new) else { return nil }
    return try setAside(left, of: journal)
  }

  /// Gives a file in the job directory a name beside the store, unless it has one. The one that it has stays, for the
  /// journal needs it.
  func setAside(_ left: String, of journal: CutOverJournal) throws -> String? {
    let found = try FileIdentity(database: left, fileSystem)
    let aside = try StoreBackup.all(of: journal.destination, fileSystem).filter { $0.kind == .setAside }.map(\.path)
    let names = [journal.destination, journal.backup, journal.restores].compactMap(\.self) + aside
    guard
      try !names.contains(where: {
        try found?.isSameFile(as: fileSystem.statusOfName($0).map(FileIdentity.init)) == true
      })
    else { return nil }
    let now = Date().timeIntervalSinceReferenceDate
    let suffix = try StoreBackup.freeSuffix(.setAside, of: journal.destination, now: now, fileSystem: fileSystem)
    let path = StoreBackup.path(of: journal.destination, suffix: suffix)
    do { try fileSystem.link(left, to: path) } catch let error as StreamsError where error.code == .unsupported {
      let file = try fileSystem.open(left, .read)
      defer { file.close() }
      try StoreCopy(fileSystem: fileSystem).copy(file, to: path)
    }
    try fileSystem.syncDirectory(FilePaths.directory(of: journal.destination))
    return path
  }

  /// Removes what a cut-over made for a backup that is not there.
  func removeCompanions(of backup: String, _ journal: CutOverJournal) throws {
    let receipt = BackupReceipt.path(of: backup)
    for path in [receipt, receipt + ".new"] { try fileSystem.remove(path) }
    try StoreBackup.removeFolder(of: backup, isOwned: journal.makesFolder, fileSystem)
  }
}
