import CoreDataStore
import Migrations
import RunSupport
import Streams

// What may have changed since a run began: it goes on with the source and the plan that it knows, or not at all.
extension MigrationRun {
  func recheckSource() throws {
    let again = try SourceStore.opened(
      plan.source, fileSystem, locking: .none, copyFolder: job.recoveredAgain, logs: logs)
    defer { again.close() }
    try checkSource(again)
  }

  func checkSource(_ source: StoreReader) throws {
    let (hint, next) = beginAnew
    let found = PlanFingerprint.hex(try SourceFingerprint.of(source.snapshot))
    guard found == plan.sourceFingerprint else {
      throw BatchError(
        .badCheckpoint, "the source changed since the run began: it was \(plan.sourceFingerprint), now it is \(found)",
        hint: "\(hint); the source is untouched", next: [next.line], path: plan.source)
    }
    guard let modified = try fileSystem.status(plan.source)?.modified, plan.isSourceTime(modified) else {
      throw BatchError(
        .badCheckpoint,
        "the source changed since the run began: its fingerprint is the same, its time of change is not",
        hint: "\(hint); a copy has to keep that time (cp -p). The source is untouched", next: [next.line],
        path: plan.source)
    }
  }

  /// What leads on where this run cannot, and the whole command.
  var beginAnew: (hint: String, next: AdvisedCommand) {
    let words = plan.arguments.flatMap {
      ReplayCommand.words($0, source: plan.source, output: plan.isInPlace ? nil : plan.destination, restarts: true)
    }
    if let again = words.map(ProgramName.command) { return ("Begin anew with \(again)", again) }
    let giveUp = ProgramName.command("clean", "--all", plan.destination)
    return ("Give the run up with \(giveUp), then migrate again", giveUp)
  }

  func checkPlan(_ steps: [MigrationStep]) throws {
    let found = PlanFingerprint.hex(
      try PlanFingerprint.of(
        steps: steps, extras: plan.extras, indexes: plan.indexBuilding, policies: policies, now: plan.now))
    guard found == plan.planFingerprint else {
      throw BatchError(
        .badCheckpoint, "the plan changed since the run began: it was \(plan.planFingerprint), now it is \(found)",
        hint: "Resume with the program and policies that began the run. Otherwise: \(beginAnew.hint)",
        next: [beginAnew.next.line], path: job.plan)
    }
  }
}
