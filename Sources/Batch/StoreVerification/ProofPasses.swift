import RunSupport
import Streams

/// What the proof of a store found.
struct ProofOutcome {
  /// What is wrong with the file, and rows that are not as written.
  var faults: [CheckFindings] = []
  /// What else there is to report; nil of a damaged file, of which SQLite says what it makes of it.
  var result: ProofResult?
}

extension VerificationRun {
  /// Proves the store by the independent decoder.
  func prove(_ plan: CheckPlan, mode: VerificationMode, progress: (Double, String) -> Void) throws -> ProofOutcome {
    do {
      let monitor = monitor
      let file = try ProofFile(path: path, fileSystem: fileSystem, isDense: expectation?.isDense ?? false) {
        try monitor?.throwIfStopRequested()
      }
      let isFull = mode == .full
      let wanted = try ProofPlan(plan, in: file, isFull: isFull)
      let found = try ProofPasses(
        path: path, file: file, plan: wanted, memory: memory, monitor: monitor,
        early: isFull ? nil : expectation?.early?.finish(path)
      ).run(progress)
      let result = ProofResult(plan: plan, wanted: wanted, found: found, expectation: expectation, memory: memory)
      return ProofOutcome(
        faults: [result.damage(), result.contents()], result: found.damage.isEmpty ? result : nil)
    } catch let error as StreamsError where [.damagedDatabase, .notADatabase, .unsupported].contains(error.code) {
      return ProofOutcome(faults: [CheckFindings(violations: [Violation(kind: .damaged, message: error.description)])])
    }
  }
}

/// The passes of a proof: one, and more where the keys of all tables do not fit into memory.
struct ProofPasses {
  let path: String
  let file: ProofFile
  let plan: ProofPlan
  let memory: MemoryBudget
  let monitor: RunMonitor?
  /// What was looked at while the store was written.
  var early: EarlyProof?
  /// Rows of a page, about: what a board's weights count in.
  private static let rowsOfPage = 16.0

  /// What all passes found together.
  func run(_ progress: (Double, String) -> Void) throws -> Proof.Findings {
    let (window, passes) = (plan.window(memory), plan.passes(memory))
    func part(_ pass: Int64) throws -> Proof.Findings {
      try self.pass(pass * window..<(pass + 1) * window) { progress(($0 + Double(pass)) / Double(passes), $1) }
    }
    var found = try part(0)
    for pass in 1..<max(1, passes) { found.dangling += try part(pass).dangling }
    // Beyond the last window nothing was followed.
    if !plan.followsKeys(memory) { found.dangling = Array(plan.largestKeys.indices) }
    return found
  }

  private func pass(_ window: Range<Int64>, _ progress: (Double, String) -> Void) throws -> Proof.Findings {
    let proof = Proof(
      file, tables: plan.tables, trees: plan.trees, largestKeys: plan.largestKeys, window: window,
      limit: plan.recordLimit(memory), early: early, rtrees: plan.rtrees)
    let monitor = monitor
    let checks = try proof.jobs().map { job in
      StoreCheck(name: "\(job.name), page by page", weight: job.weight * Self.rowsOfPage) { _ in
        try proof.run(job)
        try monitor?.throwIfStopRequested()
        return CheckFindings()
      }
    }
    _ = try CheckBoard(path: path, checks: checks, monitor: monitor).run(progress: progress)
    return try proof.finish()
  }
}
