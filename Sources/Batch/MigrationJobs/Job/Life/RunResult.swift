import RunSupport
import Streams

/// What is under the destination's name after a cut-over: looked at before anything is claimed (I15).
struct RunResult: Equatable {
  var destination: String
  /// What has become of the new store.
  var holder: CutOver.Holder
  /// What is there now; nil if it is no store that can be read, or nothing.
  var present: StoreMark?
  /// What the journal says of it, and of its run.
  var expected: StoreMark?
  var facts: RunFacts?
  /// Of a rollback the backup that was put back.
  var restored: String?

  /// Whether the new store is there, written to since or not.
  var isThere: Bool { holder.isNew }
  /// What a person should know in addition.
  var notes: [String] {
    holder == .newWritten ? ["the store was written to since the migrated one got its name"] : []
  }

  /// The version that is there now, in words.
  private var version: String {
    guard holder != .missing else { return "it is missing now" }
    guard let present else { return "it is no Core Data store now" }
    switch present.hashes {
    case expected?.hashes: return "it is at version \(facts?.targetVersion ?? "") now, by another way"
    case facts?.sourceHashes: return "it is at version \(facts?.sourceVersion ?? "") now"
    default: return "it is at another version now"
    }
  }

  /// What a run that an earlier process finished except for its removal came to. Throws `refused` if the store was
  /// replaced since: then the migration is no more, whatever the journal says.
  func report(_ backup: String?, _ fileSystem: any FileSystem) throws -> MigrationJob.Report {
    try throwIfReplaced(fileSystem)
    let rejects = try rejects(fileSystem)
    var report = MigrationJob.Report(
      destination: destination, backup: try backup.flatMap { try fileSystem.statusOfName($0) != nil ? $0 : nil },
      sourceVersion: facts?.sourceVersion ?? "", targetVersion: facts?.targetVersion ?? "",
      steps: isThere ? facts?.steps ?? 1 : 0,
      isVerified: isThere && facts?.isVerified == true, bytes: try fileSystem.status(destination)?.size ?? 0,
      notes: notes)
    (report.rejects, report.restored) = (rejects, restored)
    report.replay = rejects?.replay(
      source: facts?.source ?? destination, backup: report.backup, destination: destination)
    return report
  }

  /// The list of rejected objects, which went beside the store first.
  private func rejects(_ fileSystem: any FileSystem) throws -> RejectReport? {
    guard let name = facts?.rejects else { return nil }
    let path = FilePaths.join(FilePaths.directory(of: destination), name)
    return try fileSystem.status(path) == nil ? nil : RejectReport(list: path, arguments: facts?.arguments, fileSystem)
  }

  /// Throws where another store is there than the migration's, unless that is at the target version, too.
  func throwIfReplaced(_ fileSystem: any FileSystem) throws {
    let what = restored == nil ? "migration" : "rollback"
    guard !isThere, present == nil || present?.hashes != expected?.hashes || facts == nil else { return }
    let words = facts.flatMap { facts in
      facts.arguments.flatMap {
        ReplayCommand.words(
          $0, source: facts.source ?? destination, output: facts.source == nil ? nil : destination, restarts: false)
      }
    }
    let command = words.map(ProgramName.command)
    let again =
      command.map { "Migrate it with \($0)" } ?? (restored == nil ? "Migrate it again" : "Nothing is left to do")
    throw BatchError(
      .refused, "the \(what) had ended, but the store was replaced since: \(version)",
      hint: holder == .missing ? "Put a store back, then: \(again.lowercasedFirst)" : again, effect: .unknown,
      next: command.map { [$0.line] } ?? [], path: destination)
  }
}

extension String {
  /// With a small first letter.
  fileprivate var lowercasedFirst: String { prefix(1).lowercased() + dropFirst() }
}

extension CutOver {
  /// The journal of a cut-over that is finished, or under way.
  func journal() throws -> CutOverJournal {
    guard let journal = try CutOverJournal.read(job, fileSystem) else {
      throw BatchError(.failed, "there is no cut-over to look at", path: job.cutOver)
    }
    return journal
  }

  /// Looks at what is under the destination's name after a cut-over. Nothing is written. The journal itself may be
  /// gone.
  func result(_ journal: CutOverJournal) throws -> RunResult {
    let holder = try holder(journal)
    let present = holder == .new ? journal.mark : StoreMark(of: journal.destination, fileSystem)
    return RunResult(
      destination: journal.destination, holder: holder, present: present, expected: journal.mark,
      facts: journal.run, restored: journal.restores)
  }
}
