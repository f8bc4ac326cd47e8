import Migrations
import Streams

/// What a run got with other mapping models, until its checkpoint knows them: a process may be killed between the plan
/// and the checkpoint.
struct PlanCorrection: Codable, Equatable {
  /// Hexadecimal: the plan before, which the checkpoint names.
  var planFingerprint: String
  /// Whether the step at work begins with its first row.
  var beginsStep: Bool
}

extension MigrationJob {
  /// Publishes the checkpoint of the plan before a correction as that of the plan, if that was not done yet.
  ///
  /// - Throws: ``StreamsError`` and ``BatchError``.
  func finishCorrection(of plan: JobPlan, job: JobDirectory, lease: Lease) throws {
    guard let correction = plan.correction else { return }
    let store = CheckpointStore(directory: job.checkpoints, fileSystem: fileSystem)
    guard let found = try store.newestReadable(),
      found.checkpoint.planFingerprint == PlanFingerprint.bytes(correction.planFingerprint)
    else { return }
    var position = try RunPosition(found.checkpoint, steps: .max)
    if correction.beginsStep { try dropState(of: &position, job) }
    try RunPublisher(
      store, in: job, fileSystem: fileSystem, under: lease, plan: plan, last: found
    ) { nil }.publish(position)
  }

  /// Lets the step at work begin with its first row, without the objects that it had rejected.
  private func dropState(of position: inout RunPosition, _ job: JobDirectory) throws {
    position.state = nil
    guard let rejects = position.rejects else { return }
    let kept = rejects.total - rejects.mappings.reduce(0, +)
    var lines = JSONLines(path: job.working("step-rejects.jsonl"))
    for _ in 0..<kept { _ = try lines.next() }
    position.rejects = RejectLog.State(length: lines.position, total: kept)
  }
}
