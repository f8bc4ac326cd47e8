import Batch
import Foundation
import Streams
import Synchronization

/// Commands on single stores, each a process of this program: one that fails takes nothing with it.
final class StoreProcesses: Sendable {
  struct Outcome {
    /// The exit code; 128 and the signal's number when a signal ended it.
    var code: Int32
    var output: Data
    var error: String

    /// What a command with `--json` says of its failure; nil if it ended well, or without a word.
    var failure: FailureDocument.Body? { (try? JSONDecoder().decode(FailureDocument.self, from: output))?.error }
  }

  private let running = RunningProcesses()
  private let program: String

  /// The path of this program.
  static var thisProgram: String { URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().path }

  /// Of this program, where no other path is given.
  init(program: String = StoreProcesses.thisProgram) { self.program = program }

  var isStopped: Bool { running.isStopped }

  /// Stops one in good order.
  func stop(_ place: Int) { running.stop(place) }

  /// Stops them at SIGINT, SIGTERM and SIGHUP as long as the body works.
  func withStopSignals(_ body: () throws -> Void) rethrows {
    try ProcessSignals.whenAskedToStop({ [running] in running.stop() }, body)
  }

  /// Runs a command to its end; `place` is a number of the caller's. What it says on standard error is among the
  /// outcome, or goes to a file. Throws `stopped` if it is not begun.
  func run(_ arguments: [String], _ place: Int, deadline: Date? = nil, log: FileHandle? = nil) throws -> Outcome {
    if let deadline, deadline <= Date() { throw BatchError(.stopped, "the time is over; not begun") }
    let process = Process()
    process.executableURL = URL(fileURLWithPath: program)
    process.arguments = arguments
    let (output, error) = (Pipe(), Pipe())
    (process.standardInput, process.standardOutput, process.standardError) = (
      FileHandle.nullDevice, output, log ?? error
    )
    try running.add(place) {
      try process.run()
      return process
    }
    // Both at once: a process waits until what it says is read.
    let said = Mutex(Data())
    let reader: Worker?
    do {
      reader = try log == nil ? Worker { said.withLock { $0 = error.fileHandleForReading.readDataToEndOfFile() } } : nil
    } catch {
      // Nobody would hear what it says.
      process.terminate()
      process.waitUntilExit()
      running.remove(place)
      throw error
    }
    let found = output.fileHandleForReading.readDataToEndOfFile()
    _ = reader?.join()
    let text = String(decoding: said.withLock { $0 }, as: UTF8.self)
    process.waitUntilExit()
    running.remove(place)
    let isSignal = process.terminationReason == .uncaughtSignal
    return Outcome(
      code: process.terminationStatus + (isSignal ? 128 : 0), output: found,
      error: text.trimmingCharacters(in: .whitespacesAndNewlines))
  }
}

/// The command line for one store of many.
struct StoreCommandWords {
  /// Options that the command of one store is not given.
  private static let own: Set = [
    "--manifest", "--jobs", "--json", "--quiet", "--progress", "--max-runtime", "--deadline", "--metrics", "--notify",
    "--on-success", "--on-failure", "--on-stop", "--html", "--text",
  ]
  /// Those that a resumed run knows.
  private static let resuming: Set = [
    "--memory", "--throttle", "--nice", "--workers", "--max-rejects", "--reject-values", "--log-file", "--log-level",
  ]

  var store: String
  var output: String?
  /// The options of the whole.
  var options: [String]
  var deadline: Date?
  /// Who asks, if it is not a person.
  var origin: String?

  private var end: [String] {
    (deadline.map { ["--deadline", $0.ISO8601Format()] } ?? []) + ["--json", "--progress", "none"]
  }

  // The store first: options that take several words would swallow it.
  var migrate: [String] {
    ["migrate", Self.path(store)] + Self.options(options, resuming: false)
      + (output.map { ["--output", Self.path($0)] } ?? [])
      + (origin.map { ["--origin", $0] } ?? []) + end
  }

  /// Resumes an interrupted run.
  func resume(_ target: String, takeOver: Bool = false) -> [String] {
    ["resume", Self.path(target)] + Self.options(options, resuming: true) + (takeOver ? ["--take-over"] : []) + end
  }

  /// Any command, whose output is JSON. `takesOutput`: it has the store and its output, and not only the path of the
  /// result. `isBrief`: nobody reads the account of a run.
  func command(_ verb: [String], takesOutput: Bool, isRun: Bool, isBrief: Bool) -> [String] {
    verb + [Self.path(takesOutput ? store : output ?? store)] + Self.options(options, resuming: false)
      + (takesOutput ? output.map { ["--output", Self.path($0)] } ?? [] : []) + (isRun ? end : ["--json"])
      + (isRun && isBrief ? [CommandLineWords.brief] : [])
  }

  /// A path that is no option, whatever it begins with.
  private static func path(_ name: String) -> String { name.hasPrefix("-") ? "./" + name : name }

  /// Each option with the words that follow it; those before the first one are none.
  static func groups(_ words: [String]) -> [[String]] {
    words.reduce(into: []) { groups, word in
      if word.hasPrefix("--") {
        groups.append([word])
      } else if !groups.isEmpty {
        groups[groups.count - 1].append(word)
      }
    }
  }

  /// The options of the whole command that one store's is given.
  static func options(_ words: [String], resuming: Bool) -> [String] {
    var kept = groups(words).filter { group in
      let name = String(group[0].prefix { $0 != "=" })
      return resuming ? Self.resuming.contains(name) : !own.contains(name)
    }
    // A part of a store's rows is the run's own limit already: it is not counted again.
    if resuming, kept.contains(where: { $0[0].hasPrefix("--max-rejects") && $0.last?.hasSuffix("%") == true }) {
      kept.removeAll { $0[0].hasPrefix("--max-rejects") || $0[0] == "--reject-values" }
    }
    return kept.flatMap { $0 }
  }
}
