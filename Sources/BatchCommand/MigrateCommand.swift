import ArgumentParser
import Batch
import Foundation
import Streams

struct MigrateCommand: ListedCommand, ModelCommand {
  static let configuration = CommandConfiguration(
    commandName: "migrate", abstract: "Migrates a store to another version of its model.",
    discussion: """
      Without --output the new store replaces the old one, which stays beside it as a backup. A store that is at the version already \
      is left alone. `resume` finishes an interrupted migration. An XML store needs --output, which becomes an SQLite store.

      \(VerificationMode.meaning)
      """)

  @Argument(help: "The store; none with --manifest.", completion: .store) var store: String?
  @OptionGroup var models: ModelOptions
  @OptionGroup var extras: ExtrasArguments
  @OptionGroup var parts: PartArguments
  @Option(name: .long, help: .output, completion: .store) var output: String?
  @Option(name: .long, help: .indexBuilder) var indexBuilder = IndexBuilding.engine
  @Option(name: .long, help: .keepBackups) var keepBackups: BackupLimit?
  @Option(name: .long, help: .memory, transform: ByteCount.memory) var memory = ByteCount.standardMemory
  @Option(name: .long, help: .checkpointEvery)
  var checkpointEvery = CheckpointInterval(interval: RunMonitor.standardInterval)
  @Option(name: .long, help: .verify) var verify = VerificationMode.fast
  @OptionGroup var rejects: RejectArguments
  @OptionGroup var database: DestinationArguments
  @Option(
    name: .long,
    help: ArgumentHelp(
      "Log to --log-file what becomes of objects, and why: ENTITY, or ENTITY/KEY, in the source of each step.",
      valueName: "entity"),
    completion: .entities)
  var explain: [ExplainedObjects] = []
  @OptionGroup var list: ListArguments
  @Flag(
    name: .customLong("continue"), help: "Resume the migration to the same path that is interrupted, if there is one.")
  var continues = false
  @Flag(name: .long, help: "Give up an interrupted migration to the same path, and start over.") var restart = false
  @Option(name: .long, help: .hidden) var origin: String?
  @OptionGroup var operating: OperatingOptions
  @OptionGroup var outlets: OutletOptions

  var changed: String? { output ?? store }
  var named: ModelArguments { models.named }
  var place: String? { store }
  var json: Bool { operating.json }

  func validate() throws {
    try list.check(store)
    guard list.manifest == nil || output == nil else {
      throw ValidationError("--manifest lists outputs; --output does not go with it")
    }
    guard database.url == nil || (list.manifest == nil && output == nil && keepBackups == nil) else {
      throw ValidationError(
        "--to-postgres loads one store and leaves it as it is; --manifest, --output and --keep-backups do not go with it"
      )
    }
    guard database.form == nil || (list.manifest == nil && keepBackups == nil && !continues) else {
      throw ValidationError(
        "--to-sqlite loads one store, leaves it as it is and begins anew; --manifest, --keep-backups and --continue do not go with it"
      )
    }
    guard database.form == nil || output != nil || database.ddlOnly else {
      throw ValidationError("--to-sqlite plain needs --output, a new file")
    }
    guard !restart || (!continues && !database.isNamed) else {
      throw ValidationError("--restart starts over; --continue, --to-postgres and --to-sqlite do not go with it")
    }
    guard !database.isNamed || (operating.onPhase == nil && operating.postponeCutOver == nil) else {
      throw ValidationError("--on-phase and --postpone-cut-over do not go with --to-postgres and --to-sqlite")
    }
    guard !database.ddlOnly || store != nil else { throw ValidationError("--ddl-only takes one store") }
    guard explain.isEmpty || outlets.logFile != nil else { throw ValidationError("--explain needs --log-file") }
  }

  func run() throws {
    guard let store else { return try migrateList() }
    try outlets.checkPaths([store, output].compactMap { $0 })
    if try resumed(output ?? store) { return }
    if let output { try OutputPath("--output", output).checkCompanion() }
    guard let xml = try XMLSource(store) else { return try migrate(store, named: store) }
    let isLoad = database.isNamed || database.ddlOnly
    guard let output, !isLoad else { throw xml.outputIsMissing(models, isLoad: isLoad) }
    try XMLSource.tidying(output) {
      // Before it is read: what changes from now on is seen.
      let file = xml.file
      let made = try xml.migrated(
        to: output, models: named, arguments: arguments, memory: memory, operating: operating, restarts: restart,
        continues: continues)
      try migrate(made, named: store, madeFrom: file)
    }
  }

