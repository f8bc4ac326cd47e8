import Foundation
import Glibc
import Streams
import Testing

@testable import BatchCommand
@testable import Fleets
@testable import MigrationJobs

@Suite("Fleets", .serialized) struct FleetRunTests {
  @Test(
    "Each store ends once: done or failed with the reason; the code is the worst; what has ended is not opened again")
  func ends() throws {
    let fleet = try FleetFolder(rows: [300, 900, 600, 300], tasks: 2)
    try Data("no database".utf8).write(to: URL(fileURLWithPath: fleet.stores[3]))
    let shards = try FleetPlan(path: fleet.plan).stores.map(\.shard)
    #expect(Set(shards) == [0, 1])
    let outcomes = try (0..<2).map { try fleet.run(["run", "--shard", "\($0)/2", "--jobs", "2"]) }
    #expect(outcomes.map(\.code) == (0..<2).map { shards[3] == $0 ? 30 : 0 }, "\(outcomes)")
    let ends = try (0..<4).map { try #require(try fleet.end($0)) }
    #expect(ends.map(\.outcome) == [.done, .done, .done, .failed] && ends[3].reason?.contains("SQLite") == true)
    #expect(try CommandFolder.bytes(fleet.stores[1]) == fleet.undisturbed(1, rows: 900))
    for store in fleet.stores { try FileManager.default.removeItem(atPath: store) }
    let again = try fleet.run(["run", "--shard", "\(shards[3])/2", "--json"])
    #expect(again.code == 30 && again.output.contains("\"stores\" : [\n\n  ]"), "\(again)")
    let unchanged = try (0..<4).map { try fleet.end($0) }
    #expect(unchanged == ends)
    #expect(try FileManager.default.contentsOfDirectory(atPath: fleet.state + "/claims").isEmpty)
  }

  @Test("A task says how all its stores have ended, also those of an earlier start, and its code agrees with that")
  func endedBefore() throws {
    let folder = try CommandFolder()
    let (good, missing) = (try folder.sample("Good.sqlite", rows: 30), folder.file("nope.sqlite"))
    let list = folder.file("list")
    try "\(good)\n\(missing)\n".write(toFile: list, atomically: true, encoding: .utf8)
    let fleet = try FleetFolder(folder, list: list, program: "book-migration", options: CommandFolder.models)
    let first = try fleet.run(["run"])
    #expect(
      first.code == 64 && first.output.hasPrefix("task 0 of 1: 1 done, 0 rejected, 1 failed, 0 open, in "), "\(first)")
    let again = try fleet.run(["run"])
    #expect(
      again.code == 64 && again.output.hasPrefix("task 0 of 1: 1 done, 0 rejected, 1 failed, 0 open, in "), "\(again)")
    #expect(again.output.hasSuffix("; 2 had ended before\n"), "\(again)")
  }

  @Test("Why a store failed is said without the program's name, and the help that a usage error names is there")
  func reason() throws {
    let fleet = try FleetFolder(rows: [30], tasks: 1)
    try Data("no database".utf8).write(to: URL(fileURLWithPath: fleet.stores[0]))
    #expect(try fleet.run(["run"]).code == 30)
    let reason = try #require(try fleet.end(0)?.reason)
    #expect(!reason.hasPrefix("book-migration: ") && !reason.contains(fleet.stores[0] + ": "), "\(reason)")
    let wrong = try fleet.run(["run", "--shard", "7/1"])
    #expect(wrong.code == 64 && wrong.error.contains("See 'book-migration fleet run --help'"), "\(wrong)")
  }

  @Test("SIGTERM stops a task in good order with 75; started again it goes on, with the undisturbed bytes")
  func stopped() throws {
    let fleet = try FleetFolder(rows: [20_000, 300], tasks: 1)
    let process = try fleet.start(["run"])
    _ = try fleet.atWork(fleet.stores[0], process)
    process.send(SIGTERM)
    let outcome = try process.wait()
    #expect(outcome.code == 75, "\(outcome)")
    #expect(try fleet.end(0) == nil)
    #expect(try fleet.ledger(0).attempts.last?.exitCode == 75)
    let status = try fleet.run(["status", "--json"])
    #expect(status.output.contains("\"interrupted\" : 1"), "\(status)")
    let again = try fleet.run(["run"])
    #expect(again.code == 0, "\(again)")
    #expect(try fleet.end(0)?.attempts == 2)
    #expect(try CommandFolder.bytes(fleet.stores[0]) == fleet.undisturbed(0, rows: 20_000))
  }

  @Test(
    "The stores of a task that was killed are worked off by another one, from their checkpoints, with the undisturbed bytes"
  )
  func killed() throws {
    let fleet = try FleetFolder(rows: [20_000, 300, 300], tasks: 2, toOutputs: true)
    let other = 1 - (try FleetPlan(path: fleet.plan).stores[0].shard)
    let process = try fleet.start(["run", "--shard", "\(1 - other)/2"])
    let migration = try fleet.atWork(fleet.stores[0] + ".out", process)
    process.send(SIGKILL)
    kill(migration, SIGKILL)
    _ = try process.wait()
    let outcome = try fleet.run(["run", "--shard", "\(other)/2"])
    #expect(outcome.code == 0, "\(outcome)")
    #expect(try (0..<3).map { try fleet.end($0)?.outcome } == [.done, .done, .done])
    #expect(try fleet.end(0)?.attempts == 2)
    #expect(try CommandFolder.bytes(fleet.stores[0] + ".out") == fleet.undisturbed(0, rows: 20_000))
    #expect(try FileManager.default.contentsOfDirectory(atPath: fleet.state + "/claims").isEmpty)
  }

  @Test(
    "A node that comes back when its store was taken over writes nothing: one end, the successor's, and the undisturbed bytes"
  )
  func comesBack() throws {
    let fleet = try FleetFolder(rows: [20_000], tasks: 1, toOutputs: true)
    let output = fleet.stores[0] + ".out"
    let process = try fleet.start(["run"])
    let migration = try fleet.atWork(output, process)
    kill(migration, SIGSTOP)
    process.send(SIGSTOP)
    usleep(100_000)
    for path in try ["\(fleet.state)/claims/000000.claim", JobDirectory(destination: output).lease] {
      try FleetFolder.moveElsewhere(path)
    }
    let outcome = try fleet.run(["run", "--patience", "3"])
    #expect(outcome.code == 0, "\(outcome)")
    let end = try #require(try fleet.end(0))
    #expect(end.outcome == .done && end.epoch == 2 && end.pid != process.pid)
    #expect(try CommandFolder.bytes(output) == fleet.undisturbed(0, rows: 20_000))
    let before = try fleet.folder.tree()
    kill(migration, SIGCONT)
    process.send(SIGCONT)
    let late = try process.wait()
    #expect(late.code == 0 && late.error.contains("another process has taken this store over"), "\(late)")
    #expect(try fleet.end(0) == end)
    let changed = try fleet.folder.tree().filter { before[$0.key] != $0.value && !$0.key.hasSuffix("/claims") }.keys
    #expect(changed.isEmpty, "\(changed)")
  }

  @Test(
    "In place, a node that comes back holds up its successor's cut-over alone: the store does not fail, and ends when that node leaves"
  )
  func comesBackInPlace() throws {
    let fleet = try FleetFolder(rows: [20_000], tasks: 1)
    let process = try fleet.start(["run"])
    let migration = try fleet.atWork(fleet.stores[0], process)
    kill(migration, SIGSTOP)
    process.send(SIGSTOP)
    usleep(100_000)
    for path in try ["\(fleet.state)/claims/000000.claim", JobDirectory(destination: fleet.stores[0]).lease] {
      try FleetFolder.moveElsewhere(path)
    }
    for patience in ["3", "4"] {
      let outcome = try fleet.run(["run", "--patience", patience])
      #expect(outcome.code == 75 && outcome.error.contains("only the cut-over is left to do"), "\(outcome)")
      #expect(try fleet.end(0) == nil)
    }
    kill(migration, SIGCONT)
    process.send(SIGCONT)
    #expect(try process.wait().code == 75)
    let last = try fleet.run(["run"])
    #expect(last.code == 0, "\(last)")
    #expect(try CommandFolder.bytes(fleet.stores[0]) == fleet.undisturbed(0, rows: 20_000))
  }

  @Test("An attempt that died behind its cut-over is not repeated: the store is done, and its file is the same")
  func diedAtTheEnd() throws {
    let fleet = try FleetFolder(rows: [600], tasks: 1, options: ["--max-rejects", "3"])
    #expect(try fleet.run(["run"]).code == 0)
    let before = try CommandFolder.bytes(fleet.stores[0])
    try FileManager.default.removeItem(atPath: fleet.state + "/ends/000000.json")
    let again = try fleet.run(["run"])
    #expect(again.code == 0, "\(again)")
    let end = try #require(try fleet.end(0))
    #expect(end.outcome == .done && end.attempts == 2)
    #expect(try CommandFolder.bytes(fleet.stores[0]) == before)
    let backups = try FileManager.default.contentsOfDirectory(atPath: fleet.folder.path).filter {
      $0.contains(".backup-")
    }
    #expect(backups.count == 2, "\(backups)")
  }

  @Test("A process that outlives its task and finishes while a successor begins: the store is done, and does not fail")
  func outlived() throws {
    let fleet = try FleetFolder(rows: [20_000], tasks: 1, toOutputs: true)
    let output = fleet.stores[0] + ".out"
    let process = try fleet.start(["run"])
    let migration = try fleet.atWork(output, process)
    process.send(SIGKILL)
    kill(migration, SIGKILL)
    _ = try process.wait()
    // What the successor starts comes too late by as much as another needs to finish.
    let program = try "GODWIT_STATE='\(fleet.folder.state)' '\(CommandProcess.path(of: "book-migration"))'"
    let late = fleet.folder.file("late")
    try "#!/bin/sh\n\(program) resume '\(output)' --quiet\n\(program) \"$@\"\n".write(
      toFile: late, atomically: true, encoding: .utf8)
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: late)
    let plan = try FleetPlan(path: fleet.plan)
    let state = FleetState(plan, planPath: fleet.plan)
    let run = FleetStoreRun(
      plan: plan, state: state, processes: StoreProcesses(program: late), deadline: nil, options: [])
    guard case .taken(let claim) = try state.claims.take(FleetState.name(0), epoch: 2) else {
      Issue.record("the claim of a task that died is not free")
      return
    }
    let result = try #require(run.run(0, claim))
    #expect(result.outcome == "done" && result.exitCode == 0, "\(result)")
    #expect(try fleet.end(0)?.outcome == .done)
    #expect(try CommandFolder.bytes(output) == fleet.undisturbed(0, rows: 20_000))
  }

  @Test("A store that another task works on is left to it, and the task ends with 75")
  func held() throws {
    let fleet = try FleetFolder(rows: [20_000], tasks: 1)
    let process = try fleet.start(["run"])
    let migration = try fleet.atWork(fleet.stores[0], process)
    kill(migration, SIGSTOP)
    let second = try fleet.run(["run", "--patience", "3"])
    #expect(second.code == 75 && second.output.contains("1 of its stores have not ended"), "\(second)")
    let status = try fleet.run(["status"])
    #expect(status.output.contains("running: \(fleet.stores[0])"), "\(status)")
    kill(migration, SIGCONT)
    #expect(try process.wait().code == 0)
  }

  @Test("Where the state cannot be used a task ends with 75, to be started again, and no store has ended")
  func noState() throws {
    let fleet = try FleetFolder(rows: [300], tasks: 1)
    try FileManager.default.createDirectory(atPath: fleet.state, withIntermediateDirectories: true)
    try Data().write(to: URL(fileURLWithPath: fleet.state + "/claims"))
    let outcome = try fleet.run(["run"])
    #expect(outcome.code == 75 && outcome.error.contains(fleet.state), "\(outcome)")
    try FileManager.default.removeItem(atPath: fleet.state + "/claims")
    #expect(try fleet.run(["run"]).code == 0)
  }

  @Test(
    "Models that were changed since the plan was made, and options that no plan has, are refused before anything is written"
  )
  func refused() throws {
    let fleet = try FleetFolder(rows: [300], tasks: 1)
    let mapping = fleet.folder.file("Mappings")
    try FileManager.default.copyItem(atPath: ExampleFolder.mappings, toPath: mapping)
    let text = try String(contentsOfFile: fleet.plan, encoding: .utf8)
    let store = try #require(try FleetPlan(path: fleet.plan).stores.first)
    let plans = try [["--models", ExampleFolder.models], ["--on-success", "true"], ["--models", "/nowhere"]].map {
      try FleetPlan([store], tasks: 1, options: $0 + ["--history", "keep"], models: "0").text()
    }
    for plan in plans {
      try plan.write(toFile: fleet.plan, atomically: true, encoding: .utf8)
      let outcome = try fleet.run(["run"])
      #expect([1, 20].contains(outcome.code) && !outcome.error.isEmpty, "\(outcome)")
    }
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: fleet.folder.path).allSatisfy { !$0.hasSuffix(".state") })
    try text.write(toFile: fleet.plan, atomically: true, encoding: .utf8)
    #expect(try fleet.run(["run"]).code == 0)
  }
}
