import Streams

// What the destination's name leads to while a journal is there: asked before every claim and every change.
extension CutOver {
  /// Who has the destination's name.
  enum Holder: Equatable {
    /// The old store as it was verified; of a destination that did not exist, nobody.
    case old
    /// The new store as it was made.
    case new
    /// The new store, and somebody has written to it since.
    case newWritten
    /// Neither: the old store was written to, or another file has its name.
    case other
    /// Nobody, where a store was.
    case missing

    /// Whether it is the new store, written to since or not.
    var isNew: Bool { self == .new || self == .newWritten }
  }

  /// Whether the rename is done, whatever has become of the new store since. Nothing but the rename takes it out of the
  /// job directory.
  func isBehindRename(_ journal: CutOverJournal) throws -> Bool {
    try journal.phase == .done || fileSystem.statusOfName(job.file(journal.newStore)) == nil
  }

  /// Whether the new store had its name and has it no longer.
  func isLost(_ journal: CutOverJournal, _ holder: Holder) throws -> Bool {
    try !holder.isNew && isBehindRename(journal)
  }

  /// Whether the new store in the job directory is as it was made. After an exchange another file has its name there.
  func hasNewStore() throws -> Bool {
    guard let journal = try CutOverJournal.read(job, fileSystem) else { return false }
    return try FileIdentity(database: job.file(journal.newStore), fileSystem)?.hasSameContents(as: journal.new) == true
  }

  /// Looks at the destination. An inode alone proves nothing: a file that is removed leaves its number to the next one.
  func holder(_ journal: CutOverJournal) throws -> Holder {
    guard try fileSystem.statusOfName(journal.destination) != nil else {
      return try journal.old == nil && !isBehindRename(journal) ? .old : .missing
    }
    guard let now = try FileIdentity(database: journal.destination, fileSystem) else { return .other }
    if let new = newStore(journal, now) { return new }
    return try !isBehindRename(journal) && isOld(journal) ? .old : .other
  }

  /// The new store is the same file with the same contents, or the same file and still that store at that version, or,
  /// where the folder was moved, a copy with the same time and that mark.
  private func newStore(_ journal: CutOverJournal, _ now: FileIdentity) -> Holder? {
    let (isFile, isSame) = (now.isSameFile(as: journal.new), now.hasSameContents(as: journal.new))
    if isFile, isSame { return .new }
    guard isFile || isSame else { return nil }
    guard let mark = journal.mark else { return isFile ? .newWritten : nil }
    guard StoreMark(of: journal.destination, fileSystem) == mark else { return nil }
    return isSame ? .new : .newWritten
  }

  /// Whether the old store is what was recorded of it. Before it is whole, SQLite may have been bringing its log into
  /// the main file.
  private func isOld(_ journal: CutOverJournal) throws -> Bool {
    guard let old = journal.old, let now = try? OldStoreIdentity(journal.destination, fileSystem) else { return false }
    if journal.phase == .started {
      return now.wal == old.wal && now.rollbackJournal == old.rollbackJournal && now.main.isSameFile(as: old.main)
    }
    return now.main == journal.whole && (now.wal == nil || now.wal == old.wal)
      && (now.rollbackJournal == nil || now.rollbackJournal == old.rollbackJournal)
  }
}
