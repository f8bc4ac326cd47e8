import Batch
@preconcurrency import Dispatch
import Foundation
import Synchronization

/// Processes at work, which are stopped together.
final class RunningProcesses: Sendable {
  private struct State {
    var isStopped = false
    var running: [Int: Process] = [:]
  }

  private let state = Mutex(State())

  var isStopped: Bool { state.withLock(\.isStopped) }

  /// Stops all in good order; no further one begins.
  func stop() {
    let isAtWork = state.withLock { state in
      state.isStopped = true
      for process in state.running.values { process.terminate() }
      return !state.running.isEmpty
    }
    // One that is only just beginning does not hear it.
    if isAtWork { DispatchQueue.global().asyncAfter(deadline: .now() + 1) { [self] in stop() } }
  }

  /// Stops one in good order.
  func stop(_ place: Int) { state.withLock { $0.running[place]?.terminate() } }

  /// Takes a process that begins its work; `place` is a number of the caller's. Throws `stopped` if it is not to begin.
  func add(_ place: Int, _ begin: () throws -> Process) throws {
    try state.withLock { state in
      guard !state.isStopped else { throw BatchError(.stopped, "not begun") }
      state.running[place] = try begin()
    }
  }

  /// Forgets a process that has ended its work.
  func remove(_ place: Int) { state.withLock { $0.running[place] = nil } }
}
