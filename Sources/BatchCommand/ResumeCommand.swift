import ArgumentParser
import Batch
import Streams

struct ResumeCommand: ListedCommand {
  static let configuration = CommandConfiguration(
    commandName: "resume", abstract: "Finishes an interrupted migration or import.",
    discussion: """
      Name the source or the destination. Models and settings are those of the run, and so are mapping models without --mappings. With \
      corrected ones the run goes on if the steps that are finished do not depend on what changed; else it is refused.
      """)

  @Argument(help: .run, completion: .store) var store: String?
  @OptionGroup var list: ListArguments
  @Option(
    name: .long,
    help: ArgumentHelp(
      "Peak memory, for example 256M; at least \(ByteCount.leastMemory). Default: that of the run.", valueName: "size"),
    transform: ByteCount.memory)
  var memory: ByteCount?
  @Flag(
    name: .long,
    help:
      "Replace the process that has the run, if it gives no sign of life for five seconds. On this machine it is killed."
  )
  var takeOver = false
  @Option(name: .long, parsing: .upToNextOption, help: .mappings, completion: .mappings) var mappings: [String] = []
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
    try list.check(store)
    guard mappings.isEmpty || toPostgres == nil else {
      throw ValidationError("--mappings does not go with --to-postgres: start over with migrate --restart")
    }
    guard toPostgres?.isEmpty != true else {
      throw ValidationError("--to-postgres takes the address of a server and its database")
    }
  }

  static let takesOutput = false

  static func state(of outcome: StoreOutcome) -> ListState {
    // An import prints no summary for programs.
    switch outcome.code {
    case 0 where outcome.document == nil: ListState("imported", .done)
    case ExitCodes.rejects where outcome.document == nil: ListState("imported, with rejects", .done)
    default: MigrateCommand.state(of: outcome)
    }
  }

  func run() throws {
    guard let store else {
      let stores = try Manifest(path: list.manifest ?? "")
      try outlets.checkPaths(stores.entries.flatMap { [$0.store, $0.output].compactMap { $0 } })
      return try ListRun(self, stores, options: operating).run(outlets)
    }
    let job = MigrationJob(policies: Program.policies)
    if try job.isImportOver(store) {
      try refuseOptions(ofImport: store)
      if let end = try job.finishImport(store) {
        return try ImportSummaryText.tell(end, store, isQuiet: operating.quiet || CommandLineWords.isOfList)
      }
    }
    if let words = try job.importArguments(store) { return try resumeImport(words, to: store) }
    try job.refusePlainResume(store)
    let status = try? StoreLook.status(MigrationJob(policies: Program.policies), store)
    try outlets.checkPaths(
      [store, status?.source, status?.destination].compactMap { $0 }, reading: job.arguments(ofRun: store))
    do { try XMLSource.tidying(status?.destination) { try resume(store) } } catch let error as BatchError
      where error.code == .refused && status?.state == JobStatus.State.none
    {
      try MissingStore.refuse(store)
      throw Self.withoutStateDirectory(error)
    }
  }

  private func refuseOptions(ofImport store: String) throws {
    // A list adds these for each of its stores.
    let meaningless: Set = CommandLineWords.isOfList ? ["--quiet", "--json", "--progress", "--deadline"] : ["--quiet"]
    let others = CommandLineWords.line.filter { $0.hasPrefix("--") && !meaningless.contains($0) }
    if let option = others.first?.split(separator: "=").first {
      throw ValidationError(
        "\(option) does not go with an import, which goes on as it was begun: \(ProgramName.command("resume", store))")
    }
  }

  /// The import goes on as it was begun: what it reads and how decides about its bytes. `store` may be a copy, or have
  /// been moved with its folder.
  private func resumeImport(_ words: [String], to store: String) throws {
    try refuseOptions(ofImport: store)
    var command = try ImportCommand.parse(Array(words.dropFirst()))
    (command.output, command.quiet) = (store, operating.quiet || CommandLineWords.isOfList || command.quiet)
    try command.run()
  }

  /// A source leads to its run through the state directory alone.
  private static func withoutStateDirectory(_ error: BatchError) -> BatchError {
    guard JobRegistry(LocalFileSystem()).directory == nil else { return error }
    var error = error
    error.message += "; there is no state directory, so a migration to another path must be named by its output"
    error.hint = "Name the output, or set GODWIT_STATE to a folder before a migration begins"
    return error
  }

  private func resume(_ store: String) throws {
    try RunSession(store, options: operating, outlets: outlets, resumes: true).run { job, monitor in
      let memory = memory.map { MemoryBudget(total: Int(clamping: $0.bytes)) }
      let server = toPostgres.map { PostgresServer(url: $0) }
      let load = try job.resumeLoad(
        store, server: server, memory: memory, takeOver: takeOver, rejects: rejects.limit, consent: consent.consent,
        history: history, monitor: monitor)
      if let load { return MigrateCommand.done(load) }
      return MigrateCommand.done(
        try job.resume(
          store, memory: memory, takeOver: takeOver, rejects: rejects.limit, consent: consent.consent, history: history,
          mappings: mappings, heldBy: operating.postponeCutOver, monitor: monitor))
    }
  }
}
