import Foundation
import Glibc
import Migrations
import RunSupport
import Streams

/// How far a migration is, read from its job directory without touching it (trap 1).
public struct JobStatus: Sendable, Codable, Equatable {
  /// The state.
  public enum State: String, Sendable, Codable {
    /// No job directory exists.
    case none
    /// A live process holds the lease.
    case running
    /// No process holds the lease; `resume` continues.
    case interrupted
    /// An error ended it that would come again: see ``JobStatus/problems``.
    case failed
    /// The new store is being put in place; `resume` finishes it.
    case cutOver = "cut-over"
    /// The new store has its name; `resume` removes what is left of the run.
    case finished
  }

  /// The state.
  public var state: State
  /// The source, when the plan can be read.
  public var source: String?
  /// The destination.
  public var destination: String?
  /// The target version.
  public var target: String?
  /// Who holds, or last held, the lease.
  public var owner: String?
  /// The number of the newest checkpoint.
  public var checkpoint: UInt64?
  /// The step at work, from 1.
  public var step: Int?
  /// Source rows that the step had read at the newest checkpoint.
  public var rowsRead: UInt64?
  /// What the step was doing at the newest checkpoint: `copying`, `indexes`, or `finished`; nil before its first row.
  public var phase: String?
  /// How far the process that runs the migration said it was, within its last second; nil if none runs.
  public var progress: ProgressRecord?
  /// The file that holds the cut-over as long as it is there: the new store is not put in place before it is gone. Nil if
  /// there is none.
  public var heldBy: String?
  /// Seconds since the process that runs, or ran, gave its last sign of life; it gives one every second.
  public var secondsSinceSign: Double?
  /// Seconds since the newest checkpoint was published.
  public var secondsSinceCheckpoint: Double?
  /// The exit code of the error that ended a failed run, and would end it again.
  public var failureCode: Int32?
  /// The exit code that `resume` would refuse the run with, as its store or its files are not what they were; nil if it
  /// would go on.
  public var resumeRefusal: Int32?
  /// What is wrong with the run, its files and its store.
  public var problems: [String] = []
  /// What to do, with the whole command that leads on; nil if nothing has to be done.
  public var advice: String?
}

extension MigrationJob {
  /// Looks at the migration of a store, found by its source or its destination. Nothing is written.
  ///
  /// - Throws: ``BatchError`` if the disk cannot be read.
  public func status(_ path: String) throws -> JobStatus { try BatchError.looking { try seen(path) } }

  private func seen(_ path: String) throws -> JobStatus {
    guard let job = try JobRegistry(fileSystem).find(path) else { return JobStatus(state: .none) }
    let found = Result { try look(at: job, named: path) }
    // The process at work may have ended meanwhile.
    return try job.exists(fileSystem) ? found.get() : JobStatus(state: .none)
  }

  private func look(at job: JobDirectory, named path: String) throws -> JobStatus {
    var status = try ownership(of: job)
    let life = try RunLife.look(job, fileSystem)
    // Before its plan a run is nothing that could be resumed; a kill can leave that.
    guard life.isOwned || ![.none, .leased].contains(life.phase) else { return JobStatus(state: .none) }
    if !life.isOwned { try add(life, job: job, named: path, status: &status) }
    guard try fileSystem.status(job.plan) != nil else { return status }
    do {
      let plan = try JobPlan.read(job, fileSystem)
      (status.source, status.target) = (plan.namedSource, plan.targetVersion)
      status.heldBy = try plan.holder(fileSystem)
      try addCheckpoint(job, &status)
      // Behind the last step, only verification and cut-over are left.
      if let step = status.step, step > plan.steps {
        (status.step, status.phase, status.rowsRead) = (plan.steps, "finished", nil)
      }
    } catch let error as BatchError {
      status.problems.append("\(error)")
    } catch let error as StreamsError {
      status.problems.append("\(error)")
      // Without a checkpoint a run does not go on, though its store is as it was. What is only to be finished needs none.
      if !life.isOwned, error.code == .damagedCheckpoint, case .goOn = life.answer(to: .resume) {
        status.resumeRefusal = BatchError(wrapping: error).exitCode
        status.advice = wayOut(.restart, life: life, job: job).hint
      }
    }
    return status
  }

