import ArgumentParser
import Batch
import Logging

/// Where a run reports, apart from its terminal.
struct OutletOptions: ParsableArguments {
  @Option(
    name: .long,
    help: ArgumentHelp("Write the progress to a file of OpenMetrics text, for node_exporter.", valueName: "path"),
    completion: .file())
  var metrics: String?
  @Option(
    name: .long, help: ArgumentHelp("Append a log of the run to this file.", valueName: "path"), completion: .file())
  var logFile: String?
  @Option(
    name: .long,
    help: ArgumentHelp("What to log: trace, debug, info, notice, warning, error or critical.", valueName: "level"))
  var logLevel = Logger.Level.info
  @Option(
    name: .long,
    help: ArgumentHelp("A command to run when the migration is done; it is run without a shell.", valueName: "command"))
  var onSuccess: String?
  @Option(
    name: .long,
    help: ArgumentHelp("A command to run when the migration failed; it is run without a shell.", valueName: "command"))
  var onFailure: String?
  @Option(
    name: .long,
    help: ArgumentHelp(
      "A command to run when the migration was stopped and can be resumed; it is run without a shell.",
      valueName: "command"))
  var onStop: String?
  @Flag(name: .long, help: "Send progress and signs of life to systemd (sd_notify).") var notify = false

  func validate() throws {
    for command in [onSuccess, onFailure, onStop].compactMap({ $0 }) where (ShellLine(command).whole ?? []).isEmpty {
      throw ValidationError("the command \(command) has no words, or a quotation mark without a second one")
    }
  }

  /// Refuses to write over a store, of the command or any other, and over what the command reads: what its line names,
  /// and `words`.
  func checkPaths(_ stores: [String], reading words: [String] = []) throws {
    if let logFile { try OutputPath("--log-file", logFile).check(stores, reading: words) }
    guard let metrics else { return }
    for path in [metrics, metrics + ".new"] { try OutputPath("--metrics", path).check(stores, reading: words) }
  }

  /// The log, whose lines name a store.
  func logger(store: String?) throws -> Logger {
    guard let logFile else { return JobLog.silent }
    let file = try LogFile(path: logFile)
    return Logger(label: "godwit") { _ in
      LogFileHandler(file: file, logLevel: logLevel, metadata: store.map { ["store": "\($0)"] } ?? [:])
    }
  }

  /// The command for an exit code.
  func command(_ code: Int32) -> String? {
    switch code {
    case 0, ExitCodes.rejects: onSuccess
    case ExitCodes.stopped: onStop
    default: onFailure
    }
  }
}

extension Logger.Level: @retroactive ExpressibleByArgument {}
