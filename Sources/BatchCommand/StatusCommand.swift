import ArgumentParser
import Batch
import Foundation

struct StatusCommand: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "status", abstract: "Shows the state and the progress of a migration. Never writes.",
    discussion: "Name the source or the destination.")

  @Argument(help: .run, completion: .store) var store: String
  @Flag(name: .long, help: .json) var json = false
  @Flag(
    name: .long, help: "Repeat once a second as long as a process runs the migration; with --json, a document a line.")
  var watch = false

  var changed: String? { nil }

  func run() throws {
    let job = MigrationJob(policies: Program.policies)
    var status = try Self.status(job, store)
    var drawn = 0
    while true {
      if watch, !json, Console.outputCanRedraw, drawn > 0 { Console.writeOutput("\u{1B}[\(drawn)A\r\u{1B}[J") }
      let text = json ? try (watch ? JSONOutput.line(status) : JSONOutput.text(status)) : Self.text(status, store)
      drawn = text.count { $0 == "\n" } + 1
      Console.print(text)
      fflush(nil)
      guard watch, status.state == .running else { return }
      sleep(1)
      status = try Self.status(job, store)
    }
  }

  /// Of a store's migration, or of its load into PostgreSQL.
  static func status(_ job: MigrationJob, _ store: String) throws -> JobStatus {
    try job.loadStatus(store) ?? job.status(store)
  }

  static func text(_ status: JobStatus, _ store: String) -> String {
    guard status.state != .none else { return "\(store): no migration is under way" }
    var lines = [
      "\(status.destination ?? store): \(status.state.rawValue)\(status.progress?.paused == true ? ", paused" : "")"
    ]
    func add(_ name: String, _ value: String?) {
      if let value { lines.append("  " + name.padding(toLength: 13, withPad: " ", startingAt: 0) + value) }
    }
    func ago(_ seconds: Double?) -> String { seconds.map { ", \(Console.duration($0)) ago" } ?? "" }
    add("source", status.source)
    add("target", status.target)
    add(
      "owner",
      status.owner.map {
        $0 + (status.secondsSinceSign.map { ", last sign of life \(Console.duration($0)) ago" } ?? "")
      }
    )
    let phase = status.phase.map { ", \($0)" } ?? ""
    add("step", status.step.map { "\($0), \(Console.count(status.rowsRead ?? 0)) rows read in it\(phase)" })
    add("checkpoint", status.checkpoint.map { "\($0)\(ago(status.secondsSinceCheckpoint))" })
    add("progress", status.progress.map { ProgressText($0).line })
    lines += status.problems.map { "  problem: \($0)" }
    return (lines + [status.advice].compactMap { $0 }).joined(separator: "\n")
  }
}
