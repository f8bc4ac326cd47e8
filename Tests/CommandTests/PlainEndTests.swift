import Foundation
import GRDB
import Testing

@testable import MigrationJobs
@testable import PlainLoads
@testable import Streams

@Suite("How a load into a file ends, and what its messages lead to", .serialized)
struct PlainEndTests {
  private let folder: CommandFolder

  init() throws { folder = try CommandFolder() }

  private var output: String { folder.file("plain.sqlite") }
  private var scratch: String { folder.file(".plain.sqlite.godwit-plain") }

  private func load(_ store: String, _ words: [String]) -> [String] {
    ["migrate", store, "--to-sqlite", "plain", "--output", output] + words + CommandFolder.models
  }

  /// The commands between backticks.
  private func commands(_ text: String) -> [String] {
    text.split(separator: "`", omittingEmptySubsequences: false).enumerated().filter { $0.offset % 2 == 1 }.map {
      String($0.element)
    }
  }

  private func change(_ store: String, _ sql: String) throws {
    let queue = try DatabaseQueue(path: store)
    try queue.write { try $0.execute(sql: sql) }
    try queue.close()
  }

  /// A load at work: in the migration before it, or behind that.
  private func atWork(_ store: String, _ words: [String], isMigrating: Bool) throws -> CommandProcess {
    let process = try CommandProcess("book-migration", load(store, ["--throttle", "400rows/s"] + words), in: folder)
    func isUnderWay() -> Bool {
      isMigrating
        ? !CommandFolder.checkpoints(scratch + "/.store.sqlite.godwit").isEmpty
        : FileManager.default.fileExists(atPath: scratch + "/.load.godwit/progress.json")
    }
    while process.isRunning, !isUnderWay() { usleep(2000) }
    return process
  }

  private func status(_ words: [String] = []) throws -> CommandProcess.Outcome {
    try folder.run("book-migration", ["status", output] + words)
  }

  @Test("Records that cannot be written are refused before anything is written, and the command of the message helps")
  func records() throws {
    let store = try folder.sample(rows: 30)
    let before = try folder.tree()
    let (taken, missing) = (folder.newPath("Taken.swift"), folder.newPath("none") + "/a b/Records.swift")
    try "mine".write(toFile: taken, atomically: true, encoding: .utf8)
    for path in [taken, missing] {
      let outcome = try folder.run("book-migration", load(store, ["--records", path]))
      #expect(outcome.code == 20 && outcome.error.contains(path), "\(outcome)")
      #expect(try folder.tree() == before)
    }
    let refused = try folder.run("book-migration", load(store, ["--records", missing]))
    #expect(try folder.paste(commands(refused.error)[0]).code == 0)
    #expect(try folder.run("book-migration", load(store, ["--records", missing])).code == 0)
    #expect(FileManager.default.fileExists(atPath: missing))
  }

  @Test("plan refuses the file that migrate would refuse, with the same words")
  func planned() throws {
    let store = try folder.sample(rows: 30)
    try "taken".write(toFile: output, atomically: true, encoding: .utf8)
    let words = load(store, [])
    let (planned, migrated) = (
      try folder.run("book-migration", ["plan"] + words.dropFirst()), try folder.run("book-migration", words)
    )
    #expect(planned.code == 20 && planned.error == migrated.error, "\(planned)")
    #expect(planned.output.contains("Library 3"))
  }

  @Test("What a process had named that died before the end is taken back by the next one; another's file is not")
  func publication() throws {
    let store = try folder.sample(rows: 30)
    let (files, records) = (LocalFileSystem(), folder.file("Records.swift"))
    try FileManager.default.createDirectory(atPath: scratch + "/.load.godwit", withIntermediateDirectories: true)
    // The last rename fails: nothing keeps its name.
    for (name, text) in [("records", "half"), ("plain.sqlite", "whole")] {
      try text.write(toFile: "\(scratch)/\(name)", atomically: true, encoding: .utf8)
    }
    var failing = PlainPublication()
    try failing.add(scratch + "/records", as: records, files)
    try failing.add(scratch + "/plain.sqlite", as: folder.file("nowhere/plain.sqlite"), files)
    #expect(throws: StreamsError.self) { try failing.run(notedAt: scratch + "/note", files) }
    #expect(!FileManager.default.fileExists(atPath: records))
    // A process that was killed before the last rename.
    try "half".write(toFile: scratch + "/records", atomically: true, encoding: .utf8)
    try "whole".write(toFile: scratch + "/plain.sqlite", atomically: true, encoding: .utf8)
    var died = PlainPublication()
    try died.add(scratch + "/records", as: records, files)
    try died.add(scratch + "/plain.sqlite", as: output, files)
    try JSONEncoder().encode(died).write(to: URL(fileURLWithPath: scratch + "/.load.godwit/publication.json"))
    try FileManager.default.moveItem(atPath: scratch + "/records", toPath: records)
    let words = load(store, ["--records", records])
    let outcome = try folder.run("book-migration", words)
    #expect(outcome.code == 0 && outcome.output.contains("began anew"), "\(outcome)")
    #expect(try String(contentsOfFile: records, encoding: .utf8).contains("import GRDB"))
    #expect(!FileManager.default.fileExists(atPath: scratch))
    #expect(try folder.run("book-migration", words).code == 20)
  }

