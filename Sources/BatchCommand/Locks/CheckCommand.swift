import ArgumentParser
import Batch
import Foundation

struct CheckCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check", abstract: "Checks that no locked version of a model changed. Never writes.",
    discussion: """
      A store knows its version by the checksum of the version's hashes. An edit of a version that was shipped changes it, and \
      SwiftData refuses the store with error 134504. The exit code is 4 if a version in the lock changed or is missing. A new \
      version that is not locked yet is a note. Steps between the versions are listed with what they need and drop.
      """)

  enum Format: String, ExpressibleByArgument, CaseIterable { case text, json, sarif, github }

  @OptionGroup var options: LockOptions

  @Option(
    name: .long,
    help: ArgumentHelp(
      "How to print it: text, json, sarif (for code scanning), or github (annotations of a workflow).",
      valueName: "format"))
  var format: Format?

  @Flag(name: .long, help: .json) var json = false

  func validate() throws {
    guard !json || format == nil || format == .json else {
      throw ValidationError("--json and --format \(format?.rawValue ?? "") exclude each other")
    }
  }

  func run() throws {
    let path = options.path
    guard let lock = try LockReader.read(path) else {
      let command = options.command("lock")
      throw BatchError(
        .noSuchFile, "there is no lock", hint: "To lock the versions as they are: \(command)", next: [command.line],
        path: path)
    }
    let bundle = try options.bundle()
    let comparison = LockComparison(lock, bundle.versions)
    let report = LockReport(comparison, of: bundle, with: lock, options)
    Console.print(try text(report))
    if !comparison.isKept { throw ExitCode(ExitCodes.lockedVersionChanged) }
  }

  private func text(_ report: LockReport) throws -> String {
    switch json ? .json : format ?? .text {
    case .text: LockReportText.text(report)
    case .json: try JSONOutput.document(report)
    case .sarif: try JSONOutput.text(SARIFLog(report))
    case .github: GitHubAnnotations.text(report)
    }
  }
}
