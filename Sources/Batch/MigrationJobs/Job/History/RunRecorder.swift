import CoreDataStore
import Foundation
import Logging
import Migrations
import RunSupport
import Streams
import Synchronization

/// Writes a run's history, and ends no run by failing to: the failure is reported instead.
///
/// It goes past the run's own `FileSystem`, as `RunPulse` does: nothing here is ever read to resume a run, and nothing
/// has to be durable.
package final class RunRecorder: Sendable {
  struct State {
    var file: HistoryFile?
    var process = 1
    var last = -Double.infinity
    var problem: String?
    /// What was done before what the samples count.
    var before: RunHistory.Sample?
  }

  private let record: String
  private let logger: Logger
  private let state = Mutex(State())

  /// A process begins to work on a run: the first one of it if `isNew`.
  convenience init(_ job: JobDirectory, plan: JobPlan, isNew: Bool, logger: Logger) {
    self.init(
      job, facts: RunHistory.Facts(plan, run: plan.name), record: job.record, isNew: isNew, logger: logger)
  }

  /// The same for any work with a job directory. `record` is the path of what stays of it.
  package init(_ job: JobDirectory, facts: RunHistory.Facts, record: String, isNew: Bool, logger: Logger) {
    (self.record, self.logger) = (record, logger)
    attempt { state in
      var file = try HistoryFile(job, run: facts.run, isNew: isNew)
      state.process = (file.history.processes.last?.number ?? 0) &+ 1
      let owner = LeaseOwner.current(epoch: 0)
      defer { state.file = file }
      try Self.add(facts, to: &file)
      try file.add(
        RunHistory.Line(
          process: RunHistory.Process(number: state.process, at: Self.now, pid: owner.pid, host: owner.host)))
    }
  }

  /// A process that resumes a run may have been given other settings.
  private static func add(_ facts: RunHistory.Facts, to file: inout HistoryFile) throws {
    var facts = facts
    if let earlier = file.history.facts { facts.program = earlier.program }
    if file.history.facts != facts { try file.add(RunHistory.Line(facts: facts)) }
  }

  private static var now: Double { (Date().timeIntervalSince1970 * 1000).rounded() / 1000 }

  /// The fraction that was shown last before this process says anything; nil where nothing was.
  var shownBefore: Double? { state.withLock { $0.file?.history.samples.last?.done } }

  /// The most resident bytes that a process of the run was seen with.
  var mostMemory: UInt64 { state.withLock { $0.file?.history.samples.map(\.memory).max() ?? 0 } }

  func attempt(_ body: (inout State) throws -> Void) {
    state.withLock { state in
      do { try body(&state) } catch {
        guard state.problem == nil else { return }
        state.problem =
          "the run record cannot be written, so \(ProgramName.current) report will not show all of the run: \(error)"
        logger.warning("\(state.problem ?? "")")
      }
    }
  }

  /// What a person should know of the history.
  package var notes: [String] { state.withLock { $0.problem.map { [$0] } ?? [] } }

  /// The path, and what the source has, unless an earlier process has said so. `fingerprint` is the source's.
  func describe(_ steps: [MigrationStep], _ source: StoreReader, fingerprint: String) {
    attempt { state in
      guard state.file?.history.origin == nil, let first = steps.first else { return }
      try state.file?.add(
        RunHistory.Line(
          origin: RunHistory.Origin(
            steps: steps.map(RunHistory.Step.init),
            bytes: source.byteCount,
            entities: RunHistory.Size.all(source, model: first.origin), fingerprint: fingerprint)))
    }
  }

  /// Called about once a second.
  func sample(_ progress: MigrationProgress) {
    attempt { state in
      let now = Self.now
      guard let every = state.file?.history.every, abs(now - state.last) >= 0.9 * every else { return }
      try Self.add(progress, now: now, state: &state)
    }
  }

  private static func add(_ progress: MigrationProgress, now: Double, state: inout State) throws {
    state.last = now
    var sample = RunHistory.Sample(
      process: state.process, at: now, rows: progress.rows, bytes: progress.bytes, memory: ProcessMemory.resident,
      checkpoints: progress.checkpoints, done: (progress.fraction * 1e4).rounded() / 1e4, step: progress.step,
      activity: String(progress.activity.prefix(200)), paused: progress.isPaused,
      waited: progress.waited > 0 ? (progress.waited * 1000).rounded() / 1000 : nil)
    if let before = state.before { sample.follow(before) }
    try state.file?.add(RunHistory.Line(sample: sample))
  }

  /// The process ends, and the run is not finished.
  package func end(_ error: any Error, _ progress: MigrationProgress) {
    attempt { state in
      try Self.add(progress, now: Self.now, state: &state)
      try state.file?.add(RunHistory.Line(end: RunHistory.End(error, process: state.process, at: Self.now)))
    }
    close()
  }

  /// The run is finished, and its directory about to go: what was written down gets a place beside the store.
  package func finish(_ finished: RunHistory.Finished, _ progress: MigrationProgress) {
    attempt { state in
      try Self.add(progress, now: Self.now, state: &state)
      try state.file?.add(
        RunHistory.Line(end: RunHistory.End(process: state.process, at: Self.now, finished: finished)))
      try state.file?.keep(as: record)
    }
    close()
  }

  /// Ends the history of a run without a plan that another process has all but finished. Nothing depends on it.
  static func end(_ job: JobDirectory, report: MigrationJob.Report, _ fileSystem: any FileSystem) {
    guard let run = RunHistory(path: job.history)?.facts?.run, var file = try? HistoryFile(job, run: run) else {
      return
    }
    defer { file.close() }
    let finished = RunHistory.Finished(
      backup: report.backup, bytes: report.bytes, entities: [], tallies: [], read: [:], notes: report.notes,
      result: try? StoreState(report.destination, fileSystem),
      identity: try? StoreIdentity(report.destination, fileSystem))
    let process = file.history.processes.last?.number ?? 1
    try? file.add(RunHistory.Line(end: RunHistory.End(process: process, at: now, finished: finished)))
    try? file.keep(as: job.record)
  }

  /// Writes nothing more.
  package func close() {
    state.withLock { state in
      state.file?.close()
      state.file = nil
    }
  }
}
