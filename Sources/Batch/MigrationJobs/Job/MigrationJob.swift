import CoreMetrics
import Foundation
import Logging
import Migrations
import RunSupport
import StoreVerification
import Streams

/// One migration of one store: starts it, resumes it after an interruption, and puts the result in place.
///
/// Order of a run: lease, source under lock, newest checkpoint, steps, verification, cut-over, removal of the job
/// directory.
public struct MigrationJob: Sendable {
  /// What a caller asks for.
  public struct Request: Sendable {
    /// The store to migrate.
    public var source: String
    /// Where the result goes; nil replaces the source and keeps a backup beside it.
    public var output: String?
    /// Paths of models.
    public var models: [String]
    /// Paths of mapping models.
    public var mappings: [String]
    /// The version to reach.
    public var target: MigrationTarget
    /// Which version follows which.
    public var order = VersionOrder.names
    /// The moment of the migration, in seconds since 2001; nil for the present.
    package var moment: Double?
    /// What becomes of history and CloudKit's tables.
    public var extras = ExtrasOptions()
    /// Which rules of the model new objects of steps with mapping models must keep.
    public var validation = ValidationMode.all
    /// Peak memory.
    public var memory = MemoryBudget.standard
    /// When checkpoints are due.
    public var interval = RunMonitor.standardInterval
    /// Who builds the indexes.
    public var indexBuilding = IndexBuilding.engine
    /// How the finished store is proved before the cut-over.
    public var verification = VerificationMode.fast
    /// Whether steps that can be inferred are made in one pass, if the result is the same.
    public var fuses = true
    /// How consecutive inferred steps are made; nil for what loses no value that one way or the other keeps.
    public var inference: InferencePath?
    /// Whether the store's version is the one that its tables fit, where its metadata contradict them.
    public var fromTables = false
    /// Which parts of the steps are made; other than all only to an ``output``.
    public var parts = PartSelection()

    /// How many objects that cannot be migrated are rejected before the run ends; nil for none. Every step is a pass of
    /// its own then.
    public var rejects: RejectLimit?

    /// Options with which a command asks for the same migration, all but the store's path and the output: they say how
    /// rejected objects are replayed, and how a run is started over. Empty if there is no command.
    public var arguments: [String] = []

    /// Objects whose fate is logged, at the level trace. Every step is a pass of its own then, and the tables
    /// with these objects take longer; the result is the same. A run that is resumed logs nothing of them.
    public var explains: [ExplainedObjects] = []
    /// Who asks, if it is not a person; it is kept in the record of the run, see ``RunReport/origin``.
    public var origin: String?
    /// The file that a person named, if ``source`` was made of it for this migration: reports name it.
    public var madeFrom: RunHistory.SourceFile?
    /// Whether several steps are made in one pass, if that gives the same.
    var makesOnePass: Bool { fuses && rejects == nil && explains.isEmpty }

    /// How many backups stay when the store was replaced, the new one included; nil for all.
    public var keepsBackups: BackupLimit?

    /// The path of a file: as long as it is there, the finished store is not put in place. The run remembers it, so a
    /// resume waits for it, too.
    public var heldBy: String?

    /// What may be lost that the version history of the model does not drop.
    public var consent = LossConsent()

    /// Whether to give up an interrupted migration to the same path. Otherwise the request is refused.
    public var restarts = false

    /// Mapping models of an application that cannot be read: steps that they may be for are refused.
    package var unread: UnreadMappings?
    /// Mapping models of an application for which those that were named stand in.
    package var replaced: [String] = []

    /// Makes a request with the defaults.
    public init(
      source: String, output: String? = nil, models: [String], mappings: [String] = [],
      target: MigrationTarget = .current
    ) {
      self.source = source
      self.output = output
      self.models = models
      self.mappings = mappings
      self.target = target
    }
  }

  package let fileSystem: any FileSystem
  let policies: PolicyRegistry
  package let logger: Logger
  let stageHandler: StageHandler?
  let metrics: any MetricsFactory
  /// A source of up to so many bytes is migrated on one thread: more of them would cost more than they gain.
  package var smallStore = MigrationJob.smallStore
  package static let smallStore: UInt64 = 512 << 10
  /// The run of a source of up to so many bytes begins without a plan on the disk: it is over too soon to need one.
  package var largestUnwritten = MigrationJob.largestUnwritten
  package static let largestUnwritten: UInt64 = 64 << 20
  /// A run opens its source several times.
  let logs = LogMemory()

  /// Uses a disk, the program's policies, a logger that gets what the job's own log gets, a handler for custom stages,
  /// and a backend of swift-metrics: rows, bytes and checkpoints as counters, the part that is done and the seconds
  /// that are left as gauges, about once a second, under the labels of `--metrics`.
  public init(
    fileSystem: any FileSystem = LocalFileSystem(), policies: PolicyRegistry = PolicyRegistry(),
    logger: Logger = JobLog.silent,
    stageHandler: StageHandler? = nil, metrics: any MetricsFactory = MetricsSystem.factory
  ) {
    self.metrics = metrics
    self.stageHandler = stageHandler
    self.logger = logger
    self.fileSystem = fileSystem
    self.policies = policies
  }
}
