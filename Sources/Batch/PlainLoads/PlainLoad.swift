import CoreDataModel
import Foundation
import LoadTables
import MappingModels
import MigrationJobs
import Migrations
import RunSupport
import StoreVerification
import Streams

/// One load into a file of ordinary tables.
struct PlainLoad {
  private let job: MigrationJob
  private let request: MigrationJob.Request
  private let destination: PlainDestination
  private let fileSystem: any FileSystem
  /// The path of the file, without links.
  private let path: String
  private let folder: ScratchFolder
  private let rules: PlainRules

  init(
    job: MigrationJob, request: MigrationJob.Request, destination: PlainDestination, _ fileSystem: any FileSystem
  ) throws {
    (self.job, self.request, self.destination, self.fileSystem) = (job, request, destination, fileSystem)
    path = try JobDirectory(destination: destination.path).destination
    folder = ScratchFolder(
      FilePaths.join(FilePaths.directory(of: path), ".\(FilePaths.name(of: path)).godwit-plain"), of: path, fileSystem)
    rules = PlainRules(destination)
  }

  /// Lets no error out but with what is at the path then.
  static func settled<Result>(_ path: String, _ body: () throws -> Result) throws(BatchError) -> Result {
    do { return try body() } catch {
      throw BatchError(wrapping: error).settled {
        Aftermath(
          effect: .nothingWritten,
          text: "The store is untouched, and nothing is at \(path). The same command begins anew")
      }
    }
  }

  private var file: String { FilePaths.join(folder.path, "plain.sqlite") }
  private var migratedStore: String { FilePaths.join(folder.path, "store.sqlite") }

  func run(_ makeMonitor: (RunMonitor.Interval) -> RunMonitor) throws -> MigrationJob.Report {
    try refuseExisting()
    let plan = try job.plan(migration)
    let schema = try LoadSchemaPlanner.plan(plan.targetVersion, rules.tables)
    let wasInterrupted = try folder.isThere()
    let lease = try folder.begin()
    defer { lease.release() }
    do {
      try folder.empty()
      // Another process may have made it meanwhile.
      try refuseExisting()
      let migrated = try migrate(plan, makeMonitor)
      ProcessMemory.giveBack()
      let monitor = makeMonitor(request.interval)
      lease.guardRun(monitor)
      var (report, nullable) = try load(plan, schema, migrated: migrated, monitor: monitor)
      if wasInterrupted {
        report.notes.insert("an earlier load to this path had not ended; this one began anew", at: 0)
      }
      try moveIntoPlace(&report, schema, nullable: nullable)
      try folder.remove()
      return report
    } catch {
      try? folder.remove()
      throw error
    }
  }

  /// The request without the file.
  private var migration: MigrationJob.Request {
    var request = request
    request.output = migratedStore
    // The migrated store goes, so that nothing can be migrated to it again.
    request.arguments = []
    return request
  }

  private func refuseExisting() throws {
    let own = ["", "-wal", "-journal", ".rejects.jsonl"].map { path + $0 }
    if let records = destination.records, own.map(absolute).contains(absolute(records)) {
      throw BatchError(
        .refused, "the records cannot have the name of the result, or of a file beside it",
        hint: "Choose another name for --records", effect: .nothingWritten, path: records)
    }
    for name in own + [destination.records].compactMap({ $0 }) where try fileSystem.statusOfName(name) != nil {
      throw BatchError(
        .refused, "the file exists already, and a load replaces nothing", hint: "Choose another name or remove it",
        effect: .nothingWritten, path: name)
    }
  }

  private func absolute(_ path: String) -> String { URL(fileURLWithPath: path).standardizedFileURL.path }

  /// The migration in front; nil if the store is loaded as it is.
  private func migrate(
    _ plan: MigrationPlan, _ makeMonitor: (RunMonitor.Interval) -> RunMonitor
  ) throws -> MigrationJob.Report? {
    guard !plan.isUpToDate, request.target != .identity else { return nil }
    do { return try job.migrate(migration, makeMonitor(request.interval)) } catch {
      var error = BatchError(wrapping: error).withoutNext
      // What it left behind goes with the folder.
      (error.effect, error.aftermath) = (nil, nil)
      throw error
    }
  }

  private func load(
    _ plan: MigrationPlan, _ schema: LoadSchema, migrated: MigrationJob.Report?, monitor: RunMonitor
  ) throws -> (MigrationJob.Report, nullable: [Set<Int>]) {
    let source = migrated == nil ? plan.source : migratedStore
    let model = migrated == nil ? plan.sourceVersion : plan.targetVersion
    let store = try LoadStore(source, model: model, fileSystem)
    defer { store.close() }
    let progress = PlainProgress(monitor, schema, of: store, proves: request.verification != .none)
    let build = PlainBuild(
      schema: schema, rules: rules, store: store, rowLimit: request.memory.rowLimit, monitor: monitor)
    let outcomes = try build.run(to: file, progress.read)
    let finish = PlainFinish(path: file, schema: schema, rules: rules, memory: request.memory, monitor: monitor)
    let nullable = outcomes.map(\.remarks.columnsWithout)
    let notes = try finish.run(without: nullable)
    if request.verification != .none {
      try PlainProof(
        path: file, schema: schema, rules: rules, store: store, rowLimit: request.memory.rowLimit, monitor: monitor
      ).run(rows: outcomes.map(\.rows), progress.proved)
    }
    progress.end()
    var report = report(plan, schema, migrated: migrated, outcomes: outcomes)
    report.notes += notes
    return (report, nullable)
  }

  private func report(
    _ plan: MigrationPlan, _ schema: LoadSchema, migrated: MigrationJob.Report?, outcomes: [PlainBuild.Outcome]
  ) -> MigrationJob.Report {
    var report =
      migrated
      ?? MigrationJob.Report(
        destination: "", sourceVersion: plan.sourceVersion.name, targetVersion: plan.targetVersion.name, steps: 1)
    if migrated == nil { report.rowsRead = outcomes.reduce(0) { $0 + $1.rows } }
    report.rows = Dictionary(zip(schema.tables.map(\.name), outcomes.map(\.rows))) { first, _ in first }
    let account = PlainAccount(schema: schema, rules: rules)
    let counts = Dictionary(plan.rows.map { ($0.entity, $0.rows) }) { first, _ in first }
    report.notes += account.ofModel(migrated == nil ? counts : [:]) + account.ofRows(outcomes)
    report.isVerified = request.verification != .none
    return report
  }

  private func moveIntoPlace(_ report: inout MigrationJob.Report, _ schema: LoadSchema, nullable: [Set<Int>]) throws {
    // A file may have come while the load worked.
    try refuseExisting()
    let made = try fileSystem.open(file, .update)
    defer { made.close() }
    try made.sync()
    report.bytes = try made.size()
    report.destination = path
    if let records = destination.records {
      try fileSystem.writeDurably(
        Array(PlainRecords(schema: schema, rules: rules, nullable: nullable).text.utf8), to: records)
    }
    if let rejects = report.rejects, FilePaths.directory(of: rejects.path) == folder.path {
      let target = path + ".rejects.jsonl"
      try fileSystem.rename(rejects.path, to: target)
      report.rejects?.path = target
    }
    try fileSystem.rename(file, to: path)
    try fileSystem.syncDirectory(FilePaths.directory(of: path))
  }
}
