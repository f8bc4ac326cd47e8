import Foundation
import LoadTables
import MappingModels
import MigrationJobs
import Migrations
import RunSupport
import StoreVerification
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
    let load = try LoadPlan(request, plan: plan, options: options, server: server)
    // After hours of work it would be too late.
    try refuseServer(load, found: plan, server: server)
    let lease = try folder.begin()
    defer { lease.release() }
    // Another process may have begun one meanwhile.
    try refuseSecondLoad(folder, request)
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

  private func refuseSecondLoad(_ folder: LoadFolder, _ request: Request) throws {
    guard try folder.exists(), (try? hasDoneNothing(folder)) != true else { return }
    let store = try JobDirectory(destination: request.source).destination
    let resume = ProgramName.command("resume", store)
    let advice = LoadAdvice(folder)
    throw BatchError(
      .refused, "an interrupted load of this store exists",
      hint: "Go on with it: \(resume). To give it up: \(advice.givingUp)",
      effect: .nothingWritten, next: [resume.line, advice.givingUpLine], path: request.source)
  }

  /// Whether a load ended before anything was migrated. Then there is nothing to resume.
  private func hasDoneNothing(_ folder: LoadFolder) throws -> Bool {
    guard try folder.read().plan.isMigrated, try fileSystem.status(folder.store) == nil else { return false }
    return try folder.migration().map { try !isBegun($0) } ?? true
  }

  /// Resumes an interrupted load; nil if there is none of this store. `server` has a password that the first command's
  /// had, too; without it libpq asks its environment.
  ///
  /// - Throws: ``BatchError`` with its effect, as `load(_:to:monitor:)` and
  ///   ``resume(_:memory:takeOver:rejects:consent:history:mappings:heldBy:monitor:)`` do.
  public func resumeLoad(
    _ path: String, server: PostgresServer? = nil, memory: MemoryBudget? = nil, takeOver: Bool = false,
    rejects: RejectLimit? = nil, consent: LossConsent = LossConsent(), history: ExtrasOptions.History? = nil,
    monitor makeMonitor: (RunMonitor.Interval) -> RunMonitor
  ) throws -> Report? {
    try settledLoad(path) {
      try resumedLoad(
        path, server: server, memory: memory, takeOver: takeOver, rejects: rejects, consent: consent, history: history,
        makeMonitor: makeMonitor)
    }
  }

  private func resumedLoad(
    _ path: String, server: PostgresServer?, memory: MemoryBudget?, takeOver: Bool, rejects: RejectLimit?,
    consent: LossConsent, history: ExtrasOptions.History?, makeMonitor: (RunMonitor.Interval) -> RunMonitor
  ) throws -> Report? {
    guard let folder = try LoadFolder(store: path, fileSystem), try folder.exists() else { return nil }
    let lease = takeOver ? try Lease.takeOver(folder.job, fileSystem) : try Lease.take(in: folder.job, fileSystem)
    defer { lease.release() }
    var (plan, _) = try folder.read()
    plan.memory = memory?.total ?? plan.memory
    try folder.write(plan)
    var (migrated, earlier): (Report?, RunMonitor?)
    func nextMonitor(_ interval: RunMonitor.Interval) -> RunMonitor {
      let monitor = earlier?.successor(makeMonitor(interval)) ?? makeMonitor(interval)
      earlier = monitor
      return monitor
    }
    if plan.isMigrated, let job = try folder.migration(), try isBegun(job) {
      let report: Report
      do {
        report = try resumed(
          folder.store, memory: memory.map(Self.besideServer), takeOver: takeOver, rejects: rejects, consent: consent,
          history: history, makeMonitor: nextMonitor)
      } catch { throw BatchError(wrapping: error).withoutNext }
      try folder.note(report)
      migrated = report
    }
    guard try !hasDoneNothing(folder) else {
      _ = try folder.remove(rejects: nil)
      throw Self.hasDoneNothing(plan, path)
    }
    return try finish(
      folder, lease: lease, server: server ?? PostgresServer(url: plan.server), migrated: migrated,
      makeMonitor: nextMonitor)
  }

  private static func hasDoneNothing(_ plan: LoadPlan, _ path: String) -> BatchError {
    BatchError(
      .refused, "the load had migrated nothing when it ended",
      hint: "Begin it again: `\(plan.command ?? "\(ProgramName.current) migrate")`", effect: .nothingWritten,
      next: plan.command.map { [$0] } ?? [], path: path)
  }

  /// What a run may take when libpq is in memory, with the libraries that it brings.
  private static func besideServer(_ memory: MemoryBudget) -> MemoryBudget {
    MemoryBudget(total: memory.total - (16 << 20))
  }

  /// Asks the server before any work is done.
  private func refuseServer(_ plan: LoadPlan, found: MigrationPlan, server: PostgresServer) throws {
    let store = try LoadStore(plan.source, model: found.sourceVersion, fileSystem)
    defer { store.close() }
    let schema = try LoadSchemaPlanner.plan(found.targetVersion, plan.options)
    try PostgresLoad(
      schema: schema, store: store, server: server, proves: false, rowLimit: 0, monitor: RunMonitor(), isBegun: false
    ).check()
  }

  /// Loads, and removes what the load kept.
  private func finish(
    _ folder: LoadFolder, lease: Lease, server: PostgresServer, migrated: Report?,
    makeMonitor: (RunMonitor.Interval) -> RunMonitor
  ) throws -> Report {
    ProcessMemory.giveBack()
    var (plan, model) = try folder.read()
    let monitor = makeMonitor(plan.interval)
    lease.guardRun(monitor)
    let pulse = RunPulse(folder.job, monitor: monitor)
    defer { pulse.end() }
    let store = try LoadStore(plan.isMigrated ? folder.store : plan.source, model: model, fileSystem)
    defer { store.close() }
    if plan.outcome == nil { try checkSource(&plan, folder) }
    var load = PostgresLoad(
      schema: try LoadSchemaPlanner.plan(model, plan.options), store: store, server: server,
      proves: plan.verification != .none,
      rowLimit: MemoryBudget(total: plan.memory).rowLimit, monitor: monitor, isBegun: true)
    load.expectsBook = plan.isOnServer
    // It is that server only when it has shown it.
    plan.server = server.address.shown
    plan.isOnServer = true
    note(plan, in: folder, whenBegun: &load, pulse)
    if plan.outcome == nil {
      do { plan.outcome = try load.run() } catch let error as BatchError { throw LoadAdvice(folder).explained(error) }
      try checkSource(&plan, folder)
      try folder.write(plan)
    }
    try load.finish()
    pulse.end()
    let earlier = plan.isMigrated ? try earlier(folder, plan) : nil
    let rejects = try folder.remove(rejects: earlier?.rejects?.path)
    return report(plan, migrated ?? earlier, rejects: rejects, rowsLoaded: monitor.progress.rows)
  }

  /// Notes in the folder that the server has the load's tables, once it has; if it takes none, removes the folder.
  private func note(_ begun: LoadPlan, in folder: LoadFolder, whenBegun load: inout PostgresLoad, _ pulse: RunPulse) {
    load.didBegin = { try folder.write(begun) }
    load.wasTurnedAway = {
      pulse.end()
      _ = try folder.remove(rejects: nil)
    }
  }

  /// Refuses a store that was written since its load began: its rows would be of two states. The first time it notes
  /// what the store is.
  private func checkSource(_ plan: inout LoadPlan, _ folder: LoadFolder) throws {
    guard !plan.isMigrated else { return }
    let found = try StoreState(plan.source, fileSystem)
    guard let noted = plan.state else {
      plan.state = found
      return try folder.write(plan)
    }
    guard found.isSame(as: noted) else {
      let advice = LoadAdvice(folder)
      throw BatchError(
        .badCheckpoint, "the store changed since its load began: rows of two states would be mixed",
        hint: "A copy has to keep the time of change (cp -p). Otherwise begin again: \(advice.beginningAgain)",
        effect: .resumable,
        next: [advice.beginningAgainLine], path: plan.source)
    }
  }

  /// What the migration in front came to, whoever finished it.
  private func earlier(_ folder: LoadFolder, _ plan: LoadPlan) throws -> Report {
    var report = Report(
      destination: folder.store, sourceVersion: plan.sourceVersion, targetVersion: plan.version,
      steps: max(1, plan.migrated?.steps ?? 1))
    report.rowsRead = plan.migrated?.rowsRead ?? 0
    report.rejects = try plan.migrated.map { $0.rejects.map(folder.moved) } ?? folder.rejects()
    return report
  }

  private func report(
    _ plan: LoadPlan, _ migrated: Report?, rejects: String?, rowsLoaded: UInt64
  ) -> Report {
    let outcome = plan.outcome ?? PostgresLoad.Outcome()
    var report =
      migrated ?? Report(destination: "", sourceVersion: plan.sourceVersion, targetVersion: plan.version, steps: 1)
    if let rejects { report.rejects?.path = rejects }
    report.destination = plan.place
    (report.rows, report.bytes) = (outcome.rows, outcome.bytes)
    if migrated == nil { report.rowsRead = rowsLoaded }
    report.notes += outcome.notes
    report.isVerified = plan.verification != .none
    return report
  }
}
