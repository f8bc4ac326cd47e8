import MappingModels
import MigrationJobs
import Migrations
import PlainLoads
import PostgresLoads
import RunSupport

// Which destination a result goes to.
extension MigrationJob {
  /// Migrates a store, if its version is not the target's, and loads the result into a database. The store itself stays
  /// as it is.
  ///
  /// On return all rows, keys and indexes are durable and, except for ``VerificationMode/none``, read back and compared;
  /// the report's path names the place. What is interrupted on its way to a server is finished by
  /// ``resumeLoad(_:server:memory:takeOver:rejects:consent:history:monitor:)``; a file is begun anew.
  ///
  /// - Throws: ``BatchError`` as ``migrate(_:monitor:)`` does; `refused` for a server that cannot be reached or has
  ///   such tables and for a file that exists, before anything is done; and `badCheckpoint` where the store was written
  ///   since its load began.
  public func load(
    _ request: Request, to destination: LoadDestination, monitor: (RunMonitor.Interval) -> RunMonitor
  ) throws -> Report {
    switch destination {
    case .postgres(let postgres): try loadPostgres(request, to: postgres, monitor: monitor)
    case .plain(let plain): try loadPlain(request, to: plain, monitor: monitor)
    }
  }

  /// How far a load is, by its store or, into a file, by that one; nil if none is under way. Nothing is written, and no
  /// server is asked.
  ///
  /// - Throws: ``BatchError`` if the disk cannot be read.
  public func loadStatus(_ path: String) throws -> JobStatus? {
    try BatchError.looking { try postgresStatus(path) ?? plainStatus(path) }
  }

  /// The report of a load that has nothing left to do: an earlier one has brought this store, as it is now, to the
  /// destination by the same request, and it is there. Nil otherwise, and for files. Nothing is written.
  ///
  /// - Throws: ``BatchError``: what a plan of the request, or the server, would refuse.
  public func finishedLoad(_ request: Request, to destination: LoadDestination) throws -> Report? {
    guard case .postgres(let postgres) = destination else { return nil }
    return try BatchError.looking { try finishedPostgres(request, to: postgres) }
  }

  /// What becomes of a load into a file that is at work or was killed, by the path of the file; nil if there is none. One
  /// that is done is known to ``report(_:)``. Nothing is written.
  ///
  /// - Throws: ``BatchError`` if the disk cannot be read, and `refused` for a load into a server.
  public func loadReport(_ path: String) throws -> RunReport? {
    try BatchError.looking {
      try refusePostgresReport(path)
      return try plainReport(path)
    }
  }

  /// Removes what interrupted loads left, in a directory, or by the path of a file or a loaded store, as
  /// ``clean(_:all:backups:setAside:reports:dryRun:)`` does what migrations left. Loads at work stay. Those into servers
  /// can be resumed, and go only with `all`; their tables stay on the server.
  ///
  /// - Throws: ``BatchError``.
  public func cleanLoads(_ path: String, all: Bool = false, dryRun: Bool = false) throws -> CleanReport {
    try BatchError.border {
      var report = try cleanPlain(path, dryRun: dryRun)
      let more = try cleanPostgres(path, all: all, dryRun: dryRun)
      report.removed += more.removed
      report.kept += more.kept
      return report
    }
  }

  /// Changes what is asked of the process that loads, as ``order(_:_:)`` does; false if there is no load.
  ///
  /// - Throws: ``BatchError``: `refused` if no process loads just now.
  public func orderLoad(_ path: String, _ change: (inout RunOrders) -> Void) throws -> Bool {
    if try orderPostgres(path, change) { return true }
    return try orderPlain(path, change)
  }

  /// Refuses what ``load(_:to:monitor:)`` would refuse for what is at a destination already. No server is asked, and
  /// nothing is written.
  ///
  /// - Throws: ``BatchError``: `refused`.
  public func refuse(_ destination: LoadDestination) throws {
    if case .plain(let plain) = destination { try refusePlain(plain) }
  }

  /// The tables that a plan's result would get, as SQL, and what of the model has no counterpart. Nothing is written,
  /// and no server is asked.
  ///
  /// - Throws: ``BatchError``: `refused` for names that a server would not take.
  public func script(_ plan: MigrationPlan, for destination: LoadDestination) throws -> (sql: String, notes: [String]) {
    switch destination {
    case .postgres(let postgres): try postgresScript(plan, postgres)
    case .plain(let plain): try plainScript(plan, plain)
    }
  }
}
