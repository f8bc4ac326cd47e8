import ArgumentParser
import Batch
import Foundation

struct StatusCommand: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "status", abstract: "Says how far a migration is. Never writes.",
    discussion: "The path is that of the source or of the destination.")

  @Argument(help: "The store, or the output of a migration.") var store: String
  @Flag(name: .long, help: "Print JSON.") var json = false

  var changed: String? { nil }

  func run() throws {
    let status = try MigrationJob(policies: GodwitCommand.policies).status(store)
    if json { return Console.print(try JSONOutput.text(status)) }
    guard status.state != .none else { return Console.print("\(store): no migration is under way") }
    var lines = ["\(status.destination ?? store): \(status.state.rawValue)"]
    if let source = status.source { lines.append("  source       \(source)") }
    if let target = status.target { lines.append("  target       \(target)") }
    if let owner = status.owner { lines.append("  owner        \(owner)") }
    let phase = status.phase.map { ", \($0)" } ?? ""
    if let step = status.step { lines.append("  step         \(step), \(status.rowsRead ?? 0) rows read in it\(phase)") }
    if let checkpoint = status.checkpoint { lines.append("  checkpoint   \(checkpoint)") }
    Console.print((lines + status.problems.map { "  problem: \($0)" }).joined(separator: "\n"))
  }
}