  @Test("A stopped load names one command, which loads to the end", arguments: [true, false])
  func stopped(isMigrating: Bool) throws {
    let store = try folder.sample(rows: 3000)
    let before = try folder.tree().filter { !$0.key.isEmpty }
    let more = isMigrating ? [] : ["--identity"]
    let process = try atWork(store, more + ["--records", folder.file("R.swift")], isMigrating: isMigrating)
    process.send(SIGTERM)
    let outcome = try process.wait()
    let found = commands(outcome.error)
    #expect(outcome.code == 75 && found.count == 1 && !outcome.error.contains("can go on"), "\(outcome)")
    #expect(try folder.tree().filter { !$0.key.isEmpty } == before)
    let pasted = try folder.paste(found[0])
    #expect(pasted.code == 0 && pasted.output.contains("verified"), "\(pasted)")
    #expect(try PlainFile(path: output).check().values.reduce(0, +) > 1000)
    #expect(FileManager.default.fileExists(atPath: folder.file("R.swift")))
  }

  @Test(
    "status, ctl and resume know a load at work, one that was killed, and one that is done", arguments: [true, false])
  func standing(isMigrating: Bool) throws {
    let store = try folder.sample(rows: 6000)
    let more = isMigrating ? [] : ["--identity"]
    var process = try atWork(store, more, isMigrating: isMigrating)
    let running = try status(["--check"])
    #expect(running.code == 21 && running.output.contains("\(output): running"), "\(running)")
    #expect(running.output.contains("  owner ") && running.output.contains("source       \(store)"), "\(running)")
    let second = try folder.run("book-migration", load(store, more))
    #expect(
      second.code == 21 && second.error.contains("status \(output)") && !second.error.contains("take-over"), "\(second)"
    )
    #expect(try folder.run("book-migration", ["ctl", "pause", output]).output.contains("paused"))
    #expect(try status().output.contains("paused"))
    #expect(try folder.run("book-migration", ["ctl", "stop", output]).code == 0)
    #expect(try process.wait().code == 75)
    #expect(try status(["--check"]).code == 64)
    process = try atWork(store, more, isMigrating: isMigrating)
    process.send(SIGKILL)
    _ = try process.wait()
    let killed = try status(["--check"])
    #expect(
      killed.code == 20 && killed.output.contains(#/interrupted.*, cannot be resumed\n[^`]*not resumed/#), "\(killed)")
    for path in isMigrating ? [output, store] : [output] {
      let resumed = try folder.run("book-migration", ["resume", path])
      #expect(resumed.code == 20 && commands(resumed.error) == [commands(killed.output)[0]], "\(resumed)")
    }
    let pasted = try folder.paste(commands(killed.output)[0])
    #expect(pasted.code == 0 && pasted.output.contains("began anew"), "\(pasted)")
    let done = try status(["--check"])
    #expect(done.code == 0 && done.output.contains("ordinary tables"), "\(done)")
    #expect(!FileManager.default.fileExists(atPath: scratch))
  }

  @Test("A deadline ends a load, too")
  func deadline() throws {
    let store = try folder.sample(rows: 6000)
    let words = load(store, ["--identity", "--throttle", "1krows/s", "--max-runtime", "2s"])
    let outcome = try folder.run("book-migration", words)
    #expect(outcome.code == 75 && !FileManager.default.fileExists(atPath: output), "\(outcome)")
  }

  @Test("An error after a migration names the store that was given, entity and key, and its command loads to the end")
  func value() throws {
    let store = try folder.sample(rows: 300)
    try change(store, "UPDATE ZBOOK SET ZPUBLISHED = 1e300 WHERE Z_PK = (SELECT max(Z_PK) FROM ZBOOK)")
    let outcome = try folder.run("book-migration", load(store, []))
    #expect(outcome.code == 1 && outcome.error.contains("\(store): Book "), "\(outcome)")
    #expect(
      outcome.error.contains("after the migration to Library 3") && !outcome.error.contains("godwit-plain"),
      "\(outcome)")
    let found = commands(outcome.error)
    #expect(found.count == 1 && found[0].contains("--dates unix"), "\(outcome)")
    #expect(try folder.paste(found[0]).code == 0)
    #expect(try PlainFile(path: output).check()["book"] ?? 0 > 100)
  }

  @Test("The account says by how much times are rounded, which entity a renamed attribute is of, and counts in words")
  func account() throws {
    let (store, model) = try ZooModel.store(folder)
    try change(
      store,
      "UPDATE ZKEEPER SET ZBIRTHDATE = NULL WHERE Z_PK = 1; UPDATE ZKEEPER SET ZBIRTHDATE = 1e20 WHERE Z_PK = 5; UPDATE ZKEEPER SET ZBOSS = 77 WHERE Z_PK = 5"
    )
    let outcome = try folder.loadPlain(store, model, ["--dates", "unix"], to: output)
    // 100,000,000,000,978,307,200 is no double: the next one has 2,176 less.
    #expect(
      outcome.output.contains("times are rounded in") && outcome.output.contains("by 2200 seconds at most"),
      "\(outcome)")
    #expect(outcome.output.contains("1 row lacks") && outcome.output.contains("1 of its keys leads"), "\(outcome)")
    #expect(
      outcome.output.contains("Lion.title is named lion_title") && !outcome.output.contains("Animal.title"),
      "\(outcome)")
    #expect(PlainAccount.most(1.1e-7) == "0.11 microseconds" && PlainAccount.most(0.00312) == "3.2 milliseconds")
  }
}
