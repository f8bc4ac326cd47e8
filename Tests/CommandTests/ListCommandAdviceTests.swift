import Foundation
import Glibc
import Testing

@testable import BatchCommand
@testable import MigrationJobs

@Suite("What a list advises can be done as it is said", .serialized)
struct ListCommandAdviceTests {
  private let folder: CommandFolder
  private let list: String

  init() throws {
    folder = try CommandFolder()
    list = folder.file("stores.txt")
  }

  private func write(_ lines: [String]) throws {
    try lines.joined(separator: "\n").write(toFile: list, atomically: true, encoding: .utf8)
  }

  private func document(_ words: [String]) throws -> ListDocument {
    try ListDocument(folder.run("book-migration", words + ["--manifest", list, "--json"]))
  }

  @Test("The command that a plan of a list prints has all that was typed, and works")
  func plan() throws {
    let made = try FindingFolder()
    let stores = ["a.sqlite", "b.sqlite"].map { made.file($0) }
    for path in stores {
      try made.runWell(["sample", made.models, "--version", "V2", "--rows", "60", "--output", path])
    }
    let folder = made.folder
    try write(stores + [made.file("none.sqlite")])
    let words = ["--models", made.models + "/V1.xcdatamodel", "--jobs", "2"]
    let refused = try folder.run("godwit", ["plan", "--manifest", list, "--json"] + words)
    let group = try #require(try ListDocument(refused).groups.first { $0.exitCode == 20 }, "\(refused)")
    let next = try #require(group.next)
    #expect(next.contains(" | godwit plan --manifest - ") && next.contains("--jobs 2"), "\(next)")
    let pasted = try folder.paste(next.replacing(" --json", with: ""))
    #expect(pasted.code == 0 && pasted.output.hasPrefix("2 stores: 2 to migrate"), "\(pasted)")
    // Wrong usage of the command for a store is no missing file.
    let wrong = try folder.run("godwit", ["plan", "--manifest", list])
    #expect(wrong.code == 64 && wrong.output.contains("wrong usage: "), "\(wrong)")
  }

  @Test(
    "Stores that other processes are busy with are one group, and its command waits and goes on, without taking over")
  func busy() throws {
    let stores = try (1...2).map { try folder.sample("S\($0).sqlite", rows: 3000, seed: UInt64($0)) }
    let running = try stores.map { try folder.running($0, every: "5kB").process }
    for process in running {
      process.send(SIGSTOP)
      try process.waitUntilStopped()
      // Not in the same second.
      sleep(1)
    }
    try write(stores + [try folder.sample("S3.sqlite", rows: 30)])
    for words in [["migrate"] + CommandFolder.models, ["rollback"]] {
      let found = try document(words)
      let busy = found.groups.filter { $0.exitCode == 21 }
      #expect(found.code == 21 && busy.count == 1, "\(found)")
      #expect(busy[0].reason == "another process is at work on this store", "\(found)")
      let next = try #require(busy[0].next)
      #expect(next.contains(" \(words[0]) --manifest - ") && !next.contains("take-over"), "\(next)")
    }
    let next = try #require(try document(["migrate"] + CommandFolder.models).groups.first { $0.exitCode == 21 }?.next)
    for process in running { process.send(SIGCONT) }
    for process in running { #expect(try process.wait().code == 0) }
    let done = try folder.paste(next)
    #expect(done.code == 0 && done.output.contains("\"needed nothing\""), "\(done)")
  }

  @Test("While a list is at work its other stores are waiting, and no command is advised; when it is killed, one is")
  func atWork() throws {
    let stores = try (1...3).map { try folder.sample("S\($0).sqlite", rows: 6000, seed: UInt64($0)) }
    try write(stores)
    let words = ["migrate", "--manifest", list, "--throttle", "2krows/s"] + CommandFolder.models
    let process = try CommandProcess("book-migration", words, in: folder)
    let job = try JobDirectory(destination: stores[0])
    while process.isRunning, CommandFolder.checkpoints(job.path).isEmpty { usleep(2000) }
    for words in [["status", "--check"], ["report"]] {
      let found = try document(words)
      #expect(found.code == 21 && found.states == ["running", "waiting", "waiting"], "\(found)")
      #expect(found.stores.map(\.exitCode) == [21, 21, 21] && found.groups.allSatisfy { $0.next == nil }, "\(found)")
    }
    process.send(SIGKILL)
    _ = try process.wait()
    while try document(["status"]).states[0] == "running" { usleep(100_000) }
    let found = try document(["status", "--check"])
    #expect(found.code == 75 && found.states == ["interrupted", "not begun", "not begun"], "\(found)")
    for next in found.groups.compactMap(\.next) {
      #expect(try folder.paste(next.replacing(" --throttle 2krows/s", with: "")).code == 0)
    }
    #expect(try document(["status"]).states == ["done", "done", "done"])
  }

  @Test("Advice to name an output says how a list does that, and no command that cannot have one is advised")
  func outputs() throws {
    let (store, output) = (try folder.sample("S.sqlite", rows: 60), folder.file("Out.sqlite"))
    try write([store])
    let words = ["migrate", "--only", "UserToUser"] + CommandFolder.models
    let refused = try folder.run("book-migration", words + ["--manifest", list])
    let said = "Give it a path of its own in the list, behind the store and a tab"
    #expect(refused.code == 20 && refused.output.contains(said), "\(refused)")
    try write(["\(store)\t\(output)"])
    #expect(try document(words).states == ["migrated"])
    try Data("taken".utf8).write(to: URL(fileURLWithPath: output))
    let taken = try document(["migrate"] + CommandFolder.models)
    #expect(taken.code == 20 && taken.groups[0].reason == "the output exists already", "\(taken)")
    let xml = try XMLStoreFolder(rows: 10)
    let xmlList = xml.folder.file("list")
    try xml.xml.write(toFile: xmlList, atomically: true, encoding: .utf8)
    let alone = try ListDocument(
      xml.folder.run("godwit", ["migrate", "--manifest", xmlList, "--json"] + xml.arguments))
    #expect(alone.code == 20 && alone.groups[0].next == nil, "\(alone)")
  }
}
