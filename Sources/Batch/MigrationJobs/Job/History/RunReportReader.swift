import CoreDataStore
import Foundation
import Migrations
import RunSupport
import Streams

extension MigrationJob {
  /// What became of the last migration to a path, or becomes of the one that is at work. `path` is the source of one
  /// that is not finished, the destination, or the job's directory. Nothing is written.
  ///
  /// - Throws: ``BatchError``: `refused` if no migration is known.
  public func report(_ path: String) throws -> RunReport {
    try BatchError.looking { try report(at: Self.destination(named: path)) }
  }

  private func report(at path: String) throws -> RunReport {
    let status = try status(path)
    if status.state != .none, let job = try JobRegistry(fileSystem).find(path) { return try report(job, status) }
    let job = try JobDirectory(destination: path)
    guard let history = RunHistory(path: job.record), history.facts != nil else {
      throw BatchError(
        .refused, "no migration to this path is known",
        hint:
          "Give the path that has the result, or the source of a migration that is not finished. One that is refused before its "
          + "first row leaves nothing", path: path)
    }
    return report(finished: history, job)
  }

  /// The last migration to a path that was finished, as ``RunReport/run`` calls it; nil if none is known. Nothing is
  /// written.
  public func finishedRun(_ path: String) -> String? {
    (try? JobDirectory(destination: path)).flatMap { RunHistory(path: $0.record)?.facts?.run }
  }

  /// The destination that a job's directory, or what stays of it, belongs to; any other path as it is.
  private static func destination(named path: String) -> String {
    let name = FilePaths.name(of: path)
    for suffix in [".godwit", ".godwit-report"] where name.hasPrefix(".") && name.hasSuffix(suffix) {
      return FilePaths.join(FilePaths.directory(of: path), String(name.dropFirst().dropLast(suffix.count)))
    }
    return path
  }

  private func report(finished history: RunHistory, _ job: JobDirectory) -> RunReport {
    var report = RunReport(outcome: .done, destination: job.destination)
    report.take(history)
    let finished = history.ends.first { $0.finished != nil }?.finished
    report.takeEntities(history, read: finished?.read ?? [:])
    if let rejects = finished?.rejects {
      report.outcome = .doneWithRejects
      report.rejects = RunReport.Rejects(
        count: rejects.count, path: rejects.path, first: firstRejects(rejects.path),
        groups: RejectGroups.groups(rejects.path),
        replay: rejects.replay(
          source: history.facts?.source ?? job.destination, backup: report.backup, destination: job.destination))
    }
    if let finished {
      report.look(history, finished: finished, fileSystem: fileSystem)
      if report.present == .rolledBack { takeRollback(of: job, finished, &report) }
    } else {
      report.problems.append("the run record does not say how the run ended")
    }
    report.advise(fileSystem, resume: ProgramName.command("resume", job.destination), leadsOn: false)
    return report
  }

  /// The backup has the store's name again, and what the migration made may have another one.
  private func takeRollback(of job: JobDirectory, _ finished: RunHistory.Finished, _ report: inout RunReport) {
    report.outcome = .rolledBack
    // A copy that somebody put back leaves it where it is.
    if let backup = report.backup, (try? fileSystem.statusOfName(backup)) ?? nil == nil {
      report.backup = nil
      report.rejects?.replay = nil
    }
    let setAside = (try? StoreBackup.all(of: job.destination, fileSystem))?.filter { $0.kind == .setAside } ?? []
    report.setAside = setAside.last { (try? StoreIdentity($0.path, fileSystem)) == finished.identity }?.path
  }

  /// What becomes of a load that is under way, or was killed. `migration` is the run before it, as long as that one is at
  /// work; `status` is the load's, with its destination.
  package func report(load job: JobDirectory, migration: JobDirectory?, _ status: JobStatus) throws -> RunReport {
    var report = try report(migration ?? job, status, form: PlainMark.form)
    guard migration != nil, let facts = RunHistory(path: job.history)?.facts else { return report }
    (report.settings, report.run, report.source) = (facts.settings, facts.run, facts.source)
    return report
  }

  private func report(_ job: JobDirectory, _ status: JobStatus, form: String? = nil) throws -> RunReport {
    var report = RunReport(outcome: .interrupted, destination: status.destination ?? job.destination)
    let history = RunHistory(path: job.history) ?? (job.generation > 1 ? RunHistory(path: job.preceding.history) : nil)
    let known = history ?? RunHistory()
    report.take(known)
    // A process that runs has no end yet; one that is killed has none at all.
    let last = known.ends.last.flatMap { $0.process == known.processes.last?.number ? $0 : nil }
    switch status.state {
    case .running:
      report.outcome = status.progress?.paused == true ? .paused : .running
      (report.progress, report.done) = (status.progress, status.progress?.fraction ?? report.done)
    case .cutOver, .finished: report.outcome = .cutOver
    case .none, .interrupted, .failed:
      if let last { report.outcome = last.code == BatchError.Code.stopped.description ? .stopped : .failed }
    }
    if status.state != .running {
      report.resumable = status.state != .failed && status.resumeRefusal == nil
      (report.failureCode, report.resumeRefusal) = (status.failureCode, status.resumeRefusal)
      (report.reason, report.advice) = (last?.reason, last?.hint.map { [$0] } ?? [])
    }
    if history == nil { report.problems.append("the run has no record that can be read") }
    report.problems += status.problems
    (report.source, report.targetVersion) = (report.source ?? status.source, report.targetVersion ?? status.target)
    try addCheckpoint(job, history: known, report: &report)
    // What a killed process did in its last second is in no history.
    report.checkpoints = max(report.checkpoints, status.checkpoint ?? 0)
    report.rowsRead = max(report.rowsRead, status.rowsRead ?? 0)
    report.form = form
    advise(&report, status, resume: command(["resume", report.destination], on: job), last: last)
    return report
  }

