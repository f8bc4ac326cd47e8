import Foundation
import Streams

extension MigrationJob {
  /// The tables that a request's store would get, as a script for psql. Nothing is written, and no server is asked.
  public func postgresScript(_ plan: MigrationPlan, _ options: PostgresOptions) throws -> (sql: String, notes: [String]) {
    let schema = try PostgresSchemaPlanner.plan(plan.targetVersion, options)
    return (PostgresStatements(schema: schema).script, schema.notes)
  }

  /// Migrates a store, if its version is not the target's, and loads the result into PostgreSQL. The store itself stays as it is.
  ///
  /// On return all rows, keys and indexes are durable on the server and, but for ``VerificationMode/none``, read back and compared; its
  /// path in the report names server and schema. What is interrupted is finished by ``resumeLoad(_:server:memory:takeOver:monitor:)``. Throws as
  /// ``migrate(_:monitor:)`` does, and `refused` for a server that cannot be reached or has such tables, and where the request has an output.
  public func load(
    _ request: Request, to server: PostgresServer, _ options: PostgresOptions, monitor makeMonitor: (RunMonitor.Interval) -> RunMonitor
  ) throws -> Report {
    let folder = try LoadFolder(store: request.source, fileSystem)
    guard try !folder.exists() else {
      throw BatchError(
        .refused, "an interrupted load of this store exists",
        hint: "Run \(ProgramName.current) resume, or remove \(folder.path) and the tables to give it up; nothing was written",
        path: request.source)
    }
    let plan = try self.plan(request)
    var load = LoadPlan(
      source: try JobDirectory(destination: request.source).destination,
      isMigrated: !plan.isUpToDate && request.target != .identity, sourceVersion: plan.sourceVersion.name,
      version: plan.targetVersion.name, options: options, server: server.withoutPassword, memory: request.memory.total,
      verification: request.verification)
    switch request.interval {
    case .seconds(let seconds): load.interval = seconds
    case .bytes(let bytes): load.intervalBytes = bytes
    }
    // Hours later would be late.
    try refuseServer(load, plan, server)
    try folder.create(load, plan.targetVersion)
    var migrated: Report?
    if load.isMigrated {
      var request = request
      request.output = folder.store
      do { migrated = try migrate(request, monitor: makeMonitor(request.interval)) } catch {
        // Nothing was begun: the folder would only be in the way.
        if try JobDirectory(destination: folder.store).exists(fileSystem) == false { _ = try folder.remove(rejects: nil) }
        throw error
      }
    }
    return try finish(folder, server, migrated, isBegun: load.isMigrated, makeMonitor)
  }

  /// Goes on with an interrupted load; nil where there is none of this store. `server` has a password that the first command's had, too;
  /// without it libpq asks its environment.
  public func resumeLoad(
    _ path: String, server: PostgresServer? = nil, memory: MemoryBudget? = nil, takeOver: Bool = false,
    monitor makeMonitor: (RunMonitor.Interval) -> RunMonitor
  ) throws -> Report? {
    let folder = try LoadFolder(store: path, fileSystem)
    guard try folder.exists() else { return nil }
    var (plan, _) = try folder.read()
    if let memory {
      plan.memory = memory.total
      try folder.write(plan)
    }
    var migrated: Report?
    if plan.isMigrated, try JobDirectory(destination: folder.store).exists(fileSystem) {
      migrated = try resume(folder.store, memory: memory, takeOver: takeOver, monitor: makeMonitor)
    }
    guard try !plan.isMigrated || fileSystem.status(folder.store) != nil else {
      _ = try folder.remove(rejects: nil)
      throw BatchError(
        .refused, "the load had migrated nothing when it ended", hint: "Begin it again with \(ProgramName.current) migrate; nothing was written",
        path: path)
    }
    let server = server ?? PostgresServer(url: plan.server)
    return try finish(folder, server, migrated, isBegun: true, makeMonitor)
  }

  /// Asks the server before any work is done.
  private func refuseServer(_ plan: LoadPlan, _ found: MigrationPlan, _ server: PostgresServer) throws {
    let store = try LoadStore(plan.source, model: found.sourceVersion, fileSystem)
    defer { store.close() }
    try PostgresLoad(
      schema: PostgresSchemaPlanner.plan(found.targetVersion, plan.options), store: store, server: server, proves: false,
      rowLimit: 0, monitor: RunMonitor(), isBegun: false
    ).check()
  }

  /// Loads, and removes what the load kept.
  private func finish(
    _ folder: LoadFolder, _ server: PostgresServer, _ migrated: Report?, isBegun: Bool,
    _ makeMonitor: (RunMonitor.Interval) -> RunMonitor
  ) throws -> Report {
    var (plan, model) = try folder.read()
    let interval = plan.intervalBytes.map { RunMonitor.Interval.bytes($0) } ?? .seconds(plan.interval ?? 1)
    let store = try LoadStore(plan.isMigrated ? folder.store : plan.source, model: model, fileSystem)
    defer { store.close() }
    let load = PostgresLoad(
      schema: try PostgresSchemaPlanner.plan(model, plan.options), store: store, server: server, proves: plan.verification != .none,
      rowLimit: MemoryBudget(total: plan.memory).rowLimit, monitor: makeMonitor(interval), isBegun: isBegun)
    let outcome = plan.isFinished ? PostgresLoad.Outcome() : try load.run()
    plan.isFinished = true
    try folder.write(plan)
    try load.finish()
    store.close()
    var report = migrated ?? Report(destination: "", sourceVersion: plan.sourceVersion, targetVersion: plan.version, steps: 1)
    if let path = try folder.remove(rejects: migrated?.rejects?.path) { report.rejects?.path = path }
    report.destination = "\(server.withoutPassword), schema \(plan.options.schema)"
    (report.rows, report.bytes) = (outcome.rows, outcome.bytes)
    report.rowsRead = max(report.rowsRead, outcome.rows.values.reduce(0, +))
    report.notes += outcome.notes
    report.isVerified = plan.verification != .none
    return report
  }
}