  /// Migrates a store, which is the one that was named, or was made of it.
  private func migrate(_ source: String, named store: String, madeFrom file: RunHistory.SourceFile? = nil) throws {
    var request = try models.request(source, output: output)
    request.memory = MemoryBudget(total: Int(clamping: memory.bytes))
    request.interval = checkpointEvery.interval
    request.extras = extras.options
    request.parts = parts.selection
    request.verification = verify
    request.indexBuilding = indexBuilder
    (request.keepsBackups, request.heldBy) = (keepBackups, operating.postponeCutOver)
    request.rejects = rejects.limit
    request.arguments = arguments
    request.restarts = restart
    (request.explains, request.origin, request.madeFrom) = (explain, origin, file)
    if database.ddlOnly { return try database.printScript(request) }
    var outlets = outlets
    if !explain.isEmpty { outlets.logLevel = .trace }
    let destination = try database.destination(request)
    guard destination == nil || keepBackups == nil else {
      throw ValidationError("--keep-backups does not go with a load: the store stays")
    }
    try RunSession(store, options: operating, outlets: outlets).run { job, monitor in
      if continues, let report = try Self.finished(request, to: destination, by: job) { return report }
      guard let destination else {
        let report = try job.migrate(request, monitor: monitor(request.interval))
        guard source != store, report.steps == 0 else { return Self.done(report) }
        // What was made of an XML store becomes the output, though it is at the version already.
        request.target = .identity
        return Self.done(try job.migrate(request, monitor: monitor(request.interval)))
      }
      return Self.done(try job.load(request, to: destination, monitor: monitor))
    }
  }

  /// The report of a migration or a load that has nothing left to do.
  private static func finished(
    _ request: MigrationJob.Request, to destination: LoadDestination?, by job: MigrationJob
  ) throws -> MigrationJob.Report? {
    try destination.flatMap { try job.finishedLoad(request, to: $0) } ?? job.finished(request)
  }

  /// Said even if the summary cannot be written: a script would take the store for one that is not migrated.
  static func done(_ report: MigrationJob.Report) -> MigrationJob.Report {
    Output.afterDone("the store is migrated; the summary could not be written", report)
  }
}

extension MigrateCommand {
  static func state(of outcome: StoreOutcome) -> ListState {
    switch outcome.code {
    case 0 where outcome.document?["steps"]?.count == 0: ListState(ListState.unchanged, .done)
    case 0: ListState("migrated", .done)
    case ExitCodes.rejects:
      ListState(
        "migrated, with rejects", .done,
        detail: outcome.document?["rejects"]?["count"]?.count.map { $0.counted("reject") })
    default: ListState(failed: outcome)
    }
  }

  private func migrateList() throws {
    let stores = try Manifest(path: list.manifest ?? "")
    try outlets.checkPaths(stores.entries.flatMap { [$0.store, $0.output].compactMap { $0 } })
    try DestinationArguments.refuseDestination(in: models.mappings)
    try ListRun(self, stores, options: operating).run(outlets)
  }

  /// Whether there was something to continue, which is done then: with the run's own models and settings.
  private func resumed(_ path: String) throws -> Bool {
    guard continues else { return false }
    let status = try StoreLook.status(MigrationJob(policies: Program.policies), path)
    guard [.interrupted, .failed, .cutOver, .finished].contains(status.state) else { return false }
    var command = try ResumeCommand.parse(["--", path])
    command.memory = memory.bytes == ByteCount.standardMemory.bytes ? nil : memory
    (command.rejects, command.consent, command.toPostgres) = (rejects, models.consent, database.url)
    (command.operating, command.outlets) = (operating, outlets)
    try command.run()
    return true
  }

  /// The options that a run which is started over needs again.
  private var arguments: [String] { models.arguments + extras.arguments + parts.arguments + ownArguments }

  /// Options apart from those of models, history and parts that a run which is started over needs again, where they are
  /// not the defaults.
  fileprivate var ownArguments: [String] {
    var words: [String] = []
    if memory.bytes != ByteCount.standardMemory.bytes { words += ["--memory", "\(memory.bytes)"] }
    if checkpointEvery.interval != RunMonitor.standardInterval {
      words += ["--checkpoint-every", checkpointEvery.text]
    }
    if verify != .fast { words += ["--verify", verify.rawValue] }
    if indexBuilder != .engine { words += ["--index-builder", indexBuilder.rawValue] }
    if let keepBackups { words += ["--keep-backups", keepBackups.text] }
    if let hold = operating.postponeCutOver { words += ["--postpone-cut-over", URL(fileURLWithPath: hold).path] }
    return words + rejects.arguments
  }
}

extension IndexBuilding: ExpressibleByArgument {}

extension ExplainedObjects: ExpressibleByArgument {
  /// `ENTITY` or `ENTITY/KEY`.
  public init?(argument: String) {
    let parts = argument.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    guard parts.count <= 2, !parts[0].isEmpty else { return nil }
    guard parts.count == 2 else {
      self.init(entity: parts[0])
      return
    }
    guard let key = Int64(parts[1]) else { return nil }
    self.init(entity: parts[0], key: key)
  }
}

extension VerificationMode: ExpressibleByArgument {}
