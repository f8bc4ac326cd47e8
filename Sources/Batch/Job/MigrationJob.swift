import Foundation
import Logging
import Streams

/// One migration of one store: starts it, goes on with it after an interruption, and puts the result in place.
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
    /// Peak memory.
    public var memory = MemoryBudget.standard
    /// When checkpoints are due.
    public var interval = RunMonitor.standardInterval
    /// Who builds the indexes?
    public var indexBuilding = IndexBuilding.engine
    /// How the finished store is proved before the cut-over.
    public var verification = VerificationMode.fast
    /// Make steps that can be inferred in one pass, where the result is the same?
    public var fuses = true
    /// Which parts of the steps are made; other than all only to an ``output``.
    public var parts = PartSelection()

    /// How many backups stay when the store was replaced, the new one included; nil for all.
    public var keepsBackups: BackupLimit?

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

  /// What a migration did.
  public struct Report: Sendable, Equatable {
    /// The path that has the result.
    public var destination: String
    /// The path that has the old store, when it was replaced.
    public var backup: String?
    /// Versions before and after.
    public var sourceVersion: String
    /// See ``sourceVersion``.
    public var targetVersion: String
    /// Steps of the path; 0 when the store was left alone.
    public var steps: Int
    /// Source rows read by this process, all steps together.
    public var rowsRead: UInt64 = 0
    /// Objects of the result by entity; empty without verification.
    public var rows: [String: UInt64] = [:]
    /// Values outside the result; nil without verification, and where the model knows none.
    public var externalData: ExternalDataReport?
    /// Was the result proved?
    public var isVerified = false
    /// Bytes of the result.
    public var bytes: UInt64 = 0
    /// What a person should know.
    public var notes: [String] = []
    /// What became of the rows, step by step; empty where an earlier process had finished all but the cut-over.
    public var accounts: [StepAccount] = []
  }

  let fileSystem: any FileSystem
  let policies: PolicyRegistry
  let logger: Logger
  let stageHandler: StageHandler?
  /// A run opens its source several times.
  private let logs = LogMemory()

  /// Uses a disk, the program's policies, a logger that is told what the job's own log is told, and a handler for custom stages.
  public init(
    fileSystem: any FileSystem = LocalFileSystem(), policies: PolicyRegistry = PolicyRegistry(), logger: Logger = JobLog.silent,
    stageHandler: StageHandler? = nil
  ) {
    self.stageHandler = stageHandler
    self.logger = logger
    self.fileSystem = fileSystem
    self.policies = policies
  }

  /// Plans a migration. Nothing is written.
  public func plan(_ request: Request) throws -> MigrationPlan { try plan(request, countsRows: true) }

  private func plan(_ request: Request, countsRows: Bool) throws -> MigrationPlan {
    let source = try SourceStore.open(request.source, fileSystem, locking: .shared, logs: logs)
    defer { source.close() }
    var plan = try planner(request).plan(
      source, target: request.target, countsRows: countsRows)
    plan.notes += [source.metadata.newerFramework].compactMap { $0 }
    if source.isRecovered { plan.notes.append(SourceStore.recoveryNote) }
    plan.notes += try otherFileSystem(request)
    // What the engine would refuse, the plan refuses. Later steps read stores that do not exist yet, but their layout is known.
    for (index, planned) in plan.steps.enumerated() {
      let files = StepFiles(prefix: request.source, fileSystem: fileSystem, budget: request.memory)
      let step = try StepPlan(
        step: planned, reader: index == 0 ? source : EmptyStore.reader(of: planned.source), policies: policies, files: files,
        now: 0, extras: request.extras)
      guard index == 0 else { continue }
      plan.notes += step.carried.notes
      plan.notes += try ExternalDataSurvey(source, step.binding, fileSystem: fileSystem)?.notes ?? []
    }
    return plan
  }

  private func planner(_ request: Request) throws -> MigrationPlanner {
    MigrationPlanner(
      library: try ModelLibrary(paths: request.models),
      mappings: try request.mappings.flatMap { try MappingModelReader.read(path: $0) }, policies: policies, order: request.order,
      fuses: request.fuses, parts: request.parts)
  }

  /// Migrates a store. One whose migration was interrupted is refused: see ``resume(_:memory:monitor:)``.
  ///
  /// On return the result is durable under its name, or the store needed nothing. A run that is interrupted is finished by
  /// ``resume(_:memory:monitor:)``.
  public func migrate(_ request: Request, monitor: RunMonitor) throws -> Report {
    let sourcePath = try JobDirectory(destination: request.source).destination
    let job = try JobDirectory(destination: request.output ?? request.source)
    guard request.parts.isAll || job.destination != sourcePath else {
      throw BatchError(
        .refused, "a store of some parts cannot take the place of the whole one",
        hint: "Give it a path of its own with --output; nothing was written", path: sourcePath)
    }
    try refuseExistingRun(job)
    let plan = try plan(request, countsRows: false)
    guard !plan.isUpToDate else {
      return Report(
        destination: sourcePath, sourceVersion: plan.sourceVersion.name, targetVersion: plan.targetVersion.name, steps: 0)
    }
    try refuseEarly(plan, job, isInPlace: sourcePath == job.destination)
    try job.create(fileSystem)
    let lease = try Lease.take(in: job, fileSystem)
    defer { lease.release() }
    do {
      let run = try begin(request, plan, job, source: sourcePath)
      return try MigrationRun(
        job: job, plan: run, fileSystem: fileSystem, policies: policies, monitor: monitor, logger: logger,
        logs: logs, stageHandler: stageHandler
      )
      .run()
    } catch {
      // Nothing was migrated yet: a directory without a checkpoint would only be in the way.
      if try fileSystem.list(job.checkpoints).isEmpty, try fileSystem.status(job.cutOver) == nil {
        JobRegistry(fileSystem).forget(source: sourcePath)
        try job.remove(fileSystem)
      }
      throw error
    }
  }

  /// Refuses when a run of this destination exists, alive or interrupted.
  func refuseExistingRun(_ job: JobDirectory) throws {
    guard try job.exists(fileSystem) else { return }
    guard try isBegun(job) else { return try removeLeftover(job) }
    // A live run first: the advice to remove its directory would be a trap.
    try Lease.take(in: job, fileSystem).release()
    guard try isBegun(job) else { return }
    throw BatchError(
      .refused, "an interrupted migration to this store exists",
      hint: "Run \(ProgramName.current) resume, or remove \(job.path) to give it up; nothing was written", path: job.path)
  }

  /// Has the directory's run a plan, or a cut-over to finish? A kill in the removal of the directory leaves only the latter.
  private func isBegun(_ job: JobDirectory) throws -> Bool {
    try fileSystem.status(job.plan) != nil || fileSystem.status(job.cutOver) != nil
  }

  /// Removes a directory that a kill left before its run had a plan, or after its end: nothing in it means anything.
  func removeLeftover(_ job: JobDirectory) throws {
    let lease = try Lease.take(in: job, fileSystem)
    defer { lease.release() }
    if try !isBegun(job) { try job.remove(fileSystem) }
  }

  private func refuseEarly(_ plan: MigrationPlan, _ job: JobDirectory, isInPlace: Bool) throws {
    if !isInPlace, try fileSystem.statusOfName(job.destination) != nil {
      throw BatchError(
        .refused, "the output exists already", hint: "Choose another path, or remove the file; nothing was written",
        path: job.destination)
    }
    if !isInPlace, try ExternalDataCopy.exists(for: plan.source, fileSystem),
      try ExternalDataCopy.exists(for: job.destination, fileSystem)
    {
      throw BatchError(
        .refused, "a folder of external data lies where the output's would be",
        hint:
          "Choose another path, or move the folder away (an interrupted migration to this path may have left it); nothing was written",
        path: ExternalDataFolder(store: job.destination).path)
    }
    let directory = FilePaths.directory(of: job.destination)
    let free = try fileSystem.availableSpace(directory)
    let needed = plan.diskNeeded + (try externalBytes(plan.source, directory))
    guard free >= needed else {
      throw BatchError(
        .refused, "the migration needs \(needed >> 20) MiB on the disk, \(free >> 20) MiB are free",
        hint: "Free space, or choose another disk with --output; nothing was written", path: directory)
    }
    guard access(directory, W_OK) == 0 else {
      throw BatchError(
        .refused, "the directory cannot be written",
        hint: "Choose another place with --output, or run as a user who may write there; nothing was written", path: directory)
    }
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

  /// Files of external data are linked, but for a destination on another file system.
  private func externalBytes(_ source: String, _ directory: String) throws -> UInt64 {
    let devices = [FilePaths.directory(of: source), directory].map { try? fileSystem.status($0)?.device }
    return devices[0] == devices[1] ? 0 : try ExternalDataCopy(fileSystem: fileSystem).bytes(of: source)
  }

  /// Writes down the plan, with copies of everything that it refers to.
  private func begin(_ request: Request, _ plan: MigrationPlan, _ job: JobDirectory, source: String) throws -> JobPlan {
    let now = Date().timeIntervalSinceReferenceDate.rounded()
    // As strict as the run itself: a store that is in use is refused before anything is written.
    let reader = try SourceStore.open(source, fileSystem, locking: .exclusive, copyFolder: job.recovered, logs: logs)
    defer { reader.close() }
    // The version's name, not "the current one": the run does not ask again which one that is.
    let target = request.target == .identity ? MigrationTarget.identity : .version(plan.targetVersion.name)
    var run = JobPlan(
      source: source, destination: job.destination, sourceVersion: plan.sourceVersion.name,
      targetVersion: plan.targetVersion.name,
      target: target, extras: request.extras, successors: plan.successors, stages: request.order.stages, fuses: request.fuses,
      parts: request.parts.isAll ? nil : request.parts,
      steps: plan.steps.count,
      models: try copies(request.models, "models", job) {
        try PackageFolders.find(ModelReader.extensions, below: $0, code: .badModel)
      },
      mappings: try copies(request.mappings, "mappings", job, find: MappingModelReader.documents(below:)), now: now,
      memory: request.memory.total, verification: request.verification, indexBuilding: request.indexBuilding,
      backupSuffix: StoreBackup.suffix(.replaced, now), keepsBackups: request.keepsBackups, notes: plan.notes,
      planFingerprint: PlanFingerprint.hex(
        try PlanFingerprint.of(
          steps: plan.steps, extras: request.extras, indexes: request.indexBuilding, policies: policies, now: now)),
      sourceFingerprint: PlanFingerprint.hex(try SourceFingerprint.of(reader.snapshot)),
      sourceModified: try fileSystem.status(source)?.modified,
      policies: try policyVersions(plan.steps))
    switch request.interval {
    case .seconds(let seconds): run.checkpointSeconds = seconds
    case .bytes(let bytes): run.checkpointBytes = bytes
    }
    try run.write(to: job, fileSystem)
    let log = try JobLog(job, fileSystem, logger: logger)
    defer { log.close() }
    try log.append("started: \(plan.sourceVersion.name) to \(plan.targetVersion.name), \(plan.steps.count) steps")
    if let error = JobRegistry(fileSystem).record(source: source, job: job) {
      try log.append("the run cannot be found by its source, only by its destination: \(error)")
    }
    return run
  }

  private func policyVersions(_ steps: [MigrationStep]) throws -> [String: String] {
    var versions: [String: String] = [:]
    for mapping in steps.flatMap(\.mappingModels).flatMap(\.entityMappings) {
      if let name = mapping.policyClassName { versions[name] = try policies.version(for: mapping) }
    }
    return versions
  }

  /// Copies models or mapping models into the job directory, each package under a number, so that names cannot collide. Only
  /// what the readers read is copied, and it is durable on return.
  private func copies(
    _ paths: [String], _ folder: String, _ job: JobDirectory, find: (String) throws -> [String]
  ) throws -> [String] {
    var packages: [String] = []
    for path in paths {
      let path = try JobDirectory.resolve(path)
      // A file is named by itself: a mapping model's xcmapping.xml.
      packages += PackageFolders.isFolder(path) ? try find(path) : [path]
    }
    let copies = try packages.enumerated().map { index, package in
      let relative = "\(folder)/\(index)/\(FilePaths.name(of: package))"
      try fileSystem.makeDirectory(job.file("\(folder)/\(index)"))
      try copy(package, to: job.file(relative), depth: 8)
      for table in try MappingModelReader.tableFiles(of: package) {
        try copy(FilePaths.join(FilePaths.directory(of: package), table), to: job.file("\(folder)/\(index)/\(table)"), depth: 0)
      }
      try fileSystem.syncDirectory(job.file("\(folder)/\(index)"))
      return relative
    }
    try fileSystem.syncDirectory(job.file(folder))
    return copies
  }

  private func copy(_ path: String, to target: String, depth: Int) throws {
    guard try fileSystem.status(path)?.isDirectory == true else {
      return try fileSystem.writeDurably(try fileSystem.readAll(path, cap: 256 << 20), to: target)
    }
    guard depth > 0 else { throw BatchError(.badModel, "folders are nested too deeply", path: path) }
    try fileSystem.makeDirectory(target)
    for name in try fileSystem.list(path) {
      try copy(FilePaths.join(path, name), to: FilePaths.join(target, name), depth: depth - 1)
    }
    try fileSystem.syncDirectory(target)
  }

  /// Finishes an interrupted run, found by its source or its destination. Throws `refused` when there is none.
  ///
  /// `memory` replaces the run's own budget; the finished bytes do not depend on it. With `takeOver` a process that has the lease
  /// and gives no sign of life is killed first, see ``Lease/takeOver(_:_:patience:)``.
  public func resume(
    _ path: String, memory: MemoryBudget? = nil, takeOver: Bool = false,
    monitor makeMonitor: (RunMonitor.Interval) -> RunMonitor
  ) throws -> Report {
    let found = try JobRegistry(fileSystem).find(path)
    guard let job = found, try isBegun(job) else {
      if let found { try removeLeftover(found) }
      throw BatchError(
        .refused, "no interrupted migration of this store is known", hint: "Start one with \(ProgramName.current) migrate",
        path: path)
    }
    let lease = takeOver ? try Lease.takeOver(job, fileSystem) : try Lease.take(in: job, fileSystem)
    defer { lease.release() }
    guard try fileSystem.status(job.plan) != nil else { return try endRemoval(job) }
    var plan = try JobPlan.read(job, fileSystem)
    if let memory { plan.memory = memory.total }
    let run = MigrationRun(
      job: job, plan: plan, fileSystem: fileSystem, policies: policies, monitor: makeMonitor(plan.interval),
      logger: logger, logs: logs, stageHandler: stageHandler)
    return try run.run()
  }

  /// The run was done and its directory half removed: the plan is gone, so little can be reported.
  private func endRemoval(_ job: JobDirectory) throws -> Report {
    let finished = try CutOver(fileSystem: fileSystem, job: job).resume()
    try job.remove(fileSystem)
    return Report(
      destination: job.destination, backup: finished?.backup, sourceVersion: "", targetVersion: "", steps: 1,
      bytes: try fileSystem.status(job.destination)?.size ?? 0)
  }
}
