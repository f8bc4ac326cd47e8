import LoadTables
import MappingModels
import MigrationJobs
import Migrations
import RunSupport
import Streams

extension MigrationJob {
  /// Migrates a store, if its version is not the target's, and loads the result into a server. The store itself stays
  /// as it is.
  ///
  /// What is interrupted is finished by
  /// ``resumeLoad(_:server:memory:takeOver:rejects:consent:history:monitor:)``.
  ///
  /// - Throws: ``BatchError`` as ``migrate(_:monitor:)`` does; `refused` for a server that cannot be reached or has
  ///   such tables, before anything is done; and `badCheckpoint` where the store was written since its load began.
  package func loadPostgres(
    _ request: Request, to destination: PostgresDestination, monitor makeMonitor: (RunMonitor.Interval) -> RunMonitor
  ) throws -> Report {
    try settledLoad(request.source) {
      try loaded(request, server: destination.server, options: destination.options, makeMonitor: makeMonitor)
    }
  }

  private func loaded(
    _ request: Request, server: PostgresServer, options: PostgresOptions,
    makeMonitor: (RunMonitor.Interval) -> RunMonitor
  ) throws -> Report {
    guard let folder = try LoadFolder(store: request.source, fileSystem) else {
      throw NearName.noSuchFile(request.source)
    }
    try refuseSecondLoad(folder, request)
    let plan = try self.plan(request)
    let load = try loadPlan(request, plan, to: PostgresDestination(server: server, options: options))
    // After hours of work it would be too late.
    try ask(server, of: load, found: plan) { try $0.check() }
    let lease = try folder.begin()
    defer { lease.release() }
    // Another process may have begun one meanwhile.
    try refuseSecondLoad(folder, request, isOwn: true)
    try folder.create(load, plan.targetVersion)
    var (migrated, earlier): (Report?, RunMonitor?)
    if load.isMigrated {
      let monitor = makeMonitor(request.interval)
      (earlier, migrated) = (monitor, try migrateInFront(request, into: folder, monitor))
    }
    return try finish(folder, lease: lease, server: server, migrated: migrated) {
      earlier?.successor(makeMonitor($0)) ?? makeMonitor($0)
    }
  }

  private func migrateInFront(_ request: Request, into folder: LoadFolder, _ monitor: RunMonitor) throws -> Report {
    var request = request
    request.output = folder.store
    request.memory = Self.besideServer(request.memory)
    // The migrated store goes, so that nothing can be migrated to it again.
    request.arguments = []
    let report: Report
    do { report = try migrate(request, monitor) } catch {
      // Nothing was begun: the folder would only be in the way.
      if try folder.migration() == nil { _ = try folder.remove(rejects: nil) }
      // A command that goes on with the migration alone would leave the load where it is.
      throw BatchError(wrapping: error).withoutNext
    }
    try folder.note(report)
    return report
  }

  private func refuseSecondLoad(_ folder: LoadFolder, _ request: Request, isOwn: Bool = false) throws {
    guard try folder.exists() else { return }
    let life = try LoadLife(folder, fileSystem, isOwn: isOwn)
    if life.phase != .live, (try? hasDoneNothing(folder)) == true { return }
    let (text, next) = life.wayOut
    throw BatchError(
      life.phase == .live ? .leaseHeld : .refused, life.what, hint: text, effect: .nothingWritten,
      next: next.map(\.line), path: request.source)
  }

  /// Whether a load ended before anything was migrated. Then there is nothing to resume.
  func hasDoneNothing(_ folder: LoadFolder) throws -> Bool {
    guard try folder.read().plan.isMigrated, try fileSystem.status(folder.store) == nil else { return false }
    return try folder.migration().map { try !isBegun($0) } ?? true
  }

  /// What a run may take when libpq is in memory, with the libraries that it brings.
  static func besideServer(_ memory: MemoryBudget) -> MemoryBudget {
    MemoryBudget(total: memory.total - (16 << 20))
  }

  /// What the load of a request is.
  private func loadPlan(_ request: Request, _ plan: MigrationPlan, to destination: PostgresDestination) throws
    -> LoadPlan
  {
    let options = destination.options
    var load = try LoadPlan(request, plan: plan, options: options, server: destination.server, fileSystem)
    let statements = PostgresStatements(schema: try LoadSchemaPlanner.plan(plan.targetVersion, options))
    load.mark = load.mark(statements, steps: try fingerprint(of: plan, request))
    return load
  }

  /// Asks the server of a load something before any work is done.
  private func ask<Answer>(
    _ server: PostgresServer, of plan: LoadPlan, found: MigrationPlan, _ body: (PostgresLoad) throws -> Answer
  ) throws -> Answer {
    let store = try LoadStore(plan.source, model: found.sourceVersion, fileSystem)
    defer { store.close() }
    let schema = try LoadSchemaPlanner.plan(found.targetVersion, plan.options)
    return try body(
      PostgresLoad(
        schema: schema, store: store, server: server, proves: false, rowLimit: 0, monitor: RunMonitor(), isBegun: false)
    )
  }

  /// The report of a load that has nothing left to do: an earlier one has brought this store, as it is now, into the
  /// schema by the same request, and its tables are there. Nil otherwise. Nothing is written.
  package func finishedPostgres(_ request: Request, to destination: PostgresDestination) throws -> Report? {
    let plan = try plan(request)
    let load = try loadPlan(request, plan, to: destination)
    guard try ask(destination.server, of: load, found: plan, { try $0.isDone(load.mark) }) else { return nil }
    var report = Report(
      destination: load.place, sourceVersion: load.sourceVersion, targetVersion: load.version, steps: 0)
    report.notes = ["an earlier load brought this store there, and the store has not changed since"]
    return report
  }
}
