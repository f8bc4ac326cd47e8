import ArgumentParser
import Batch
import Foundation

struct FleetStatusCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status",
    abstract: "Shows the progress of a fleet, and how its stores ended. Writes only the page of --html.",
    discussion: """
      The status is merged from what the tasks recorded of every store. Progress is that of this moment. The exit code is 20 if the \
      record of a store cannot be read.
      """)

  @OptionGroup var fleet: FleetArguments
  @Flag(name: .long, help: .json) var json = false
  @Option(name: .long, help: .html, completion: .file(extensions: ["html"])) var html: String?

  func validate() throws {
    try ReportFile.check(html)
  }

  func run() throws {
    let (plan, state) = try fleet.open()
    let status = FleetStatus(of: plan, in: state, job: MigrationJob(policies: Program.policies))
    if let html { try ReportFile.write(FleetPage.html(status), to: html) }
    if json { Console.print(try JSONOutput.text(status)) } else if html == nil { Console.print(Self.text(status)) }
    if status.count(.unreadable) > 0 { throw ExitCode(ExitCodes.refused) }
  }

  static func text(_ status: FleetStatus) -> String {
    var lines = ["fleet \(status.plan.prefix(12)): \(headline(status))"]
    lines += FleetStatus.Standing.allCases.filter { status.count($0) > 0 }.map { standing in
      "  \(standing.rawValue.padding(toLength: 12, withPad: " ", startingAt: 0))\(status.count(standing))"
    }
    for store in status.all(.running) {
      lines.append("running: \(store.path), \(percent(store.progress))\(store.owner.map { ", \($0)" } ?? "")")
    }
    for standing in [FleetStatus.Standing.unreadable, .failed, .rejected, .interrupted] {
      lines += status.all(standing).map { "\(standing.rawValue): \(why($0))" }
    }
    return lines.joined(separator: "\n")
  }

  /// A store and what is said of it, which may name it already.
  static func why(_ store: FleetStatus.Store) -> String {
    let reason = store.reason ?? "its process died"
    return reason.hasPrefix(store.path) ? reason : "\(store.path): \(reason)"
  }

  static func headline(_ status: FleetStatus) -> String {
    let ended = status.count(.done) + status.count(.rejected) + status.count(.failed)
    return
      "\(ended) of \(status.stores.count.counted("store")) \(ended.verb("has", "have")) ended, \(Console.size(status.bytesDone)) of \(Console.size(status.bytes))"
  }

  static func percent(_ progress: Double?) -> String {
    progress.map { "\(Int(max(0, min(1, $0)) * 100)) %" } ?? "starting"
  }
}
