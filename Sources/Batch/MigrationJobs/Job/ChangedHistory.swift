import CoreDataStore
import Migrations
import Streams

extension MigrationRun {
  /// Lets the run begin again with the first row, and with another choice of what becomes of history, durably: the
  /// order of tables in the file depends on it, so that no checkpoint fits any longer.
  mutating func beginAgain(_ history: ExtrasOptions.History) throws {
    let source = try openSource()
    defer { source.close() }
    try checkSource(source)
    let steps = try planAgain(source)
    // Without them and with the plan as it was, the run only begins again.
    try CheckpointStore(directory: job.checkpoints, fileSystem: fileSystem).removeAll()
    plan.extras.history = history
    if let place = plan.arguments?.firstIndex(of: "--history"), plan.arguments?.indices.contains(place + 1) == true {
      plan.arguments?[place + 1] = history.rawValue
    }
    plan.planFingerprint = PlanFingerprint.hex(
      try PlanFingerprint.of(
        steps: steps, extras: plan.extras, indexes: plan.indexBuilding, policies: policies, now: plan.now))
    try plan.write(to: job, fileSystem)
  }
}
