import RunSupport
import Streams

/// What a finished cut-over left behind.
public struct CutOverResult: Sendable, Equatable {
  /// The path that has the new store.
  public var destination: String
  /// The path that has the old one, if there was one.
  public var backup: String?
}

/// Gives a finished and verified store its final name (I9).
///
/// At every instant a crash leaves at the destination either the old store whole or the new one whole. A cut-over that
/// was interrupted is finished by ``resume()``; ask it *before* checking the source's fingerprint, because an in-place
/// cut-over changes the source on its way. The journal stays until ``clear()`` or the removal of the job directory, so
/// that a crash between the cut-over and what the caller does after it is not taken for a run without a new store.
public struct CutOver: Sendable {
  let fileSystem: any FileSystem
  let job: JobDirectory

  /// For the job that holds the new store. The caller has the job's lease.
  public init(fileSystem: any FileSystem, job: JobDirectory) {
    self.fileSystem = fileSystem
    self.job = job
  }

  /// Whether a cut-over was begun, and not cleared since. Nothing is written.
  ///
  /// - Throws: ``BatchError``, and `StreamsError` of the disk below.
  public func isPending() throws -> Bool { try fileSystem.status(job.cutOver) != nil }

  /// Forgets a finished cut-over, durably, once everything that follows it is done as well. One that is not finished is
  /// kept, and `refused` is thrown.
  ///
  /// - Throws: ``BatchError``, and `StreamsError` of the disk below.
  public func clear() throws {
    guard let journal = try CutOverJournal.read(job, fileSystem) else { return }
    guard journal.phase == .done else {
      throw BatchError(.refused, "the cut-over is not finished", hint: "Finish it first", path: job.cutOver)
    }
    try fileSystem.remove(job.cutOver)
    try fileSystem.syncDirectory(job.path)
  }

  /// Puts `newStore` in the destination's place; one that was begun earlier is finished instead, and one that was
  /// finished is reported again.
  ///
  /// - Parameters:
  ///   - newStore: a file directly in the job directory, verified and closed. Its folder of external data lies beside
  ///     it there.
  ///   - destination: the path that the job directory was made for.
  ///   - inPlace: replace the store there and keep it as `<destination>.<backupSuffix>`; otherwise nothing may exist.
  ///   - backupSuffix: used only in place.
  ///   - restores: the backup that `newStore` is, for a rollback: it keeps its own owner and mode, and its name goes.
  ///   - verifySourceUnchanged: throws when the source is not the one that was read. Called once, in place only,
  ///     before the old store is touched. The caller holds no lock and no connection on the old store by then.
  ///
  /// On return everything is durable.
  ///
  /// - Throws: ``BatchError``: `refused` before any change when the names are taken or the old store is in use.
  public func run(
    newStore: String, destination: String, inPlace: Bool, backupSuffix: String = "backup", restores: String? = nil,
    verifySourceUnchanged: () throws -> Void
  ) throws -> CutOverResult {
    try run(
      newStore: newStore, destination: destination, inPlace: inPlace, backupSuffix: backupSuffix, restores: restores,
      facts: nil,
      verifySourceUnchanged: verifySourceUnchanged)
  }

  func run(
    newStore: String, destination: String, inPlace: Bool, backupSuffix: String, restores: String? = nil,
    facts: RunFacts?,
    verifySourceUnchanged: () throws -> Void
  ) throws -> CutOverResult {
    if let finished = try resume() { return finished }
    guard try JobDirectory.resolve(destination) == job.destination,
      try JobDirectory.resolve(FilePaths.directory(of: newStore)) == job.path
    else { throw BatchError(.refused, "the new store and the destination are not those of this job", path: newStore) }
    let new = try readyStore(newStore)
    var journal =
      inPlace
      ? try startInPlace(
        new, newStore: newStore, backupSuffix: backupSuffix, adopts: restores == nil,
        verifySourceUnchanged: verifySourceUnchanged)
      : try startBeside(new, newStore)
    (journal.restores, journal.run, journal.mark) = (restores, facts, StoreMark(of: newStore, fileSystem))
    if !inPlace, restores == nil { journal.folder = try folder(of: newStore) }
    try journal.write(job, fileSystem)
    return try finish(journal)
  }

