import Batch
@preconcurrency import Dispatch
import Foundation
import Synchronization

/// Commands on single stores, by processes that run one after the other: one that dies takes nothing with it but its
/// store.
final class StoreWorkers: Sendable {
  private struct State {
    var isStopped = false
    var idle: [StoreWorker] = []
    var running: [ObjectIdentifier: StoreWorker] = [:]
  }

  private let state = Mutex(State())
  private let program = StoreProcesses.thisProgram

  var isStopped: Bool { state.withLock(\.isStopped) }

  /// Stops all in good order; no further command begins.
  func stop() {
    let isAtWork = state.withLock { state in
      state.isStopped = true
      for worker in state.running.values { worker.process.terminate() }
      return !state.running.isEmpty
    }
    // One that is only just beginning does not hear it.
    if isAtWork { DispatchQueue.global().asyncAfter(deadline: .now() + 1) { [self] in stop() } }
  }

  /// Runs a command to its end. Throws `stopped` if it is not begun.
  func run(_ words: [String], deadline: Date?) throws -> StoreProcesses.Outcome {
    if let deadline, deadline <= Date() { throw BatchError(.stopped, "the time is over; not begun") }
    let worker =
      try state.withLock { state -> StoreWorker? in
        guard !state.isStopped else { throw BatchError(.stopped, "not begun") }
        let idle = state.idle.popLast()
        if let idle { state.running[ObjectIdentifier(idle)] = idle }
        return idle
      } ?? started()
    let (outcome, isLast) = worker.run(words)
    state.withLock { state in
      state.running[ObjectIdentifier(worker)] = nil
      if !isLast { state.idle.append(worker) }
    }
    return outcome
  }

  private func started() throws -> StoreWorker {
    let worker = try StoreWorker(program: program)
    state.withLock { $0.running[ObjectIdentifier(worker)] = worker }
    return worker
  }
}
