import ArgumentParser
import Batch
import Foundation
import Streams
import Synchronization

/// A fleet's tasks as processes of this machine, some at a time.
final class FleetLocal: Sendable {
  private let job: FleetJob
  private let processes = StoreProcesses()
  private let next = Mutex(0)
  private let codes = Mutex<[Int32]>([])

  init(_ job: FleetJob) { self.job = job }

  /// Runs them all, those that were stopped as often as is allowed, and ends with the worst of their codes.
  func run() throws {
    try processes.withStopSignals {
      let workers = try Worker.startAny(
        Array(repeating: { while let task = self.take() { try self.run(task) } }, count: job.limit))
      for error in workers.map({ $0.join() }) { if let error { throw error } }
    }
    let worst = ExitCodes.worst(codes.withLock { $0 } + (processes.isStopped ? [ExitCodes.stopped] : []))
    if worst != 0 { throw ExitCode(worst) }
  }

  private func take() -> Int? {
    guard !processes.isStopped else { return nil }
    return next.withLock { next in
      defer { next += 1 }
      return next < job.tasks ? next : nil
    }
  }

  private func run(_ task: Int) throws {
    let path = FilePaths.join(job.state, "task-\(task).log")
    _ = FileManager.default.createFile(atPath: path, contents: nil)
    guard let log = FileHandle(forWritingAtPath: path) else {
      throw BatchError(
        .failed, "the task's log cannot be written", hint: "Check the permissions of the state's folder", path: path)
    }
    defer { try? log.close() }
    var code = ExitCodes.stopped
    for attempt in 0...job.retries where FleetJob.beginsAgain(code) && !processes.isStopped {
      // Who has the store that is left needs time, too.
      for _ in 0..<min(attempt, 10) * 10 where !processes.isStopped { usleep(100_000) }
      code = try processes.run(job.timedWords + ["--shard", "\(task)/\(job.tasks)"], task, log: log).code
    }
    Console.error("task \(task) of \(job.tasks): \(code == 0 ? "done" : "ended with \(code)")")
    codes.withLock { $0.append(code) }
  }
}
