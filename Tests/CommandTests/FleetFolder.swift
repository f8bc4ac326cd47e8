import Foundation
import Glibc
import Streams

@testable import Batch

/// A fleet in a temporary folder, worked off by processes.
final class FleetFolder {
  let folder: CommandFolder
  let stores: [String]
  let plan: String
  private(set) var state = ""

  /// Stores of so many objects, which are migrated in place, or to `.out` beside them.
  init(rows: [Int], tasks: Int, toOutputs: Bool = false, options: [String] = []) throws {
    let made = try CommandFolder()
    folder = made
    stores = try rows.enumerated().map { try made.sample("\($0).sqlite", rows: $1, seed: UInt64($0 + 1)) }
    plan = folder.file("fleet.json")
    let list = folder.file("list")
    try stores.map { toOutputs ? "\($0)\t\($0).out\n" : "\($0)\n" }.joined().write(
      toFile: list, atomically: true, encoding: .utf8)
    let outcome = try folder.run(
      "book-migration",
      ["fleet", "plan", "--manifest", list, "--tasks", "\(tasks)", "--checkpoint-every", "20kB"] + CommandFolder.models + options)
    guard outcome.code == 0 else { throw CommandProcess.Missing(description: "no plan: \(outcome)") }
    try outcome.output.write(toFile: plan, atomically: true, encoding: .utf8)
    state = folder.file("fleet-\(try FleetPlan(path: plan).id.prefix(12)).state")
  }

  func start(_ words: [String]) throws -> CommandProcess {
    try CommandProcess("book-migration", ["fleet"] + words + ["--plan", plan], in: folder)
  }

  func run(_ words: [String]) throws -> CommandProcess.Outcome { try start(words).wait() }

  func end(_ number: Int) throws -> FleetEnd? {
    let path = "\(state)/ends/\(FleetState.name(number)).json"
    return try FileManager.default.contents(atPath: path).map { try JSONDecoder().decode(FleetEnd.self, from: $0) }
  }

  func ledger(_ number: Int) throws -> FleetLedger {
    try JSONDecoder().decode(FleetLedger.self, from: CommandFolder.bytes("\(state)/ledgers/\(FleetState.name(number)).json"))
  }

  /// The bytes that an undisturbed migration gives.
  func undisturbed(_ number: Int, rows: Int) throws -> Data {
    let other = try CommandFolder()
    let store = try other.sample(rows: rows, seed: UInt64(number + 1))
    _ = try other.run("book-migration", ["migrate", store] + CommandFolder.models)
    return try CommandFolder.bytes(store)
  }

  /// Waits until the migration to a path has made two checkpoints, and returns its process.
  func atWork(_ destination: String, _ process: CommandProcess) throws -> Int32 {
    let job = try JobDirectory(destination: destination)
    while process.isRunning, CommandFolder.checkpoints(job.path).count < 2 { usleep(2000) }
    return try LeaseOwner.read(job.lease, LocalFileSystem())?.pid ?? 0
  }

  /// Has a claim or a lease say that its owner is on another machine.
  static func moveElsewhere(_ path: String) throws {
    let record = try String(contentsOfFile: path, encoding: .utf8)
    let forged = record.replacing(#/"bootID":"[^"]*"/#, with: #""bootID":"00000000-0000-4000-8000-000000000000""#)
    let file = try LocalFileSystem().open(path, .update)
    defer { file.close() }
    try Array(forged.utf8).withUnsafeBytes { try file.write($0, at: 0) }
  }
}
