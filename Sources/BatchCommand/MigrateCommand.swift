import ArgumentParser
import Batch
import Foundation
import Streams

struct MigrateCommand: StoreCommand, ModelCommand {
  static let configuration = CommandConfiguration(
    commandName: "migrate", abstract: "Migrates a store to another version of its model.",
    discussion: """
      Without --output the new store replaces the old one, which stays beside it as a backup. A store that is at the version already \
      is left alone. `resume` finishes an interrupted migration.

      \(VerificationMode.meaning)
      """)

  @Argument(help: "The store; none with --manifest.", completion: .store) var store: String?
  @OptionGroup var models: ModelOptions
  @OptionGroup var extras: ExtrasArguments
  @OptionGroup var parts: PartArguments
  @Option(name: .long, help: .output, completion: .store) var output: String?
  @Option(name: .long, help: .indexBuilder) var indexBuilder = IndexBuilding.engine
  @Option(name: .long, help: .keepBackups) var keepBackups: BackupLimit?
  @Option(name: .long, help: .memory) var memory = ByteCount.standardMemory
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
  @Option(
    name: .long,
    help: ArgumentHelp(
      "Migrate all stores of a list, --jobs at a time: one a line, and its output after a tab.", valueName: "path"),
    completion: .file())
  var manifest: String?
  @Option(name: .long, help: .jobs) var jobs = 1
  @Flag(name: .long, help: "Give up an interrupted migration to the same path, and start over.") var restart = false
  @Option(name: .long, help: .hidden) var origin: String?
  @OptionGroup var operating: OperatingOptions
  @OptionGroup var outlets: OutletOptions

  var changed: String? { output ?? store }
  var named: ModelArguments { models.named }
  var place: String? { store }
  var json: Bool { operating.json }

  func validate() throws {
    guard (store == nil) != (manifest == nil) else {
      throw ValidationError("Name a store, or a list of stores with --manifest")
    }
    guard manifest == nil || output == nil else {
      throw ValidationError("--manifest lists outputs; --output does not go with it")
    }
    guard manifest == nil || (outlets.metrics == nil && !outlets.notify) else {
      throw ValidationError("--metrics and --notify tell of one store; they do not go with --manifest")
    }
    guard database.url == nil || (manifest == nil && output == nil && keepBackups == nil) else {
      throw ValidationError(
        "--to-postgres loads one store and leaves it as it is; --manifest, --output and --keep-backups do not go with it"
      )
    }
    guard !restart || (store != nil && database.url == nil) else {
      throw ValidationError(
        "--restart begins the migration of one store anew; --manifest and --to-postgres do not go with it")
    }
    guard !database.ddlOnly || store != nil else { throw ValidationError("--ddl-only takes one store") }
    guard explain.isEmpty || outlets.logFile != nil else { throw ValidationError("--explain needs --log-file") }
    guard jobs >= 1 else { throw ValidationError("--jobs is 1 or more") }
  }

  func run() throws {
    guard let store else {
      let list = try Manifest(path: manifest ?? "")
      try outlets.checkPaths(list.entries.flatMap { [$0.store, $0.output].compactMap { $0 } })
      try DestinationArguments.refuseDestination(in: models.mappings)
      return try ManifestRun(list, jobs: jobs, operating).run()
    }
    try outlets.checkPaths([store, output].compactMap { $0 })
    if let output { try OutputPath("--output", output).checkCompanion() }
    var request = try models.request(store, output: output)
    request.memory = MemoryBudget(total: Int(clamping: memory.bytes))
    request.interval = checkpointEvery.interval
    request.extras = extras.options
    request.parts = parts.selection
    request.verification = verify
    request.indexBuilding = indexBuilder
    request.keepsBackups = keepBackups
    request.rejects = rejects.limit
    request.arguments = models.arguments + extras.arguments + parts.arguments + ownArguments
    request.restarts = restart
    (request.explains, request.origin) = (explain, origin)
    if database.ddlOnly { return try database.printScript(request) }
    var outlets = outlets
    if !explain.isEmpty { outlets.logLevel = .trace }
    let destination = try database.destination(request)
    guard destination == nil || keepBackups == nil else {
      throw ValidationError("--keep-backups does not go with a load: the store stays")
    }
    try RunSession(store, options: operating, outlets: outlets).run { job, monitor in
      guard let destination else { return Self.done(try job.migrate(request, monitor: monitor(request.interval))) }
      return Self.done(try job.load(request, to: destination, monitor: monitor))
    }
  }

  /// Said even if the summary cannot be written: a script would take the store for one that is not migrated.
  static func done(_ report: MigrationJob.Report) -> MigrationJob.Report {
    Output.afterDone("the store is migrated; the summary could not be written", report)
  }
}

extension MigrateCommand {
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
    return words + rejects.arguments
  }
}

struct ResumeCommand: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "resume", abstract: "Finishes an interrupted migration.",
    discussion: "Name the source or the destination. Models, mappings and settings are those of the run.")

  @Argument(help: .run, completion: .store) var store: String
  @Option(
    name: .long, help: ArgumentHelp("Peak memory, for example 256M. Default: that of the run.", valueName: "size"))
  var memory: ByteCount?
  @Flag(
    name: .long,
    help:
      "Replace the process that has the run, if it gives no sign of life for five seconds. On this machine it is killed."
  )
  var takeOver = false
  @OptionGroup var rejects: RejectArguments
  @OptionGroup var consent: ConsentArguments
  @Option(
    name: .long,
    help: ArgumentHelp(
      "Persistent history: keep or empty it. If you change the choice of the run, it starts again with the first row.",
      valueName: "mode"))
  var history: ExtrasOptions.History?
  @Option(
    name: .long,
    help: ArgumentHelp(
      "For a load into PostgreSQL: the server again, if its password is not in PGPASSWORD or ~/.pgpass.",
      valueName: "url"))
  var toPostgres: String?
  @OptionGroup var operating: OperatingOptions
  @OptionGroup var outlets: OutletOptions

  var changed: String? { store }
  var json: Bool { operating.json }

  func validate() throws {
    guard toPostgres?.isEmpty != true else {
      throw ValidationError("--to-postgres takes the address of a server and its database")
    }
  }

  func run() throws {
    let status = try? StatusCommand.status(MigrationJob(policies: Program.policies), store)
    try outlets.checkPaths([store, status?.source, status?.destination].compactMap { $0 })
    do { try resume() } catch let error as BatchError
      where error.code == .refused && status?.state == JobStatus.State.none
    {
      throw Self.withoutStateDirectory(error)
    }
  }

  /// A source leads to its run through the state directory alone.
  private static func withoutStateDirectory(_ error: BatchError) -> BatchError {
    guard JobRegistry(LocalFileSystem()).directory == nil else { return error }
    var error = error
    error.message += "; there is no state directory, so a migration to another path must be named by its output"
    error.hint = "Name the output, or set GODWIT_STATE to a folder before a migration begins"
    return error
  }

  private func resume() throws {
    try RunSession(store, options: operating, outlets: outlets).run { job, monitor in
      let memory = memory.map { MemoryBudget(total: Int(clamping: $0.bytes)) }
      let server = toPostgres.map { PostgresServer(url: $0) }
      let load = try job.resumeLoad(
        store, server: server, memory: memory, takeOver: takeOver, rejects: rejects.limit, consent: consent.consent,
        history: history, monitor: monitor)
      if let load { return MigrateCommand.done(load) }
      return MigrateCommand.done(
        try job.resume(
          store, memory: memory, takeOver: takeOver, rejects: rejects.limit, consent: consent.consent, history: history,
          monitor: monitor))
    }
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
