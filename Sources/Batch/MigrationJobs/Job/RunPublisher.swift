import Migrations
import Streams

/// Makes positions of a run durable, one checkpoint after the other.
final class RunPublisher: @unchecked Sendable {
  // Sendable by discipline: the migrating thread publishes while no pipeline runs, the writing thread while one does.
  private let job: JobDirectory
  private let fileSystem: any FileSystem
  private let store: CheckpointStore
  private let lease: Lease
  private let plan: String
  private let source: [UInt8]
  private var last: UInt64
  private let mayWait: () -> Bool
  private let writeDown: () throws -> JobPlan?
  /// When the run, or this process's part of it, began.
  let begin = ContinuousClock.now

  /// `store` is the one that was asked for the newest checkpoint: it knows of those that cannot be read. `mayWait` says
  /// whether the first checkpoint may still wait until it is due. `writeDown` writes a run down that begins; it returns
  /// nil for one that is resumed.
  init(
    _ store: CheckpointStore, in job: JobDirectory, fileSystem: any FileSystem, under lease: Lease, plan: JobPlan,
    last: FoundCheckpoint? = nil, mayWait: @escaping () -> Bool = { false }, writeDown: @escaping () throws -> JobPlan?
  ) {
    (self.store, self.job, self.fileSystem, self.lease) = (store, job, fileSystem, lease)
    self.plan = plan.planFingerprint
    self.last = last?.checkpoint.sequence ?? 0
    source = PlanFingerprint.bytes(plan.sourceFingerprint)
    (self.mayWait, self.writeDown) = (mayWait, writeDown)
  }

  /// Whether the run has a checkpoint. Without one it is begun again.
  var hasPublished: Bool { last > 0 }

  /// Whether there is no checkpoint yet, and none is made before it is due.
  var waits: Bool { !hasPublished && mayWait() }

  func publish(_ position: RunPosition) throws {
    try lease.throwIfReplaced()
    if !hasPublished, let name = position.previousStore { try sync(name) }
    let plan = PlanFingerprint.bytes(try writeDown()?.planFingerprint ?? plan)
    last += 1
    var sections = try position.sections()
    var epoch = ByteWriter()
    epoch.writeUInt64(lease.owner.epoch)
    sections["epoch"] = epoch.bytes
    try store.publish(Checkpoint(sequence: last, planFingerprint: plan, sourceFingerprint: source, sections: sections))
  }

  /// Publishes where a finished step has left the run, unless there is no checkpoint yet and that may wait. Behind the last
  /// step the journal of the cut-over is near: the first checkpoint is not made there.
  func publishEnd(_ position: RunPosition, isLast: Bool) throws {
    if hasPublished || !isLast && !waits { try publish(position) }
  }

  /// Makes the store of a finished step durable, which no checkpoint did: the first one names it (I3).
  private func sync(_ name: String) throws {
    let file = try fileSystem.open(job.working(name), .update)
    defer { file.close() }
    try file.sync()
    try fileSystem.syncDirectory(job.path)
  }
}