  private func advise(
    _ report: inout RunReport, _ status: JobStatus, resume: AdvisedCommand, last: RunHistory.End?
  ) {
    let (advice, leadsOn) = (status.advice.map { [$0] } ?? [], last.map(Self.leadsOn) == true)
    if status.resumeRefusal != nil || report.form != nil, status.state != .running {
      report.advice = advice
    } else if status.state == .failed {
      // Going on would end as it did.
      report.advice += leadsOn ? [] : advice
    } else {
      report.advise(fileSystem, resume: resume, leadsOn: status.state != .running && leadsOn)
    }
  }

  /// Whether the hint of a process's error says how to go on. A run cannot go on from checkpoints that are no good.
  private static func leadsOn(_ end: RunHistory.End) -> Bool {
    let codes: [BatchError.Code] = [
      .badCheckpoint, BatchError.Code(.damagedCheckpoint), BatchError.Code(.foreignCheckpoint),
    ]
    return end.hint != nil && (end.next?.isEmpty == false || codes.map(\.description).contains(end.code))
  }

  /// What the newest checkpoint says of finished steps and of rejected objects.
  private func addCheckpoint(_ job: JobDirectory, history: RunHistory, report: inout RunReport) throws {
    var position: RunPosition?
    do {
      let found = try CheckpointStore(directory: job.checkpoints, fileSystem: fileSystem).newestReadable()
      position = try found.map { try RunPosition($0.checkpoint, steps: .max) }
    } catch let error as StreamsError where error.code == .damagedCheckpoint {
      // The status says so.
    }
    report.steps = position?.accounts.map(RunHistory.Tally.init) ?? []
    report.takeEntities(history, read: RunHistory.Tally.read(position?.accounts.first))
    if let rejects = position?.rejects, rejects.total > 0 {
      let path = job.working("step-rejects.jsonl")
      report.rejects = RunReport.Rejects(
        count: rejects.total, path: path, first: firstRejects(path), groups: RejectGroups.groups(path))
    }
  }

  /// The first objects of a list, as far as it can be understood.
  private func firstRejects(_ path: String) -> [RunReport.Reject] {
    guard let file = try? LocalFileSystem().open(path, .read) else { return [] }
    defer { file.close() }
    var bytes = [UInt8](repeating: 0, count: 1 << 18)
    guard let count = try? bytes.withUnsafeMutableBytes({ try file.read(into: $0, at: 0) }) else { return [] }
    let lines = bytes[..<count].split(separator: 0x0A, maxSplits: 20).prefix(20)
    return lines.compactMap { try? JSONDecoder().decode(RunReport.Reject.self, from: Data($0)) }.map { reject in
      var short = reject
      short.reason = String(reject.reason.prefix(400))
      return short
    }
  }
}

extension RunReport {
  /// What to do now. `leadsOn`: the advice there is says how to go on.
  fileprivate mutating func advise(_ fileSystem: any FileSystem, resume: AdvisedCommand, leadsOn: Bool) {
    func command(_ words: String...) -> AdvisedCommand { ProgramName.command(words + [destination]) }
    switch outcome {
    case .done, .doneWithRejects:
      guard present?.isGone != true else {
        return advice.append("Look at the store there now, and at the backups beside it, before you do anything else")
      }
      if rejects != nil {
        advice.append(
          "Look at the rejected objects, and correct the mapping or the data; then "
            + (form == nil ? "migrate the old store again" : "load the store again, to another path"))
      }
      guard let backup else { return }
      let isThere = (try? fileSystem.statusOfName(backup)) ?? nil
      advice.append(
        isThere == nil
          ? "The backup is no longer there: it was put back, removed or moved"
          : (rejects == nil ? "No action is needed. " : "")
            + (present == .written
              ? "\(command("rollback", "--force")) puts the old store back, without what was written since; "
              : "\(command("rollback")) puts the old store back; ")
            + "remove the backup when you no longer need it")
    case .rolledBack: advice.append(rolledBack(command("clean", "--keep-rolled-back", "0")))
    case .running: advice.append("Follow it with \(command("status", "--watch"))")
    case .paused: advice.append("Resume it with \(command("ctl", "resume"))")
    case .cutOver: advice.append("Put the new store in place with \(resume)")
    case .stopped, .interrupted, .failed:
      guard !leadsOn else { return }
      advice.append("The source is untouched. Resume from the last checkpoint with \(resume)")
    }
  }

  private func rolledBack(_ clean: AdvisedCommand) -> String {
    let rest = setAside.map { "The store that the migration made is set aside as \($0); \(clean) removes it" }
    return "The old store is in its place again. \(rest ?? "Nothing is left to do")"
  }
}