  /// Finishes a cut-over that was interrupted, reports one that was finished, and returns nil when there is none. May
  /// itself be interrupted.
  ///
  /// - Throws: ``BatchError``: `refused` if the destination is neither the old store nor the new one.
  public func resume() throws -> CutOverResult? {
    try CutOverJournal.read(job, fileSystem).map(finish)
  }

  /// The new store's bytes made durable. A file beside it would be lost by the rename, so there must be none.
  private func readyStore(_ path: String) throws -> FileIdentity {
    for suffix in ["-wal", "-journal"] where try fileSystem.statusOfName(path + suffix) != nil {
      throw BatchError(.failed, "the new store is not closed: \(path)\(suffix) exists", path: path)
    }
    let file = try fileSystem.open(path, .update)
    defer { file.close() }
    try file.sync()
    guard let new = try FileIdentity(database: path, fileSystem) else {
      throw BatchError(.failed, "the new store vanished", path: path)
    }
    return new
  }

  private func startBeside(_ new: FileIdentity, _ newStore: String) throws -> CutOverJournal {
    try refuseExisting(job.destination, "the destination exists already")
    // Trap 13: SQLite would apply what lies beside the name to the new store.
    for suffix in ["-wal", "-journal"] {
      try refuseExisting(job.destination + suffix, "a file of an earlier store lies beside the destination")
    }
    return CutOverJournal(
      phase: .started, newStore: FilePaths.name(of: newStore), new: new, destination: job.destination)
  }

  private func finish(_ journal: CutOverJournal) throws -> CutOverResult {
    var journal = journal
    if journal.phase != .done {
      // A new store that had its name, and was replaced or removed since, is nobody's business any longer.
      if try !isLost(journal, holder(journal)) {
        if journal.old == nil { try putBeside(journal) } else { try replace(&journal) }
        try endRestoring(journal)
      }
      // What an earlier try had taken away, or had begun to write down of a backup that it never made, when it died.
      for log in logs(journal) { try fileSystem.remove(log.taken) }
      if let backup = journal.backup, try fileSystem.statusOfName(backup) == nil {
        try removeCompanions(of: backup, journal)
      }
      journal.phase = .done
      try journal.write(job, fileSystem)
    }
    let isKept = try journal.backup.map { try fileSystem.statusOfName($0) != nil } ?? false
    return CutOverResult(destination: journal.destination, backup: isKept ? journal.backup : nil)
  }

  /// A link and not a rename: a link never replaces a file that came into being meanwhile.
  private func putBeside(_ journal: CutOverJournal) throws {
    let newStore = job.file(journal.newStore)
    switch try holder(journal) {
    case .new, .newWritten: break
    case .other: try refuseExisting(journal.destination, "the destination exists already")
    case .old, .missing:
      try putFolderBeside(journal)
      do {
        try fileSystem.link(newStore, to: journal.destination)
      } catch let error as StreamsError where error.code == .unsupported {
        try refuseExisting(journal.destination, "the destination exists already")
        try fileSystem.rename(newStore, to: journal.destination)
      }
    }
    try fileSystem.syncDirectory(FilePaths.directory(of: journal.destination))
    try fileSystem.remove(newStore)
  }

  func refuseExisting(_ path: String, _ why: String) throws {
    guard try fileSystem.statusOfName(path) != nil else { return }
    throw goOnOrGiveUp(why, "Move it away", path: path)
  }

  /// A refusal that somebody can clear away before the run goes on.
  func goOnOrGiveUp(_ why: String, _ first: String, path: String, resume: AdvisedCommand? = nil) -> BatchError {
    let resume = resume ?? ProgramName.command("resume", job.destination)
    let giveUp = ProgramName.command("clean", "--all", job.destination)
    return BatchError(
      .refused, why, hint: "\(first), then go on with \(resume), or give the run up with \(giveUp)",
      next: [resume.line, giveUp.line],
      path: path)
  }

  /// The refusal of a run to another path than its source's, as long as something is there; nil if nothing is.
  func takenOutput(_ plan: JobPlan, resume: AdvisedCommand? = nil) throws -> BatchError? {
    guard try !plan.isInPlace && fileSystem.statusOfName(plan.destination) != nil else { return nil }
    return goOnOrGiveUp(
      "something has come to the output's name since the run began", "Move it away", path: plan.destination,
      resume: resume)
  }
}
