import CoreDataStore
import RunSupport
import Streams
import Synchronization

extension MigrationJob {
  /// Whether a run begins without a plan on the disk: a store of up to ``largestUnwritten`` bytes may be migrated before
  /// its first checkpoint is due, unless those are counted in bytes or are rarer than one a second. The list of rejects,
  /// and what a program does between stages, are remembered by checkpoints alone.
  func mayEndUnwritten(_ request: Request, _ source: StoreReader) -> Bool {
    guard case .seconds(...1) = request.interval, request.rejects == nil, stageHandler == nil else { return false }
    // Without a plan what was read from an XML store would be read again: that takes longer than the run.
    let most = request.madeFrom == nil ? largestUnwritten : min(smallStore, largestUnwritten)
    return source.byteCount <= most
  }
}

/// A run that nobody could resume yet: its plan, and copies of what that names, are written down at its beginning or,
/// where that may wait, with its first checkpoint, when it is a second old, or when it ends with an error (I5).
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

  /// Whether nothing was written down yet, and the cut-over has not begun. What is left out as long as that is so may be
  /// asked for a moment later.
  var isOpen: Bool {
    state.withLock { held in
      guard !held.isClosed, case .open = held.state else { return false }
      return true
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
