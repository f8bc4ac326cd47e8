import LoadTables
import MappingModels
import MigrationJobs
import Migrations
import RunSupport
import Streams

// What is asked of loads, and of servers as destinations: nothing of it writes to a server.
extension MigrationJob {
  /// The tables that a plan's result would get on a server, as SQL, and what of the model has no counterpart. Nothing is
  /// written, and no server is asked.
  ///
  /// - Throws: ``BatchError``: `refused` for names that a server would not take.
  package func postgresScript(
    _ plan: MigrationPlan, _ destination: PostgresDestination
  ) throws -> (sql: String, notes: [String]) {
    try BatchError.looking {
      let schema = try LoadSchemaPlanner.plan(plan.targetVersion, destination.options)
      return (PostgresStatements(schema: schema).script, schema.notes)
    }
  }

  /// The database that a request's mapping files name for its result; nil if none does. Nothing is written.
  ///
  /// - Throws: ``BatchError`` as ``plan(_:for:)`` does.
  public func destination(of request: Request) throws -> LoadDestination? {
    try BatchError.looking {
      guard try request.mappings.contains(where: MappingModelReader.namesDestination) else { return nil }
      return try plan(request).destination
    }
  }

  /// How far the load of a store into a server is; nil if there is none. Nothing is written, and no server is asked.
  package func postgresStatus(_ path: String) throws -> JobStatus? {
    guard let folder = try LoadFolder(store: path, fileSystem) else { return nil }
    return try folder.seen { try status(of: folder) }
  }

  private func status(of folder: LoadFolder) throws -> JobStatus? {
    guard try folder.exists() else { return nil }
    var status = try ownership(of: folder.job)
    var unreadable: String?
    do {
      let (plan, _) = try folder.read()
      (status.source, status.target, status.destination) = (plan.source, plan.version, plan.place)
      // What is migrated has a copy.
      if !plan.isMigrated, plan.outcome == nil, status.state != .running, try fileSystem.status(plan.source) == nil {
        status.resumeRefusal = BatchError.Code.noSuchFile.exitCode
        status.problems.append("the store is missing")
      }
    } catch let error as BatchError {
      status.problems.append("\(error)")
      unreadable = error.hint
      if status.state != .running { status.resumeRefusal = error.exitCode }
    }
    var inner: String?
    if let job = try folder.migration() { inner = try add(job, in: folder, &status) } else { status.phase = "loading" }
    guard status.state != .running else { return status }
    let life = try LoadLife(folder, fileSystem)
    // Whoever has begun it since says the rest.
    guard life.phase != .live else { return status }
    if life.phase != .interrupted { status.problems.append(life.what) }
    if case .failed = life.phase { (status.state, status.failureCode) = (.failed, folder.failure()?.exitCode) }
    if life.phase == .changed { status.resumeRefusal = BatchError.Code.badCheckpoint.exitCode }
    let first = status.resumeRefusal != nil && life.phase == .interrupted ? "Correct that first. " : ""
    if life.phase != .interrupted { inner = nil }
    status.advice = unreadable ?? inner ?? first + life.wayOut.text
    return status
  }

  /// How far the migration in a load is; nobody goes on with it alone. Returns what to do where this program
  /// cannot resume it, whatever a person corrects.
  private func add(_ job: JobDirectory, in folder: LoadFolder, _ status: inout JobStatus) throws -> String? {
    let migration = try self.status(folder.store)
    (status.checkpoint, status.step, status.rowsRead) = (migration.checkpoint, migration.step, migration.rowsRead)
    (status.progress, status.secondsSinceCheckpoint) = (migration.progress, migration.secondsSinceCheckpoint)
    status.phase = "migrating before it is loaded"
    guard status.state != .running, let refusal = migration.resumeRefusal else { return nil }
    status.resumeRefusal = status.resumeRefusal ?? refusal
    status.problems += migration.problems
    let program = program(of: job)
    let advice = LoadAdvice(folder, program: program ?? ProgramName.current)
    if refusal == BatchError.Code.badCheckpoint.exitCode { return "Begin again: \(advice.beginningAgain)" }
    guard lacksPolicies(of: job) else { return nil }
    // The program that can go on may have no name.
    let resume = program.map { "\(ProgramName.command(["resume", folder.source], of: $0))" }
    return "Go on with \(resume ?? "that program's command resume"), or give the load up with \(advice.givingUp)"
  }

  /// Refuses a report of a load into a server, which has none.
  ///
  /// - Throws: ``BatchError``: `refused`, if one is or was under way.
  package func refusePostgresReport(_ path: String) throws {
    guard let status = try postgresStatus(path) else { return }
    let look = ProgramName.command("status", status.source ?? path)
    throw BatchError(
      .refused, "this store is being loaded into a server, and such loads have no report",
      hint: "\(look) shows how far it is", effect: .nothingWritten, next: [look.line], path: path)
  }

  /// Changes what is asked of the process that loads a store, as ``order(_:_:)`` does; false if there is no load.
  package func orderPostgres(_ path: String, _ change: (inout RunOrders) -> Void) throws -> Bool {
    try BatchError.border {
      guard let folder = try LoadFolder(store: path, fileSystem), try folder.exists() else { return false }
      try order(try folder.migration() ?? folder.job, path: path, change: change)
      return true
    }
  }
}
