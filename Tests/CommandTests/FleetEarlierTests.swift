import Foundation
import GRDB
import Glibc
import Streams
import Testing

@testable import BatchCommand
@testable import CoreDataStore
@testable import Fleets
@testable import MigrationJobs

@Suite("Stores of a fleet that others worked on", .serialized) struct FleetEarlierTests {
  /// Begins with store 0 as an attempt does that dies at once. Its clock may be ahead.
  private func died(_ fleet: FleetFolder, started: String? = nil) throws {
    let plan = try FleetPlan(path: fleet.plan)
    let state = FleetState(plan, planPath: fleet.plan)
    try state.create()
    guard case .taken(let claim) = try state.claims.take(FleetState.name(0)) else {
      throw CommandProcess.Missing(description: "no claim")
    }
    defer { claim.release() }
    var ledger = try state.ledger(0)
    ledger.begin(FleetEarlierWork(plan: plan, number: 0, job: MigrationJob()).attempt(claim.owner))
    if let started { ledger.attempts[0].started = started }
    try state.write(ledger, 0, under: claim)
  }

  private func migrate(_ fleet: FleetFolder, _ words: [String]) throws {
    let done = try fleet.folder.run("book-migration", ["migrate", fleet.stores[0]] + CommandFolder.models + words)
    #expect(done.code == 0, "\(done)")
  }

  /// Runs the task, and expects that the store ends so and is not written.
  private func expect(_ fleet: FleetFolder, _ outcome: FleetEnd.Outcome, _ words: String, of path: String? = nil) throws
  {
    let path = path ?? fleet.stores[0]
    let before = try CommandFolder.bytes(path)
    let ran = try fleet.run(["run"])
    let end = try #require(try fleet.end(0), "\(ran)")
    #expect(ran.code == (outcome == .failed ? 20 : 0) && end.outcome == outcome, "\(ran)")
    #expect(end.reason?.contains(words) == true && ran.error.contains(words), "\(ran)")
    #expect(try CommandFolder.bytes(path) == before)
  }

  @Test("What lies at the output is done only if it is the store at the plan's version, whoever died before (F6)")
  func outputs() throws {
    for words in ["output is not a store", "the store at the output is another one", "is not at the plan's version"] {
      let fleet = try FleetFolder(rows: [200], tasks: 1, toOutputs: true)
      try died(fleet)
      let output = fleet.stores[0] + ".out"
      if words.contains("not a store") {
        try Data("not a store at all".utf8).write(to: URL(fileURLWithPath: output))
      } else {
        try FileManager.default.copyItem(atPath: fleet.stores[0], toPath: output)
        if words.contains("another") { try Self.giveOtherUUID(output) }
      }
      try expect(fleet, .failed, words, of: output)
      try FileManager.default.removeItem(atPath: output)
      try follow(fleet)
      #expect(try StoreIdentity(output).uuid == StoreIdentity(fleet.stores[0]).uuid)
    }
    let fleet = try FleetFolder(rows: [200], tasks: 1, toOutputs: true)
    try died(fleet)
    try migrate(fleet, ["--output", fleet.stores[0] + ".out"])
    try expect(fleet, .done, "it was at the plan's version already", of: fleet.stores[0] + ".out")
  }

  /// Does what the reason says, word by word.
  private func follow(_ fleet: FleetFolder) throws {
    let command = try #require(try fleet.end(0)?.reason?.split(separator: "`").dropFirst().first)
    let programs = URL(fileURLWithPath: try CommandProcess.path(of: "book-migration")).deletingLastPathComponent().path
    let done = try fleet.folder.run(
      "godwit", [], launcher: ["/usr/bin/env", "PATH=\(programs):/usr/bin:/bin", "bash", "-c", String(command)])
    #expect(done.code == 0, "\(command): \(done)")
  }

  private static func giveOtherUUID(_ store: String) throws {
    let queue = try DatabaseQueue(path: store)
    try queue.write { try $0.execute(sql: "UPDATE Z_METADATA SET Z_UUID = 'AAAAAAAA-0000-4000-8000-000000000000'") }
    try queue.close()
  }

  @Test(
    "A store that a person migrated to another version or rolled back meanwhile is told as that, and left alone (F7)")
  func byHand() throws {
    let other = try FleetFolder(rows: [200], tasks: 1)
    try died(other)
    try migrate(other, ["--to", "Library 2"])
    try expect(other, .failed, "somebody else migrated it to version Library 2")
    let back = try FleetFolder(rows: [200], tasks: 1)
    try died(back)
    try migrate(back, [])
    #expect(try back.folder.run("godwit", ["rollback", back.stores[0]]).code == 0)
    try expect(back, .failed, "since the first attempt it was migrated and rolled back")
    try follow(back)
    let report = try back.folder.run("godwit", ["report", back.stores[0]])
    #expect(report.code == 0 && report.output.hasPrefix("DONE: The store is at Library 3"), "\(report)")
    let done = try FleetFolder(rows: [200], tasks: 1)
    try died(done)
    try migrate(done, [])
    try expect(done, .done, "it was at the plan's version already")
    let restored = try FleetFolder(rows: [200], tasks: 1)
    try died(restored)
    try Self.giveOtherUUID(restored.stores[0])
    try expect(restored, .failed, "another store took its place")
  }

