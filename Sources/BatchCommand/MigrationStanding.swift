import Batch
import Streams

/// How the last migration of a store stands, in one word: what a job of cron asks.
enum MigrationStanding: String, Encodable {
  case running, resumable, failed, done, none
  /// It waits, and `resume` would refuse it.
  case unusable
  case rejects = "done-with-rejects"

  /// Of a status; what is over has left a report.
  init(_ status: JobStatus, of store: String, by job: MigrationJob) {
    switch status.state {
    case .running: self = .running
    case .interrupted, .cutOver, .finished: self = status.resumeRefusal == nil ? .resumable : .unusable
    case .failed: self = .failed
    case .none:
      let report = try? job.report(store)
      switch report?.outcome {
      case .done where report?.present?.isGone != true: self = .done
      case .doneWithRejects where report?.present?.isGone != true: self = .rejects
      // Whose record is gone, or another's.
      default: self = job.isPlain(store) ? .done : .none
      }
    }
  }
}

/// What `status` says of a store.
struct StandingDocument: Encodable {
  let status: JobStatus
  let standing: MigrationStanding
  /// How an interrupted run ended, as `report` calls it, or that the last one was rolled back.
  let ended: String?
  static let rolledBack = ReportWords.name(.rolledBack)
  private let isPlain: Bool

  init(_ status: JobStatus, of store: String, by job: MigrationJob) {
    self.status = status
    standing = MigrationStanding(status, of: store, by: job)
    isPlain = status.state == .none && job.isPlain(store)
    let report = [.interrupted, .none].contains(status.state) ? try? StoreLook.report(job, store) : nil
    switch status.state {
    case .interrupted: ended = report.map { ReportWords.end($0.outcome) }
    case .none: ended = report?.outcome == .rolledBack ? Self.rolledBack : nil
    case .running, .failed, .cutOver, .finished: ended = nil
    }
  }

  private enum Key: String, CodingKey { case standing, ended }

  func encode(to encoder: any Encoder) throws {
    try status.encode(to: encoder)
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(standing, forKey: .standing)
    try container.encodeIfPresent(ended, forKey: .ended)
  }

  func text(_ store: String) -> String {
    switch standing {
    case .done where isPlain: "\(store): no load is under way; this is the file of ordinary tables of one that is done"
    case .done: "\(store): no migration is under way; the last one is done"
    case .rejects where isPlain:
      "\(store): no load is under way; this is the file of ordinary tables of one that is done, with rejects"
    case .rejects: "\(store): no migration is under way; the last one is done, with rejects"
    case .running, .resumable, .unusable, .failed, .none: lines(store)
    }
  }

  private func lines(_ store: String) -> String {
    guard status.state != .none else {
      return "\(store): no migration is under way" + (ended.map { "; the last one was \($0)" } ?? "")
    }
    var lines = [
      "\(status.destination ?? store): \(status.state.rawValue)\(ended.map { " (\($0))" } ?? "")\(standing == .unusable ? ", cannot be resumed" : "")\(status.progress?.paused == true ? ", paused" : "")"
    ]
    func add(_ name: String, _ value: String?) {
      if let value { lines.append("  " + name.padding(toLength: 13, withPad: " ", startingAt: 0) + value) }
    }
    func ago(_ seconds: Double?) -> String { seconds.map { ", \(Console.duration($0)) ago" } ?? "" }
    add("source", status.source)
    add("target", status.target)
    add(
      "owner",
      status.owner.map {
        $0 + (status.secondsSinceSign.map { ", last sign of life \(Console.duration($0)) ago" } ?? "")
      }
    )
    let phase = status.phase.map { ", \($0)" } ?? ""
    let rows = status.phase == "finished" ? "" : ", \((status.rowsRead ?? 0).counted("row")) read in it"
    add("step", status.step.map { "\($0)\(rows)\(phase)" })
    add("checkpoint", status.checkpoint.map { "\($0)\(ago(status.secondsSinceCheckpoint))" })
    add("progress", status.progress.map { ProgressText($0).line })
    add("held by", status.heldBy.map { "\($0): the new store is put in place when this file is gone" })
    lines += status.problems.map { "  problem: \($0)" }
    return (lines + [status.advice].compactMap { $0 }).joined(separator: "\n")
  }

  /// The exit code of `status --check`; that of a missing file if there is neither a migration nor a store.
  func code(_ store: String) throws -> Int32 {
    switch standing {
    case .done: return 0
    case .rejects: return ExitCodes.rejects
    case .running: return ExitCodes.leaseHeld
    case .resumable: return ExitCodes.stopped
    case .unusable: return status.resumeRefusal ?? ExitCodes.refused
    case .failed: return status.failureCode ?? 1
    case .none:
      guard try LocalFileSystem().status(store) == nil else { return ExitCodes.nothingToDo }
      throw NearName.noSuchFile(store, "store")
    }
  }
}
