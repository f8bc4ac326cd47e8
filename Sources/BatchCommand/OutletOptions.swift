import ArgumentParser
import Batch
import Logging

/// Whom a run tells about itself besides the person at its terminal.
struct OutletOptions: ParsableArguments {
  @Option(
    name: .long,
    help: ArgumentHelp("Keep how far the run is in a file of OpenMetrics text, for node_exporter.", valueName: "path"),
    completion: .file())
  var metrics: String?
  @Option(name: .long, help: ArgumentHelp("Append what the run does to a file.", valueName: "path"), completion: .file())
  var logFile: String?
  @Option(
    name: .long,
    help: ArgumentHelp("What goes there: trace, debug, info, notice, warning, error or critical.", valueName: "level"))
  var logLevel = Logger.Level.info
  @Option(
    name: .long, help: ArgumentHelp("A command to run when the store is migrated; no shell reads it.", valueName: "command"))
  var onSuccess: String?
  @Option(name: .long, help: ArgumentHelp("A command to run when the migration failed.", valueName: "command"))
  var onFailure: String?
  @Option(
    name: .long, help: ArgumentHelp("A command to run when the migration stopped and can be resumed.", valueName: "command"))
  var onStop: String?
  @Flag(name: .long, help: "Tell systemd how far the run is, by sd_notify, and that it lives.") var notify = false

  func validate() throws {
    for command in [onSuccess, onFailure, onStop].compactMap({ $0 }) where (ShellLine(command).whole ?? []).isEmpty {
      throw ValidationError("the command \(command) has no words, or a quotation mark without a second one")
    }
  }

  /// Refuses to write over a store, of the command or any other.
  func checkPaths(_ stores: [String]) throws {
    if let logFile { try OutputPath("--log-file", logFile).check(stores) }
    guard let metrics else { return }
    for path in [metrics, metrics + ".new"] { try OutputPath("--metrics", path).check(stores) }
  }

  func logger() throws -> Logger {
    guard let logFile else { return JobLog.silent }
    let file = try LogFile(path: logFile)
    return Logger(label: "godwit") { _ in LogFileHandler(file: file, logLevel: logLevel) }
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