  @Test("A migration and a rollback from before the fleet mean nothing to it: the store is migrated")
  func before() throws {
    let fleet = try FleetFolder(rows: [200], tasks: 1)
    try migrate(fleet, [])
    #expect(try fleet.folder.run("godwit", ["rollback", fleet.stores[0]]).code == 0)
    try died(fleet)
    let ran = try fleet.run(["run"])
    #expect(try ran.code == 0 && fleet.end(0)?.outcome == .done, "\(ran)")
    let report = try fleet.folder.run("godwit", ["report", fleet.stores[0], "--json"])
    #expect(report.code == 0 && report.output.contains("\"origin\" : \"fleet "), "\(report)")
  }

  @Test("What an attempt that died had finished with rejects ends as rejected, whatever the clocks say (F1)")
  func clocks() throws {
    let folder = try CommandFolder()
    let (store, model) = (folder.file("Plain.sqlite"), ExampleFolder.root + "/Benchmarks/Models/Plain.xcdatamodeld")
    let sample = ["sample", model, "--version", "Plain 2", "--rows", "1000", "--output", store]
    #expect(try folder.run("godwit", sample).code == 0)
    let list = folder.file("list")
    try store.write(toFile: list, atomically: true, encoding: .utf8)
    let options = ["--models", model, "--versions", "Plain 2,Plain 1", "--max-rejects", "50%"]
    let fleet = try FleetFolder(folder, list: list, program: "godwit", options: options)
    try died(fleet, started: "2099-01-01T00:00:00Z")
    let origin = FleetEarlierWork.origin(try FleetPlan(path: fleet.plan), 0)
    #expect(try folder.run("godwit", ["migrate", store, "--origin", origin] + options).code == 10)
    let ran = try fleet.run(["run"])
    let end = try #require(try fleet.end(0))
    #expect(
      ran.code == 0 && end.outcome == .rejected && end.reason?.contains("objects were rejected, listed in") == true,
      "\(ran)")
  }

  @Test("A store that another program has open is left for the next attempt, and does not fail (F2)")
  func open() throws {
    let fleet = try FleetFolder(rows: [200], tasks: 1)
    let queue = try DatabaseQueue(path: fleet.stores[0])
    try queue.inTransaction(.exclusive) { _ in
      let held = try fleet.run(["run"])
      #expect(try held.code == 75 && fleet.end(0) == nil, "\(held)")
      return .rollback
    }
    try queue.close()
    let free = try fleet.run(["run"])
    #expect(try free.code == 0 && fleet.end(0)?.outcome == .done, "\(free)")
  }

  @Test(
    "An unfinished migration of others to another version is theirs: the store fails, and their run is as it was",
    arguments: [true, false])
  func foreignRun(isFirst: Bool) throws {
    let fleet = try FleetFolder(rows: [6000], tasks: 1)
    if !isFirst { try died(fleet) }
    let process = try CommandProcess(
      "book-migration",
      ["migrate", fleet.stores[0], "--to", "Library 2", "--checkpoint-every", "20kB"] + CommandFolder.slowly
        + CommandFolder.models,
      in: fleet.folder)
    let migration = try fleet.atWork(fleet.stores[0], process)
    kill(migration, SIGKILL)
    _ = try process.wait()
    try expect(fleet, .failed, "somebody else began a migration to version Library 2, which is not finished")
    #expect(try fleet.folder.run("book-migration", ["resume", fleet.stores[0]]).code == 0)
  }

  @Test("A record of the fleet that cannot be read is told by status, which ends with 20 (F5)")
  func damagedEnd() throws {
    let fleet = try FleetFolder(rows: [200, 200], tasks: 1)
    #expect(try fleet.run(["run"]).code == 0)
    let path = fleet.state + "/ends/000001.json"
    try Data("garbage".utf8).write(to: URL(fileURLWithPath: path))
    let status = try fleet.run(["status"])
    #expect(status.code == 20 && status.output.contains("unreadable") && status.output.contains(path), "\(status)")
    let json = try fleet.run(["status", "--json"])
    #expect(json.code == 20 && json.output.contains("\"unreadable\" : 1"), "\(json)")
  }

  @Test("A store whose name is not UTF-8 is in the plan with the reason, and ends as failed (F3)")
  func undecodable() throws {
    let folder = try CommandFolder()
    let store = try folder.sample(rows: 100)
    let bytes = try CommandFolder.bytes(store)
    let name = Array(folder.file("e").utf8) + [0xFF] + Array(".sqlite".utf8)
    let file = Glibc.open(name.map { CChar(bitPattern: $0) } + [0], O_CREAT | O_WRONLY, 0o600)
    #expect(bytes.withUnsafeBytes { write(file, $0.baseAddress, $0.count) } == bytes.count)
    close(file)
    let fleet = try FleetFolder(folder, list: folder.path, program: "book-migration", options: CommandFolder.models)
    let found = try #require(try FleetPlan(path: fleet.plan).stores.first { $0.problem != nil })
    #expect(found.path == folder.file("e\\xff.sqlite") && found.problem?.contains("is not UTF-8") == true)
    let ran = try fleet.run(["run"])
    #expect(ran.code == 20 && ran.error.contains("e\\xff.sqlite"), "\(ran)")
    // The advice is a command.
    let rename = try #require(found.problem?.split(separator: "`").dropFirst().first)
    let renamed = try folder.run("godwit", [], launcher: ["/bin/bash", "-c", String(rename)])
    #expect(renamed.code == 0 && FileManager.default.fileExists(atPath: folder.file("NEW-NAME")), "\(renamed)")
  }
}
