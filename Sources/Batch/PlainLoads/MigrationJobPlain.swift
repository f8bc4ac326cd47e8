import CoreDataModel
import LoadTables
import MappingModels
import MigrationJobs
import Migrations
import RunSupport
import StoreVerification
import Streams

extension MigrationJob {
  /// Migrates a store, if its version is not the target's, and writes the result into a new file of ordinary tables.
  /// The store itself stays as it is.
  ///
  /// The file is made in a folder beside its path, read back, and renamed. A process that dies leaves that folder; the
  /// next one to the same path begins anew.
  ///
  /// - Throws: ``BatchError`` as ``migrate(_:monitor:)`` does; `refused` for a file that exists, `failed` for a value
  ///   that a table cannot hold, `mismatch` if what is read back is not what was written. Nothing is at the path then.
  package func loadPlain(
    _ request: Request, to destination: PlainDestination, monitor: (RunMonitor.Interval) -> RunMonitor
  ) throws -> Report {
    try BatchError.looking { try PlainLoad(job: self, request: request, destination: destination, fileSystem) }
      .run(monitor)
  }

  /// Refuses a file that a load would refuse, for what is there already. Nothing is written.
  ///
  /// - Throws: ``BatchError``: `refused`.
  package func refusePlain(_ destination: PlainDestination) throws {
    try BatchError.looking {
      let place = try PlainPlace(destination, fileSystem)
      // What an interrupted load has left goes when the next one begins.
      if try !place.folder.isThere() { try place.refuseTaken() }
    }
  }

  /// The tables that a plan's result would get in a file, as SQL, and what would be lost or changed. Nothing is written.
  ///
  /// - Throws: ``BatchError``: `failed` for a value that a table cannot hold.
  package func plainScript(
    _ plan: MigrationPlan, _ destination: PlainDestination
  ) throws -> (sql: String, notes: [String]) {
    try BatchError.looking {
      let rules = PlainRules(destination)
      let schema = try LoadSchemaPlanner.plan(plan.targetVersion, rules.tables)
      let account = PlainAccount(schema: schema, rules: rules)
      let rows = Dictionary(plan.rows.map { ($0.entity, $0.rows) }) { first, _ in first }
      var notes = account.ofModel(rows)
      // The same version is read by --identity, too.
      if plan.sourceVersion.versionHashes == plan.targetVersion.versionHashes {
        let store = try LoadStore(plan.source, model: plan.targetVersion, fileSystem)
        defer { store.close() }
        let build = PlainBuild(
          schema: schema, rules: rules, store: store, rowLimit: MemoryBudget.standard.rowLimit, monitor: RunMonitor())
        notes += account.ofRows(try build.survey())
      } else {
        notes.append("what single values lose is counted when they are migrated, before the file is there")
      }
      return (PlainStatements(schema: schema, rules: rules).script, notes)
    }
  }
}