  /// What has become of a run that nobody works on, and of its store.
  private func add(_ life: RunLife, job: JobDirectory, named path: String, status: inout JobStatus) throws {
    switch life.phase {
    case .none, .leased, .working, .unreadable: status.state = .interrupted
    case .failed: (status.state, status.failureCode) = (.failed, RunFailure.read(job, fileSystem)?.exitCode)
    case .cutOver, .renamed: status.state = .cutOver
    case .done: status.state = .finished
    }
    if life.phase == .done || life.phase == .renamed {
      let cutOver = CutOver(fileSystem: fileSystem, job: job)
      let result = try cutOver.result(cutOver.journal())
      status.target = result.facts?.targetVersion
      do { try result.throwIfReplaced(fileSystem) } catch let error as BatchError {
        status.problems.append(error.message)
      }
      status.advice = "Finish with \(ProgramName.command("resume", job.destination))"
    } else if status.state != .failed, let refusal = (try? resumeRefusal(life, job, named: path)) ?? nil {
      status.resumeRefusal = refusal.exitCode
      // Why it cannot be read is said where it is read.
      if life.phase != .unreadable { status.problems.append(refusal.message) }
      status.advice = refusal.hint
    } else if status.state != .failed, case .goOn = life.answer(to: .resume),
      let missing = (try? JobPlan.read(job, fileSystem))?.missingPolicy(policies)
    {
      status.resumeRefusal = BatchError.Code.missingPolicy.exitCode
      status.problems.append("it needs the policy \(missing), which this program does not have")
      status.advice = "Go on with \(command(["resume", job.destination], on: job))"
    } else if case .refuse(let way) = life.answer(to: .migrate) {
      let refusal = refusal(life, way: way, job: job)
      if status.state == .failed { status.problems.append(refusal.message) }
      status.advice = refusal.hint
    }
  }

  /// Who has a job's directory, and what that process says.
  package func ownership(of job: JobDirectory) throws -> JobStatus {
    var status = JobStatus(state: .interrupted, destination: job.destination)
    var lease = try Lease.inspect(job, fileSystem)
    // Whoever has just taken it writes its name.
    for _ in 0..<10 where lease == .live(nil) {
      usleep(5000)
      lease = try Lease.inspect(job, fileSystem)
    }
    switch lease {
    case .live(let owner):
      status.state = .running
      status.progress = progress(job)
      status.owner = owner.map { "process \($0.pid) on \($0.host)" }
      if let owner, owner.isOnThisMachine, owner.isSuspended {
        status.problems.append(
          "the process is suspended, as by Ctrl-Z; `\(ShellWords.line(["kill", "-CONT", "\(owner.pid)"]))` lets it go on"
        )
      }
    case .dead(let owner): status.owner = owner.map { "process \($0.pid) on \($0.host), ended" }
    case .none: break
    }
    status.secondsSinceSign = try age(job.lease)
    return status
  }

  package func age(_ path: String) throws -> Double? {
    try fileSystem.status(path).map { max(0, (Date().timeIntervalSince1970 - Double($0.modified) / 1e9).rounded()) }
  }

  /// What the run says; nothing that cannot be understood is worth a word.
  private func progress(_ job: JobDirectory) -> ProgressRecord? {
    guard let bytes = try? fileSystem.readAll(job.progress, cap: 1 << 16) else { return nil }
    return try? JSONDecoder().decode(ProgressRecord.self, from: Data(bytes))
  }

  private func addCheckpoint(_ job: JobDirectory, _ status: inout JobStatus) throws {
    guard let found = try CheckpointStore(directory: job.checkpoints, fileSystem: fileSystem).newestReadable() else {
      return
    }
    status.checkpoint = found.checkpoint.sequence
    status.secondsSinceCheckpoint = try age(job.checkpoints)
    status.problems += found.rejected.map { "\($0.path): \($0.reason)" }
    let position = try RunPosition(found.checkpoint, steps: .max)
    status.step = position.step + 1
    if let state = position.state {
      var reader = ByteReader(state.step, subject: "state")
      status.rowsRead = try StepState.rowsRead(from: &reader)
      switch state.step.first.flatMap(StepState.Phase.init) {
      case .units: status.phase = "copying"
      case .indexes: status.phase = "indexes"
      case .finished: status.phase = "finished"
      case nil: break
      }
    }
  }
}
