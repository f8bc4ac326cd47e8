import Streams

/// What a migration is estimated to take, by a rehearsal: a sample of the store's own rows went through the migration's
/// own steps and its proof, into scratch files.
public struct MigrationForecast: Sendable, Equatable, Codable {
  /// The units of a step that read for one mapping model, or for the links of one relationship.
  public struct Part: Sendable, Equatable, Codable {
    /// The mapping model's name, or what else is made.
    public var name: String
    /// Rows of the step's source, estimated.
    public var rowsRead: UInt64
    /// Rows of objects and links, estimated.
    public var rowsWritten: UInt64
    /// Estimated seconds.
    public var seconds: Double
  }

  /// A step of the path.
  public struct Step: Sendable, Equatable, Codable {
    /// In the order in which they run; those of one name are one.
    public var parts: [Part]
    /// Objects of the step's store, by the root entity of their table. A range where a policy makes them.
    public var objects: [String: Foreseen]
    /// Bytes of the step's store.
    public var bytes: UInt64
    /// Bytes of its indexes, of all rows and of the sample; 0 before the last step.
    public var indexBytes: UInt64
    /// See ``indexBytes``.
    public var sampledIndexBytes: UInt64
    /// Estimated seconds of late changes.
    public var changeSeconds: Double
    /// Estimated seconds of its indexes; 0 before the last step.
    public var indexSeconds: Double
    /// Estimated seconds in all.
    public var seconds: Double
    /// Seconds that all threads together take of the processors.
    public var processorSeconds: Double
    /// Whether late changes copy the store once more.
    public var isWrittenTwice: Bool
  }

  /// The steps of the plan.
  public var steps: [Step]
  /// Estimated seconds of the verification after the last write. What it does before is part of the last step.
  public var proofSeconds: Double
  /// Estimated seconds in all, on this machine as busy as it is now.
  public var seconds: Double
  /// Bytes that the destination's file system has to take at the peak: the new store and those between. Scratch files
  /// (sorted runs, look-ups, spools) and external data are not counted.
  public var peakDisk: UInt64
  /// Peak resident memory of a process that does nothing but run it, as the command: what this process took so far, and
  /// what a sample lacks.
  public var peakMemory: UInt64
  /// Estimated seconds of what does not depend on rows: planning, the job directory, locks, the cut-over.
  public var fixedSeconds: Double
  /// What the destination's disk did just now; nil if it could not be tried.
  public var diskSpeed: DiskSpeed?
  /// Rows that the rehearsal read.
  public var sampledRows: UInt64
}
