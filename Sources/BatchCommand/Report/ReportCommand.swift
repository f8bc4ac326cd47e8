import ArgumentParser
import Batch
import Foundation
import Streams

struct ReportCommand: StoreCommand {
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
  var store: String
  @Option(name: .long, help: .html, completion: .file(extensions: ["html"])) var html: String?
  @Flag(name: .long, help: "Print text, also with --html.") var text = false
  @Flag(name: .long, help: .json) var json = false

  var changed: String? { nil }

  func validate() throws {
    guard !text || !json else { throw ValidationError("--text and --json exclude each other") }
    // The path of a store in its place would be the end of that store.
    guard html.map({ $0.hasSuffix(".html") }) ?? true else {
      throw ValidationError("--html takes a file that ends in .html")
    }
  }

  func run() throws {
    let report = try MigrationJob(policies: Program.policies).report(store)
    if let html { try ReportFile.write(ReportPage.html(report), to: html) }
    if json {
      Console.print(try JSONOutput.text(report))
    } else if text || html == nil {
      Console.print(ReportText.text(report))
    }
    if report.present?.isGone == true { throw ExitCode(ExitCodes.mismatch) }
  }
}

/// The file of a page.
enum ReportFile {
  static func write(_ page: String, to path: String) throws {
    try OutputPath("--html", path).check()
    do { try page.write(toFile: path, atomically: true, encoding: .utf8) } catch {
      throw BatchError(
        .failed, "the page cannot be written",
        hint: "Name a file in a folder that is there; the report itself is as it was",
        path: path, cause: error)
    }
  }
}
