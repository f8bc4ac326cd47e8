import ArgumentParser
import Batch
import Streams

struct ReportCommand: ListedCommand {
  static let configuration = CommandConfiguration(
    commandName: "report",
    abstract: "Reports the outcome or the progress of a migration: path, rows, time, rejects, verification.",
    discussion: """
      It reports on a migration that is running or interrupted, or on the last finished migration to a path. It writes neither to the \
      store nor to the run. Without options it prints text. The exit code is 12 if the result of a finished migration is no longer \
      there.
      """)

  @Argument(
    help: "The migrated store, its job directory, or the source of a migration that is not finished.",
    completion: .store)
  var store: String?
  @OptionGroup var list: ListArguments
  @Option(name: .long, help: .html, completion: .file(extensions: ["html"])) var html: String?
  @Flag(name: .long, help: "Print text, also with --html.") var text = false
  @Flag(name: .long, help: .json) var json = false

  var changed: String? { nil }

  static let takesOutput = false

  func validate() throws {
    try list.check(store)
    guard !text || !json else { throw ValidationError("--text and --json exclude each other") }
    // The path of a store in its place would be the end of that store.
    try ReportFile.check(html)
  }

  func run() throws {
    guard let store else { return try reportList(Manifest(path: list.manifest ?? "")) }
    let report = try StoreLook.report(MigrationJob(policies: Program.policies), store)
    if let html { try ReportFile.write(ReportPage.html(report), to: html) }
    if json {
      Console.print(try JSONOutput.text(report))
    } else if text || html == nil {
      Console.print(ReportText.text(report))
    }
    if report.present?.isGone == true { throw ExitCode(ExitCodes.mismatch) }
  }
}

extension ReportCommand {
  static func state(of outcome: StoreOutcome) -> ListState {
    guard let report = outcome.document, let name = report["outcome"]?.text,
      let outcome = RunReport.Outcome(rawValue: name)
    else {
      return outcome.failure?.code == BatchError.Code.refused.description
        ? ListState(ListState.noneIsKnown, .nothing) : ListState(failed: outcome)
    }
    let words = ReportWords.name(outcome)
    if report["failureCode"] == nil, let code = report["resumeRefusal"]?.count.map({ Int32(clamping: $0) }) {
      return ListState(
        ExitCodes.name(code), .failed, detail: report["problems"]?.elements.first?.text, code: code)
    }
    let present = report["present"]?.text.flatMap { StorePresence(rawValue: $0) }
    if outcome != .rolledBack, present?.isGone == true {
      return ListState("done, but the store is no longer there", .failed)
    }
    switch outcome {
    case .done: return ListState(words, .done)
    // Somebody wanted it.
    case .rolledBack: return ListState(words, .nothing, code: ExitCodes.nothingToDo)
    case .doneWithRejects: return ListState(words, .done, code: ExitCodes.rejects)
    case .running, .paused:
      let part = "\(Int((report["done"]?.double ?? 0) * 100)) %"
      return ListState(words, .running, detail: part, code: ExitCodes.leaseHeld)
    case .stopped, .interrupted, .cutOver: return .interrupted(after: outcome)
    case .failed where report["resumable"] == .bool(true): return .interrupted(after: outcome)
    case .failed:
      let code = Int32(clamping: report["failureCode"]?.count ?? 1)
      return ListState(ExitCodes.name(code), .failed, detail: report["reason"]?.text, code: code)
    }
  }

  private func reportList(_ stores: Manifest) throws {
    let run = try ListRun(self, stores)
    let summary = try run.summary()
    if let html { try ReportFile.write(ListPage.html(summary), to: html) }
    if json {
      Console.print(try JSONOutput.text(summary))
    } else if text || html == nil {
      Console.print(ListText(summary).text)
    }
    if summary.exitCode != 0 { throw ExitCode(summary.exitCode) }
  }
}

/// The file of a page.
enum ReportFile {
  /// The path of a page must say that it is one, so that no other file is written over.
  static func check(_ path: String?) throws {
    guard path?.lowercased().hasSuffix(".html") ?? true else {
      throw ValidationError("--html takes a file that ends in .html")
    }
  }

  static func write(_ page: String, to path: String) throws {
    try OutputPath("--html", path).check()
    do { try page.write(toFile: path, atomically: true, encoding: .utf8) } catch { throw unwritten(path, error) }
  }

  /// The error of a page that cannot be written.
  static func unwritten(_ path: String, _ error: any Error) -> BatchError {
    BatchError(
      .failed, "the page cannot be written",
      hint: "Name a file in a folder that is there and has room; all else is as it was", path: path, cause: error)
  }
}
