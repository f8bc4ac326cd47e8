import Foundation
import Glibc
import Streams

@testable import Fleets
@testable import MigrationJobs

/// A fleet in a temporary folder, worked off by processes.
final class FleetFolder {
  let folder: CommandFolder
  let stores: [String]
  let plan: String
  private(set) var state = ""
  private let program: String

  /// Stores of so many objects, which are migrated in place, or to `.out` beside them.
  convenience init(rows: [Int], tasks: Int, toOutputs: Bool = false, options: [String] = []) throws {
    let folder = try CommandFolder()
    let stores = try rows.enumerated().map { try folder.sample("\($0).sqlite", rows: $1, seed: UInt64($0 + 1)) }
    let list = folder.file("list")
    try stores.map { toOutputs ? "\($0)\t\($0).out\n" : "\($0)\n" }.joined().write(
      toFile: list, atomically: true, encoding: .utf8)
    try self.init(
      folder, list: list, tasks: tasks, program: "book-migration",
      options: ["--checkpoint-every", "20kB"] + CommandFolder.models + options)
  }

  /// Stores that are there, by a list or a folder.
  init(_ folder: CommandFolder, list: String, tasks: Int = 1, program: String, options: [String]) throws {
    (self.folder, self.program) = (folder, program)
    plan = folder.file("fleet.json")
    let outcome = try folder.run(program, ["fleet", "plan", "--manifest", list, "--tasks", "\(tasks)"] + options)
    guard outcome.code == 0 else { throw CommandProcess.Missing(description: "no plan: \(outcome)") }
    try outcome.output.write(toFile: plan, atomically: true, encoding: .utf8)
    let found = try FleetPlan(path: plan)
    stores = found.stores.map(\.path)
    state = folder.file("fleet-\(found.id.prefix(12)).state")
  }

  func start(_ words: [String]) throws -> CommandProcess {
    try CommandProcess(program, ["fleet"] + words + ["--plan", plan], in: folder)
  }

  func run(_ words: [String]) throws -> CommandProcess.Outcome { try start(words).wait() }

  func end(_ number: Int) throws -> FleetEnd? {
    let path = "\(state)/ends/\(FleetState.name(number)).json"
    return try FileManager.default.contents(atPath: path).map { try JSONDecoder().decode(FleetEnd.self, from: $0) }
  }

  func ledger(_ number: Int) throws -> FleetLedger {
    try JSONDecoder().decode(
      FleetLedger.self, from: CommandFolder.bytes("\(state)/ledgers/\(FleetState.name(number)).json"))
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
    guard let owner = try LeaseOwner.read(job.lease, LocalFileSystem()) else {
      throw CommandProcess.Missing(description: "no process migrates to \(destination) any longer")
    }
    return owner.pid
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
