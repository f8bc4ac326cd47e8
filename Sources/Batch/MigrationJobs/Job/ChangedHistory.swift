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
    plan.arguments = plan.arguments.map { Self.words($0, with: history) }
    plan.planFingerprint = PlanFingerprint.hex(
      try PlanFingerprint.of(
        steps: steps, extras: plan.extras, indexes: plan.indexBuilding, policies: policies, now: plan.now))
    try plan.write(to: job, fileSystem)
  }

  private static func words(_ arguments: [String], with history: ExtrasOptions.History) -> [String] {
    var words = arguments
    if let place = words.firstIndex(of: "--history"), words.indices.contains(place + 1) {
      words[place + 1] = history.rawValue
    } else if history != .keep {
      words += ["--history", history.rawValue]
    }
    return words
  }
}
