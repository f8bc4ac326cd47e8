import CoreDataStore
import CoreMetrics
import Foundation
import Logging
import MappingModels
import Migrations
import RunSupport
import StoreVerification
import Streams

/// One migration of one store: starts it, resumes it after an interruption, and puts the result in place.
///
/// Order of a run: lease, source under lock, newest checkpoint, steps, verification, cut-over, removal of the job directory.
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
    /// Which parts of the steps are made; other than all only to an ``output``.
    public var parts = PartSelection()

    /// How many objects that cannot be migrated are rejected before the run ends; nil for none. Every step is a pass of its own then.
    public var rejects: RejectLimit?

    /// Options with which a command asks for the same migration, all but the store's path and the output: they say how
    /// rejected objects are replayed, and how a run is started over. Empty if there is no command.
    public var arguments: [String] = []

    /// Objects whose fate is logged, at the level trace. Every step is a pass of its own then, and the tables
    /// with these objects take longer; the result is the same. A run that is resumed logs nothing of them.
    public var explains: [ExplainedObjects] = []
    /// Who asks, if it is not a person; it is kept in the record of the run, see ``RunReport/origin``.
    public var origin: String?
    /// Whether several steps are made in one pass, if that gives the same.
    var makesOnePass: Bool { fuses && rejects == nil && explains.isEmpty }

    /// How many backups stay when the store was replaced, the new one included; nil for all.
    public var keepsBackups: BackupLimit?

    /// What may be lost that the version history of the model does not drop.
    public var consent = LossConsent()

    /// Whether to give up an interrupted migration to the same path. Otherwise the request is refused.
    public var restarts = false

    /// Makes a request with the defaults.
    public init(
      source: String, output: String? = nil, models: [String], mappings: [String] = [], target: MigrationTarget = .current
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
  let logger: Logger
  let stageHandler: StageHandler?
  let metrics: any MetricsFactory
  /// A run opens its source several times.
  let logs = LogMemory()

  /// Uses a disk, the program's policies, a logger that gets what the job's own log gets, a handler for custom stages, and a backend of
  /// swift-metrics: rows, bytes and checkpoints as counters, the part that is done and the seconds that are left as gauges, about once a
  /// second, under the labels of `--metrics`.
  public init(
    fileSystem: any FileSystem = LocalFileSystem(), policies: PolicyRegistry = PolicyRegistry(), logger: Logger = JobLog.silent,
    stageHandler: StageHandler? = nil, metrics: any MetricsFactory = MetricsSystem.factory
  ) {
    self.metrics = metrics
    self.stageHandler = stageHandler
    self.logger = logger
    self.fileSystem = fileSystem
    self.policies = policies
  }

  /// Plans a migration. Nothing is written.
  ///
  /// - Throws: ``BatchError``: what a migration of the request would be refused for.
  public func plan(_ request: Request) throws -> MigrationPlan {
    try BatchError.looking { try plan(request, countsRows: true).plan }
  }

  /// Foresees what a plan takes: a sample of the store goes through its steps, into memory; the disk is tried with a file without a name.
  /// Takes about a second: some 24 MiB of the store are read, less where memory is short. Policies are called with objects of the sample.
  ///
  /// Nil for a plan with nothing to do.
  ///
  /// - Throws: ``BatchError``: what a run would throw over these rows (`policyFailed`, `refused`, `badStore`), and `refused` where they make
  ///   so much that a rehearsal has no memory for it.
  public func forecast(_ request: Request, _ plan: MigrationPlan) throws -> MigrationForecast? {
    // The run itself has its own share.
    let free = MemoryLimit().find().map { Double($0.bytes) - Double(request.memory.total) } ?? .infinity
    let bytes = min(Rehearsal.sampleBytes, max(1_048_576, free / 10))
    return try BatchError.looking { try forecast(request, plan, sampleBytes: bytes) }
  }

  func forecast(_ request: Request, _ plan: MigrationPlan, sampleBytes: Double) throws -> MigrationForecast? {
    guard !plan.isUpToDate else { return nil }
    // As a run does once more.
    let begin = ContinuousClock.now
    _ = try self.plan(request, countsRows: false)
    let planning = (ContinuousClock.now - begin) / .seconds(1)
    let source = try SourceStore.opened(request.source, fileSystem, locking: .shared, logs: logs)
    defer { source.close() }
    return try Rehearsal(
      plan: plan, policies: policies, memory: request.memory, extras: request.extras, validation: request.validation,
      verification: request.verification,
      directory: FilePaths.directory(of: JobDirectory(destination: request.output ?? request.source).destination),
      planning: planning,
      sampleBytes: sampleBytes
    ).run(source)
  }

  /// A plan, and what it was made of.
  func plan(_ request: Request, countsRows: Bool) throws -> (plan: MigrationPlan, seen: StoreSighting) {
    let source = try SourceStore.opened(request.source, fileSystem, locking: .shared, logs: logs)
    defer { source.close() }
    let seen = try StoreSighting(source, fileSystem)
    let (library, mappings) = (try ModelLibrary(paths: request.models), try mappings(request))
    var plan = try planner(request, library, mappings).plan(source, target: request.target, countsRows: countsRows)
    plan.notes += [source.metadata.newerFramework].compactMap { $0 }
    if source.isRecovered { plan.notes.append(SourceStore.recoveryNote) }
    plan.notes += try otherFileSystem(request)
    if request.output == nil, !mayWrite(request.source) {
      plan.notes.append("this user may read the store but not replace it: migrate it as its owner, or elsewhere with --output")
    }
    let writers = FileUsers.writing(request.source)
    if !writers.isEmpty {
      plan.notes.append(
        "\(writers.joined(separator: ", ")) has the store open to write: end it, because what it writes later may be lost")
    }
    try look(at: &plan, request, source)
    // Last: a mapping that cannot work at all is a better answer than what it would lose.
    plan.notes += try PlanJudge(request, plan, library, mappings, policies).notes(source)
    return (plan, seen)
  }

  /// What the engine would refuse, the plan refuses. Later steps read stores that do not exist yet, but their layout is known, and
  /// which triggers they have.
  private func look(at plan: inout MigrationPlan, _ request: Request, _ source: StoreReader) throws {
    var (reader, stage) = (source, 0)
    var history: HistoryRows?
    for (index, planned) in plan.steps.enumerated() {
      let files = StepFiles(prefix: request.source, fileSystem: fileSystem, budget: request.memory)
      let step = try StepPlan(
        step: planned, reader: reader, policies: policies, files: files, now: 0, extras: request.extras,
        validation: request.validation)
      if index == 0 { history = step.carried.history }
      history = try history.flatMap { try step.carried.fates?.pass($0, isForeseen: index > 0) }
      plan.notes += step.carried.notes.filter { !plan.notes.contains($0) }
      plan.accounts[stage].lines += TriggerLines(step).lines
      if index == 0 { plan.notes += try ExternalDataSurvey(source, step.origin, fileSystem: fileSystem)?.notes ?? [] }
      stage += planned.passed.count + 1
      if index + 1 < plan.steps.count {
        let triggers = step.carried.texts.filter { $0.type == "trigger" }
        reader = try EmptyStore.reader(of: plan.steps[index + 1].origin, triggers: triggers)
      }
    }
  }

  func planner(_ request: Request) throws -> MigrationPlanner {
    planner(request, try ModelLibrary(paths: request.models), try mappings(request))
  }

  private func planner(_ request: Request, _ library: ModelLibrary, _ mappings: [PlanJudge.Mappings]) -> MigrationPlanner {
    MigrationPlanner(
      library: library, mappings: mappings.flatMap(\.models), policies: policies, order: request.order,
      fuses: request.makesOnePass, parts: request.parts, inference: request.inference)
  }

  private func mappings(_ request: Request) throws -> [PlanJudge.Mappings] {
    try request.mappings.map { PlanJudge.Mappings(path: $0, models: try MappingModelReader.read(path: $0)) }
  }

  /// What a person should know of an output elsewhere.
  private func otherFileSystem(_ request: Request) throws -> [String] {
    guard let output = request.output else { return [] }
    let bytes = try ExternalDataCopy(fileSystem: fileSystem).bytes(of: request.source)
    let directories = [request.source, output].map(FilePaths.directory(of:))
    guard try fileSystem.status(directories[0])?.device != fileSystem.status(directories[1])?.device else { return [] }
    let external = bytes > 0 ? "; \(bytes) bytes of external data are copied to it, not linked" : ""
    return ["the output lies on another file system than the store: disk space is needed there\(external)"]
  }
}
