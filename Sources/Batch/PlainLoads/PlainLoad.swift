import CoreDataModel
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
  private let place: PlainPlace
  private let rules: PlainRules

  init(
    job: MigrationJob, request: MigrationJob.Request, destination: PlainDestination, _ fileSystem: any FileSystem
  ) throws {
    (self.job, self.request, self.destination, self.fileSystem) = (job, request, destination, fileSystem)
    place = try PlainPlace(destination, fileSystem)
    var rules = PlainRules(destination)
    if let source = try? JobDirectory(destination: request.source).destination {
      rules.advice = PlainAdvice(request.arguments, source: source, path: place.path, destination)
    }
    self.rules = rules
  }

  private var folder: ScratchFolder { place.folder }

  /// Loads. No error comes out but with what is left behind, and what leads on.
  func run(_ makeMonitor: (RunMonitor.Interval) -> RunMonitor) throws -> MigrationJob.Report {
    do { return try loaded(makeMonitor) } catch { throw told(BatchError(wrapping: error)) }
  }

  private func told(_ error: BatchError) -> BatchError {
    guard error.effect == nil else { return error }
    var error = error
    if error.code == .stopped { error.hint = "A load into a file is not resumed" }
    guard (try? fileSystem.statusOfName(place.path)) == .some(nil) else {
      error.effect = .unknown
      error.aftermath = "The store is untouched. Look at \(place.path) before anything else: it may not be whole"
      return error
    }
    error.effect = .nothingWritten
    error.aftermath = "The store is untouched, and nothing is at \(place.path)"
    // What is refused needs other options.
    guard error.next.isEmpty, error.code != .refused, let again = rules.advice.again() else { return error }
    error.next = [again.line]
    error.aftermath? += error.code == .stopped ? ". Begin anew with \(again)" : ". Then begin anew with \(again)"
    return error
  }

  private func loaded(_ makeMonitor: (RunMonitor.Interval) -> RunMonitor) throws -> MigrationJob.Report {
    let wasInterrupted = try folder.isThere()
    if case .live = try Lease.inspect(folder.job, fileSystem) { throw busy }
    // What an interrupted load has left may be in the way of the plain look.
    if !wasInterrupted { try place.refuseTaken() }
    let plan = try job.plan(migration)
    let schema = try LoadSchemaPlanner.plan(plan.targetVersion, rules.tables)
    let lease = try begin()
    defer { lease.release() }
    let history = PlainHistory(
      job, plan: plan, request: request, to: destination, at: place, run: lease.owner.token)
    do {
      try place.settle()
      // Another process may have made it meanwhile.
      try place.refuseTaken()
      try PlainPlan(plan, to: destination, at: place, by: rules.advice).write(to: folder.job, fileSystem)
      let migrated = try migrate(plan, makeMonitor)
      ProcessMemory.giveBack()
      let monitor = makeMonitor(request.interval)
      lease.guardRun(monitor)
      var (report, nullable) = try load(plan, schema, migrated: migrated, monitor: monitor, history: history)
      if wasInterrupted { report.notes.insert(Self.beganAnew, at: 0) }
      try publish(&report, schema, nullable: nullable)
      history.finish(report, schema: schema, monitor: monitor)
      report.notes += history.recorder.notes + clearUp()
      return report
    } catch {
      history.recorder.close()
      try? folder.remove()
      throw BatchError(wrapping: error).naming(place, source: plan.source, version: plan.targetVersion.name)
    }
  }

  private static let beganAnew = "an earlier load to this path had not ended; this one began anew"

  /// What is left behind a load that is done is no error.
  private func clearUp() -> [String] {
    do { try folder.remove() } catch {
      let remove = ShellWords.line(["rm", "-r", folder.path])
      return ["the load is done, but its folder could not be removed (\(error)): `\(remove)`"]
    }
    return []
  }

  private func begin() throws -> Lease {
    do { return try folder.begin() } catch let error as BatchError where error.code == .leaseHeld { throw busy }
  }

  private var busy: BatchError {
    let (look, stop) = (ProgramName.command("status", place.path), ProgramName.command("ctl", "stop", place.path))
    return BatchError(
      .leaseHeld, "another process loads into this path", hint: "\(look) shows how far it is, and \(stop) ends it",
      effect: .nothingWritten, next: [look.line], path: place.path)
  }

  /// The request without the file.
  private var migration: MigrationJob.Request {
    var request = request
    request.output = place.migratedStore
    // The migrated store goes, so that nothing can be migrated to it again.
    request.arguments = []
    return request
  }

  /// The migration in front; nil if the store is loaded as it is.
  private func migrate(
    _ plan: MigrationPlan, _ makeMonitor: (RunMonitor.Interval) -> RunMonitor
  ) throws -> MigrationJob.Report? {
    guard !plan.isUpToDate, request.target != .identity else { return nil }
    let monitor = makeMonitor(request.interval)
    let pulse = RunPulse(folder.job, monitor: monitor)
    defer { pulse.end() }
    do { return try job.migrate(migration, monitor) } catch {
      var error = BatchError(wrapping: error).withoutNext
      // What it left behind goes with the folder.
      (error.effect, error.aftermath) = (nil, nil)
      throw error
    }
  }

  private func load(
    _ plan: MigrationPlan, _ schema: LoadSchema, migrated: MigrationJob.Report?, monitor: RunMonitor,
    history: PlainHistory
  ) throws -> (MigrationJob.Report, nullable: [Set<Int>]) {
    let source = migrated == nil ? plan.source : place.migratedStore
    let model = migrated == nil ? plan.sourceVersion : plan.targetVersion
    let store = try LoadStore(source, model: model, fileSystem)
    defer { store.close() }
    history.begin(store, isMigrated: migrated != nil)
    let pulse = RunPulse(folder.job, monitor: monitor, recorder: history.recorder)
    defer { pulse.end() }
    let progress = PlainProgress(monitor, schema, of: store, proves: request.verification != .none)
    let build = PlainBuild(
      schema: schema, rules: rules, store: store, rowLimit: request.memory.rowLimit, monitor: monitor)
    let outcomes = try build.run(to: place.file, progress.read)
    history.wrote(outcomes.map(\.rows))
    let finish = PlainFinish(path: place.file, schema: schema, rules: rules, memory: request.memory, monitor: monitor)
    let nullable = outcomes.map(\.remarks.columnsWithout)
    let notes = try finish.run(without: nullable)
    if request.verification != .none {
      let proof = PlainProof(
        path: place.file, schema: schema, rules: rules, store: store, rowLimit: request.memory.rowLimit,
        monitor: monitor)
      try history.proving { try proof.run(rows: outcomes.map(\.rows), progress.proved) }
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

  private func publish(_ report: inout MigrationJob.Report, _ schema: LoadSchema, nullable: [Set<Int>]) throws {
    // A file may have come while the load worked.
    try place.refuseTaken()
    let made = try fileSystem.open(place.file, .update)
    defer { made.close() }
    try made.sync()
    (report.bytes, report.destination) = (try made.size(), place.path)
    report.peakMemory = ProcessMemory.peak
    var publication = PlainPublication()
    if let records = destination.records.map(PlainPlace.absolute) {
      let hidden = PlainPlace.hidden(records)
      let text = PlainRecords(schema: schema, rules: rules, nullable: nullable).text
      try fileSystem.writeAndSync(Array(text.utf8), to: hidden)
      try publication.add(hidden, as: records, fileSystem)
    }
    if let rejects = report.rejects, FilePaths.directory(of: rejects.path) == folder.path {
      try publication.add(rejects.path, as: place.rejects, fileSystem)
      report.rejects?.path = place.rejects
    }
    try publication.add(place.file, as: place.path, fileSystem)
    try publication.run(notedAt: place.publication, fileSystem)
  }
}
