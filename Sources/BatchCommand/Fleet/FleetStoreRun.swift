import Batch
import Foundation
import Streams

/// One store of a fleet, under its claim: migrates it by a process of its own, and writes down how that ended (I13).
struct FleetStoreRun {
  /// How often the migration's process may be ended by a signal before the store counts as failed.
  private static let mostDeaths: UInt64 = 5
  private static let longestReason = 4000
  /// What a migration ends with where somebody else has the store open: that somebody ends, and then it can be done.
  private static let isOpen = BatchError.Code(.locked).description

  /// What came of it, for whoever watches.
  struct Result: Encodable {
    var store: String
    /// `done`, `rejected`, `failed`, or `open`: somebody has to come again.
    var outcome: String
    var exitCode: Int32
    var reason: String?
    var seconds: Double
  }

  let plan: FleetPlan
  let state: FleetState
  let processes: StoreProcesses
  let deadline: Date?
  /// Options of this machine, after those of the plan.
  let options: [String]

  private var job: MigrationJob { MigrationJob(policies: Program.policies) }

  /// Works on the store that the claim is for. Nil if it has ended already.
  func run(_ number: Int, _ claim: FleetClaim) -> Result? {
    let started = ContinuousClock.now
    var result = Result(store: plan.stores[number].path, outcome: "open", exitCode: ExitCodes.stopped, seconds: 0)
    do {
      guard try !state.isEnded(number) else { return nil }
      let (code, reason, end) = try work(number, claim)
      (result.exitCode, result.reason, result.outcome) = (code, reason, end?.rawValue ?? "open")
    } catch {
      (result.exitCode, result.reason) = (ExitCodes.stopped, "\(error)")
    }
    result.seconds = ((ContinuousClock.now - started) / .milliseconds(1)).rounded() / 1000
    return result
  }

  typealias Ending = (code: Int32, reason: String?, outcome: FleetEnd.Outcome?)

  private func work(_ number: Int, _ claim: FleetClaim) throws -> Ending {
    let store = plan.stores[number]
    var ledger = try state.ledger(number)
    try checkMounted(store)
    let earlier = FleetEarlierWork(plan: plan, number: number, job: job)
    let first = ledger.attempts.first
    ledger.begin(earlier.attempt(claim.owner))
    try state.write(ledger, number, under: claim)
    if let problem = store.problem {
      return try close(
        (store.problemCode ?? ExitCodes.refused, problem, .failed), number: number, ledger: &ledger, claim: claim)
    }
    if let ending = try earlier.ending(since: first) {
      return try close(ending, number: number, ledger: &ledger, claim: claim)
    }
    claim.whenLost { [processes] in processes.stop(number) }
    var ending = judge(try migrate(store, number: number, claim: claim), store: store, claim: claim, ledger: &ledger)
    // The process of an attempt that died may have lived on for a moment, and finished.
    let isRefused = ending.outcome == .failed && ending.code == ExitCodes.refused
    if isRefused || ending.reason == FleetEarlierWork.hadVersion.reason {
      ending = try earlier.ending(since: first) ?? ending
    }
    return try close(ending, number: number, ledger: &ledger, claim: claim)
  }

  /// Writes down how an attempt ended, and with it the store, if that has.
  private func close(_ ending: Ending, number: Int, ledger: inout FleetLedger, claim: FleetClaim) throws -> Ending {
    let reason = ending.reason.map { String($0.prefix(Self.longestReason)) }
    guard let outcome = ending.outcome else {
      ledger.attempts[ledger.attempts.count - 1].end(ending.code, reason)
      try state.write(ledger, number, under: claim)
      return ending
    }
    let bytes = outcome == .failed ? nil : try? LocalFileSystem().status(plan.stores[number].target)?.size
    let end = FleetEnd(
      outcome, exitCode: ending.code, reason: reason, bytes: bytes ?? 0, after: ledger, by: claim.owner)
    let isFirst = try state.finish(end, number, under: claim)
    return isFirst ? ending : (ending.code, "another process recorded how it ended", outcome)
  }

  /// Folders that are not there are this machine's fault, and not the store's.
  private func checkMounted(_ store: FleetPlan.Store) throws {
    for path in [store.path, store.target] where !FileManager.default.fileExists(atPath: FilePaths.directory(of: path))
    {
      throw BatchError(
        .stopped, "its folder is not there on this machine", hint: "Mount it", effect: .nothingWritten, path: path)
    }
  }

  private func migrate(_ store: FleetPlan.Store, number: Int, claim: FleetClaim) throws -> StoreProcesses.Outcome {
    let command = StoreCommandWords(
      store: store.path, output: store.output, options: plan.options + ["--ignore-config"] + options,
      deadline: deadline,
      origin: FleetEarlierWork.origin(plan, number))
    let state = try job.status(store.target).state
    // Who has the claim may replace whoever still runs it.
    let words =
      state == .none
      ? command.migrate : command.resume(store.target, takeOver: state == .running || claim.isFromElsewhere)
    return try processes.run(words, number, deadline: deadline)
  }

  /// What an exit code means for the store. One that is not final leaves it to whoever comes next.
  private func judge(
    _ outcome: StoreProcesses.Outcome, store: FleetPlan.Store, claim: FleetClaim, ledger: inout FleetLedger
  ) -> Ending {
    let said = outcome.failure.map { Self.told($0, of: store) } ?? (outcome.error.isEmpty ? nil : outcome.error)
    let summary = try? JSONDecoder().decode(RunSummary.self, from: outcome.output)
    switch outcome.code {
    case 0: return summary?.steps == 0 ? FleetEarlierWork.hadVersion : (0, nil, .done)
    case ExitCodes.rejects:
      return (outcome.code, Self.rejected(summary?.rejects?.count, summary?.rejects?.path), .rejected)
    case ExitCodes.stopped, ExitCodes.leaseHeld: return (outcome.code, said, nil)
    case 128...:
      if !processes.isStopped { ledger.deaths &+= 1 }
      let reason = "its process was killed by signal \(outcome.code - 128)" + (said.map { ": " + $0 } ?? "")
      return (outcome.code, reason, ledger.deaths >= Self.mostDeaths ? .failed : nil)
    case ExitCodes.refused where claim.isFromElsewhere || isHeldUp(store) || outcome.failure?.code == Self.isOpen:
      return (outcome.code, said, nil)
    // Of two that begin at once one may find files gone.
    case 1 where (try? job.status(store.target))?.state == .running: return (outcome.code, said, nil)
    default: return (outcome.code, said ?? "it ended with code \(outcome.code)", .failed)
    }
  }

  /// What an error says, without the path that whoever reads it knows.
  private static func told(_ failure: FailureDocument.Body, of store: FleetPlan.Store) -> String {
    let path = failure.path.flatMap { [store.path, store.target].contains($0) ? nil : "\($0): " } ?? ""
    return path + failure.message + (failure.hint.map { ". \($0)" } ?? "")
  }

  /// Whether the run waits for another process that has the store open: an owner that may not be replaced there, or one
  /// that keeps the cut-over.
  private func isHeldUp(_ store: FleetPlan.Store) -> Bool {
    guard let status = try? job.status(store.target) else { return false }
    return [.running, .cutOver, .finished].contains(status.state) || status.phase == "finished"
  }

  static func rejected(_ count: UInt64?, _ path: String?) -> String {
    let objects = count.map { $0.counted("object was", "objects were") } ?? "some objects were"
    return "\(objects) rejected" + (path.map { ", listed in \($0)" } ?? "")
  }
}
