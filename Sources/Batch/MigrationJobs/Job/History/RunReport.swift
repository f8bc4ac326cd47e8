/// What became of a migration or a load, for people and programs: docs/manual/json.md. It has no values of attributes.
public struct RunReport: Sendable, Codable, Equatable {
  /// How it stands.
  public enum Outcome: String, Sendable, Codable {
    /// The new store is in place.
    case done
    /// The same, and objects were set aside.
    case doneWithRejects = "done-with-rejects"
    /// A process is at work.
    case running
    /// A process waits, as it was asked to.
    case paused
    /// It ended in good order, and can be resumed.
    case stopped
    /// An error ended it.
    case failed
    /// Its process ended without a word: it was killed, or the machine went down.
    case interrupted
    /// The new store is being put in place; its process has ended.
    case cutOver = "cut-over"
    /// It was done, and the old store is in its place again.
    case rolledBack = "rolled-back"
  }

  /// An entity before and after.
  public struct Entity: Sendable, Codable, Equatable {
    /// The entity.
    public var name: String
    /// In the source; nil if only the new version has it.
    public var before: RunHistory.Size?
    /// In the new store; nil if only the old version has it, and as long as there is none.
    public var after: RunHistory.Size?
  }

  /// The run at a moment.
  public struct Point: Sendable, Codable, Equatable {
    /// Seconds of all processes together, those in which they waited included.
    public var seconds: Double
    /// Since the point before.
    public var rowsPerSecond: Double
    /// Since the point before.
    public var bytesPerSecond: Double
    /// Resident memory.
    public var memory: UInt64
    /// Checkpoints since the point before.
    public var checkpoints: UInt64
    /// What of the run was done, from 0 to 1.
    public var done: Double
    /// The step at work, from 1.
    public var step: Int
    /// What was done.
    public var activity: String
    /// Whether it waited.
    public var paused: Bool
  }

  /// Where a process ended before the run did.
  public struct Interruption: Sendable, Codable, Equatable {
    /// Seconds of all processes until then, those in which they waited included.
    public var seconds: Double
    /// Seconds until another process went on; nil if none has.
    public var pause: Double?
    /// The kind of error; nil if the process could not say why.
    public var code: String?
    /// What it said.
    public var reason: String?
  }

  /// A rejected object.
  public struct Reject: Sendable, Codable, Equatable {
    /// The step, from 1.
    public var step: Int
    /// The entity mapping.
    public var mapping: String
    /// The source entity.
    public var entity: String
    /// Its key.
    public var key: Int64
    /// Why.
    public var reason: String
  }

  /// Rejected objects.
  public struct Rejects: Sendable, Codable, Equatable {
    /// How many.
    public var count: UInt64
    /// The list of all.
    public var path: String
    /// The first of them.
    public var first: [Reject]
    /// All of them by rule, the largest group first.
    public var groups: [RejectGroup]?
    /// The command that migrates the old store again, after a fix; nil if the run is not finished, was not begun by a
    /// command, or the old store is gone.
    public var replay: String?
  }

  /// Grows when a key changes its meaning or goes away; new keys may come at any time.
  public var format = 1
  /// What the destination is, if it is no store: `plain`, a file of ordinary tables.
  public var form: String?
  /// How it stands.
  public var outcome: Outcome
  /// Of a run that is not done and has no process: whether `resume` goes on with it. Else the same error would end it.
  public var resumable: Bool?
  /// The exit code of the error that ended a failed run, and would end it again.
  public var failureCode: Int32?
  /// The exit code that `resume` would refuse the run with; nil if it would go on.
  public var resumeRefusal: Int32?
  /// Why it stopped or failed.
  public var reason: String?
  /// What to do, sentence by sentence; empty if nothing is to be done.
  public var advice: [String] = []
  /// The store's path.
  public var destination: String
  /// The path that was read; of an XML store that one, and not the store that was made of it.
  public var source: String?
  /// The path that has the old store.
  public var backup: String?
  /// The path that has the store which the migration made, after a rollback; nil if there is none.
  public var setAside: String?
  /// Versions before and after.
  public var sourceVersion: String?
  /// See ``sourceVersion``.
  public var targetVersion: String?
  /// ISO 8601, UTC.
  public var started: String?
  /// ISO 8601, UTC; nil as long as it is not finished.
  public var ended: String?
  /// Seconds at work, those of all processes together; not those of ``waitedSeconds``.
  public var seconds = 0.0
  /// Seconds in which a process was paused, or its cut-over held; nil if there were none.
  public var waitedSeconds: Double?
  /// Done, from 0 to 1.
  public var done = 0.0
  /// Source rows read, those that were read again after an interruption included.
  public var rowsRead: UInt64 = 0
  /// Checkpoints published.
  public var checkpoints: UInt64 = 0
  /// The most resident memory that was seen.
  public var peakMemory: UInt64 = 0
  /// What was allowed.
  public var memoryLimit: UInt64?
  /// Processes that worked on it.
  public var processes = 0
  /// Where they ended before the end.
  public var interruptions: [Interruption] = []
  /// The path.
  public var path: [RunHistory.Step] = []
  /// Bytes of the stores.
  public var bytesBefore: UInt64?
  /// See ``bytesBefore``.
  public var bytesAfter: UInt64?
  /// Entities of both stores.
  public var entities: [Entity] = []
  /// Tables of a destination that is no store.
  public var tables: [RunHistory.Size]?
  /// What became of the rows of finished steps.
  public var steps: [RunHistory.Tally] = []
  /// Throughput and memory over time.
  public var curve: [Point] = []
  /// Nil if none were set aside.
  public var rejects: Rejects?
  /// Nil as long as nothing is proved, and where no proof was asked for.
  public var proof: RunHistory.Proof?
  /// What was asked for.
  public var settings: [RunHistory.Setting] = []
  /// What a person should know.
  public var notes: [String] = []
  /// What of the run's files cannot be used.
  public var problems: [String] = []
  /// How far the process is that runs it.
  public var progress: ProgressRecord?
  /// What is under the destination's path now; nil of a run that is not finished, and if nobody can know.
  public var present: StorePresence?
  /// The version of the store there; nil if it is none of the path's.
  public var presentVersion: String?
  /// Distinguishes one run from another.
  public var run: String?
  /// Who asked for it, if it was not a person: a fleet's plan, and the store's number in it.
  public var origin: String?

  init(outcome: Outcome, destination: String) { (self.outcome, self.destination) = (outcome, destination) }
}
