import Batch
import Foundation
import Synchronization

/// Commands on single stores, by processes that run one after the other: one that dies takes nothing with it but its
/// store.
final class StoreWorkers: Sendable {
  private let running = RunningProcesses()
  private let idle = Mutex<[StoreWorker]>([])
  private let program = StoreProcesses.thisProgram

  /// Stops all in good order; no further command begins.
  func stop() { running.stop() }

  /// Runs a command to its end; `place` is a number of the caller's. Throws `stopped` if it is not begun.
  func run(_ words: [String], _ place: Int, deadline: Date?) throws -> StoreProcesses.Outcome {
    if let deadline, deadline <= Date() { throw BatchError(.stopped, "the time is over; not begun") }
    let worker = try idle.withLock { $0.popLast() } ?? StoreWorker(program: program)
    try running.add(place) { worker.process }
    let (outcome, isLast) = worker.run(words)
    running.remove(place)
    if !isLast { idle.withLock { $0.append(worker) } }
    return outcome
  }
}
