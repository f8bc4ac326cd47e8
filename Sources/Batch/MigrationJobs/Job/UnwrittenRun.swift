import RunSupport
import Streams
import Synchronization

/// A run that nobody could resume yet: its plan, and copies of what that names, are written down at its beginning or, of
/// a small store, with its first checkpoint, when it is a second old, or when it ends with an error (I5).
///
/// Of a run that is over sooner nothing is written down: a kill before the cut-over leaves the store as it was, and no
/// run. Thread-safe: the pulse writes it down, too.
final class UnwrittenRun: Sendable {
  private enum State {
    case open
    case written(JobPlan)
    case failed(any Error)
  }

  private let state = Mutex((state: State.open, isClosed: false))
  private let body: @Sendable (JobLog?) throws -> JobPlan

  /// `body` writes the plan durably.
  init(_ body: @escaping @Sendable (JobLog?) throws -> JobPlan) { self.body = body }

  /// Writes the run down, unless that was done, and returns its plan; nil if nothing is to be written any longer. What
  /// failed once fails again (I10).
  @discardableResult
  func writeDown(_ log: JobLog?) throws -> JobPlan? {
    try state.withLock { held in
      guard !held.isClosed else { return nil }
      switch held.state {
      case .written(let plan): return plan
      case .failed(let error): throw error
      case .open:
        do {
          let plan = try body(log)
          held.state = .written(plan)
          return plan
        } catch {
          held.state = .failed(error)
          throw error
        }
      }
    }
  }

  /// Behind the steps the journal of the cut-over says what is left to do: nothing is written down any longer. Returns
  /// whether anything was; throws if that failed.
  func close() throws -> Bool {
    try state.withLock { held in
      held.isClosed = true
      switch held.state {
      case .open: return false
      case .written: return true
      case .failed(let error): throw error
      }
    }
  }

  /// The cut-over was refused before its journal: the run may be written down again.
  func reopen() { state.withLock { $0.isClosed = false } }
}
