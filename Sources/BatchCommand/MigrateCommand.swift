import ArgumentParser
import Batch
import Foundation

struct MigrateCommand: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "migrate", abstract: "Migrates a store to another version of its model.",
    discussion: """
      Without --output the store is replaced and a backup is kept beside it. A store that needs nothing is left alone. \
      An interrupted migration is finished by `resume`.
      """)

  @Argument(help: "The store.") var store: String
  @OptionGroup var models: ModelOptions
  @OptionGroup var extras: ExtrasArguments
  @OptionGroup var parts: PartArguments
  @Option(name: .long, help: "Where the result goes; the source is not touched then.") var output: String?
  @Option(name: .long, help: "Who builds the indexes: engine, or sqlite, which is slower and sure.")
  var indexBuilder = IndexBuilding.engine
  @Option(
    name: .long, help: "How many backups of the store stay, the new one included: a number, or an age as 30d; without it all.")
  var keepBackups: BackupLimit?
  @OptionGroup var options: RunOptions

  var changed: String? { output ?? store }

  func run() throws {
    let monitored = options.monitored(interval: options.checkpointEvery.interval)
    var request = try models.request(store, output: output)
    request.memory = MemoryBudget(total: Int(clamping: options.memory.bytes))
    request.interval = options.checkpointEvery.interval
    request.extras = extras.options
    request.parts = parts.selection
    request.verification = options.verify
    request.indexBuilding = indexBuilder
    request.keepsBackups = keepBackups
    let job = MigrationJob(policies: GodwitCommand.policies)
    try options.finish(monitored) { try job.migrate(request, monitor: monitored.monitor) }
  }
}

struct ResumeCommand: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "resume", abstract: "Finishes an interrupted migration.",
    discussion: "The path is that of the source or of the destination; models, mappings and settings are those of the run.")

  @Argument(help: "The store, or the output of the interrupted migration.") var store: String
  @Option(name: .long, help: "Peak memory, for example 64M; without it that of the run.") var memory: ByteCount?
  @Flag(
    name: .long,
    help: "Replace the process that has the run, if it gives no sign of life for five seconds; on this machine it is killed.")
  var takeOver = false
  @Flag(name: .long, help: "Show no progress and no summary.") var quiet = false
  @Flag(name: .long, help: "Print the summary as JSON.") var json = false

  var changed: String? { store }

  func run() throws {
    let options = RunOptions.quiet(quiet, json: json)
    let job = MigrationJob(policies: GodwitCommand.policies)
    var monitored: RunOptions.Monitored?
    try options.finish(monitored) {
      try job.resume(store, memory: memory.map { MemoryBudget(total: Int(clamping: $0.bytes)) }, takeOver: takeOver) { interval in
        let made = options.monitored(interval: interval)
        monitored = made
        return made.monitor
      }
    }
  }
}

extension IndexBuilding: ExpressibleByArgument {}

extension VerificationMode: ExpressibleByArgument {}

struct RunOptions: ParsableArguments {
  @Option(name: .long, help: "Peak memory, for example 64M.") var memory = ByteCount(bytes: 64 << 20)
  @Option(name: .long, help: "When checkpoints are made: a time (1s) or a size (64M).")
  var checkpointEvery = CheckpointInterval(interval: RunMonitor.standardInterval)
  @Option(name: .long, help: "How the result is proved before it gets its name: fast, full or none.")
  var verify = VerificationMode.fast
  @Flag(name: .long, help: "Show no progress and no summary.") var quiet = false
  @Flag(name: .long, help: "Print the summary as JSON.") var json = false

  static func quiet(_ quiet: Bool, json: Bool) -> RunOptions {
    var options = RunOptions()
    options.memory = ByteCount(bytes: 64 << 20)
    options.checkpointEvery = CheckpointInterval(interval: RunMonitor.standardInterval)
    options.verify = .fast
    (options.quiet, options.json) = (quiet, json)
    return options
  }

  struct Monitored {
    let monitor: RunMonitor
    let line: ProgressLine
    let signals: StopSignals
  }

  func monitored(interval: RunMonitor.Interval) -> Monitored {
    let line = ProgressLine(isQuiet: quiet || json)
    let monitor = RunMonitor(interval: interval) { line.show($0) }
    return Monitored(monitor: monitor, line: line, signals: StopSignals(monitor))
  }

  /// Runs a migration and says what it did.
  func finish(_ monitored: @autoclosure () -> Monitored?, _ body: () throws -> MigrationJob.Report) throws {
    let started = ContinuousClock.now
    let report: MigrationJob.Report
    do {
      report = try body()
      monitored()?.line.clear()
    } catch {
      monitored()?.line.clear()
      throw error
    }
    let duration = ContinuousClock.now - started
    let seconds = Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
    let summary = RunSummary(report, seconds: seconds, checkpoints: monitored()?.monitor.progress.checkpoints ?? 0)
    if json { Console.print(try summary.json()) } else if !quiet { Console.print(summary.text) }
  }
}

/// What a finished migration tells a person or a script.
struct RunSummary: Codable {
  var format = 1
  var destination: String
  var backup: String?
  var targetVersion: String
  var steps: Int
  var rowsRead: UInt64
  var rowsPerSecond: UInt64
  var rows: [String: UInt64]
  var verified: Bool
  var bytes: UInt64
  var seconds: Double
  var checkpoints: UInt64
  var peakMemory: Int
  var notes: [String]
  var accounts: [StepAccount]
  var externalData: ExternalDataReport?

  init(_ report: MigrationJob.Report, seconds: Double, checkpoints: UInt64) {
    destination = report.destination
    backup = report.backup
    targetVersion = report.targetVersion
    steps = report.steps
    rowsRead = report.rowsRead
    rowsPerSecond = seconds > 0 ? UInt64(Double(report.rowsRead) / seconds) : 0
    rows = report.rows
    verified = report.isVerified
    bytes = report.bytes
    self.seconds = (seconds * 1000).rounded() / 1000
    self.checkpoints = checkpoints
    peakMemory = Console.peakMemory
    notes = report.notes
    accounts = report.accounts
    externalData = report.externalData
  }

  func json() throws -> String { try JSONOutput.text(self) }

  var text: String {
    guard steps > 0 else { return "\(destination): already at version \(targetVersion), nothing to do" }
    let version = targetVersion.isEmpty ? "the new store is in place" : "version \(targetVersion)"
    var lines = ["\(destination): \(version), \(Console.size(bytes))\(verified ? ", verified" : ", not verified")"]
    if let backup { lines.append("backup: \(backup)") }
    lines.append(
      "\(Console.count(rowsRead)) source rows in \(seconds) s, \(Console.count(rowsPerSecond)) rows/s, "
        + "\(checkpoints) checkpoints, peak memory \(Console.size(UInt64(peakMemory)))")
    lines += accounts.map(\.summary)
    if let externalData, externalData.references > 0 { lines.append("files outside the store: \(externalData.text)") }
    for table in rows.keys.sorted() { lines.append("  \(table): \(Console.count(rows[table] ?? 0))") }
    return (lines + notes.map { "note: \($0)" }).joined(separator: "\n")
  }
}
