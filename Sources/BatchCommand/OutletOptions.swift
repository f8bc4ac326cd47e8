import ArgumentParser
import Batch
import Logging

/// Whom a run tells about itself besides the person at its terminal.
struct OutletOptions: ParsableArguments {
  @Option(name: .long, help: "Keep how far the run is in a file of OpenMetrics text, for node_exporter.") var metrics: String?
  @Option(name: .long, help: "Append what the run does to a file.") var logFile: String?
  @Option(name: .long, help: "What goes there: trace, debug, info, notice, warning, error or critical.")
  var logLevel = Logger.Level.info
  @Option(name: .long, help: "A command to run when the store is migrated; no shell reads it.") var onSuccess: String?
  @Option(name: .long, help: "A command to run when the migration failed.") var onFailure: String?
  @Option(name: .long, help: "A command to run when the migration stopped and can be resumed.") var onStop: String?
  @Flag(name: .long, help: "Tell systemd how far the run is, by sd_notify, and that it lives.") var notify = false

  func validate() throws {
    for command in [onSuccess, onFailure, onStop].compactMap({ $0 }) where (CommandWords.split(command) ?? []).isEmpty {
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

/// A command line as words, without a shell: blanks separate, quotation marks of both kinds and backslashes keep them.
enum CommandWords {
  static func split(_ text: String) -> [String]? {
    var (words, word) = ([String](), String?.none)
    var quote: Character?
    var isEscaped = false
    for character in text {
      if isEscaped {
        word = (word ?? "") + String(character)
        isEscaped = false
      } else if character == "\\", quote != "'" {
        isEscaped = true
      } else if let open = quote {
        if character == open { quote = nil } else { word = (word ?? "") + String(character) }
      } else if character == "'" || character == "\"" {
        (quote, word) = (character, word ?? "")
      } else if character.isWhitespace {
        if let whole = word { words.append(whole) }
        word = nil
      } else {
        word = (word ?? "") + String(character)
      }
    }
    guard quote == nil, !isEscaped else { return nil }
    return words + [word].compactMap { $0 }
  }
}
