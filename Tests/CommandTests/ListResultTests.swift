import Foundation
import Testing

@testable import BatchCommand

@Suite("What became of a list at night is known in the morning", .serialized)
struct ListResultTests {
  private struct Summary: Decodable {
    struct Group: Decodable {
      var state: String
      var exitCode: Int32
      var reason: String?
      var next: String?
    }
    struct Store: Decodable {
      var exitCode: Int32
      var state: String
      var error: String?
      var time: String?
    }
    var exitCode: Int32
    var groups: [Group]
    var stores: [Store]
  }

  private let folder: CommandFolder
  private let list: String
  /// One that can be migrated, one that is no database, one of another model, a path that leads nowhere, and one whose
  /// output's folder is not there.
  private let stores: [String]

  init() throws {
    folder = try CommandFolder()
    list = folder.file("stores.txt")
    let good = try folder.sample("Good.sqlite", rows: 30)
    let (bad, zoo) = (folder.file("Bad.sqlite"), try ZooModel.store(folder).store)
    try "no database".write(toFile: bad, atomically: true, encoding: .utf8)
    let placed = try folder.sample("Placed.sqlite", rows: 30)
    stores = [good, bad, zoo, folder.file("Mistyped.sqlite"), placed]
    let lines = stores.dropLast() + ["\(placed)\t\(folder.file("nowhere/Out.sqlite"))"]
    try lines.joined(separator: "\n").write(toFile: list, atomically: true, encoding: .utf8)
  }

  private func run(_ words: [String]) throws -> (outcome: CommandProcess.Outcome, summary: Summary) {
    let models = words[0] == "migrate" ? CommandFolder.models : []
    let outcome = try folder.run("book-migration", words + ["--manifest", list, "--json"] + models)
    return (outcome, try JSONDecoder().decode(Summary.self, from: Data(outcome.output.utf8)))
  }

  @Test("Stores that were refused have their reason, code and command in status and report; corrected, they are done")
  func morning() throws {
    let night = try run(["migrate", "--jobs", "2"]).summary
    #expect(night.stores.map(\.exitCode) == [0, 30, 20, 64, 20], "\(night)")
    for verb in ["status", "report"] {
      let (outcome, summary) = try run(verb == "status" ? ["status", "--check"] : ["report"])
      #expect(outcome.code == 30 && summary.stores.map(\.exitCode) == night.stores.map(\.exitCode), "\(outcome)")
      #expect(summary.stores.dropFirst().map(\.error) == night.stores.dropFirst().map(\.error), "\(outcome)")
      #expect(summary.stores.map { $0.time != nil } == [false, true, true, true, true])
      #expect(Set(summary.groups.compactMap(\.reason)) == Set(night.groups.compactMap(\.reason)))
      #expect(summary.stores[4].error?.hasPrefix(folder.file("nowhere/Out.sqlite")) == true)
    }
    #expect(try run(["status"]).outcome.code == 0)
    let page = folder.newPath("page.html")
    #expect(try folder.run("book-migration", ["report", "--manifest", list, "--html", page]).code == 30)
    let html = try String(contentsOfFile: page, encoding: .utf8)
    #expect(
      html.contains("this is no SQLite database") && html.contains("sed -n &#39;2p&#39;")
        || html.contains("sed -n '2p'"))
    // Corrected, and migrated by the command that the report names, from another folder.
    try FileManager.default.removeItem(atPath: stores[1])
    _ = try folder.sample("Bad.sqlite", rows: 30, seed: 7)
    let group = try #require(try run(["report"]).summary.groups.first { $0.exitCode == 30 })
    let pasted = try folder.paste("cd / && \(try #require(group.next).replacing(" --json", with: ""))")
    #expect(pasted.code == 0 && pasted.output.contains("1 migrated"), "\(pasted)")
    // One store alone.
    try FileManager.default.createDirectory(atPath: folder.file("nowhere"), withIntermediateDirectories: false)
    let alone = ["migrate", stores[4], "--output", folder.file("nowhere/Out.sqlite")] + CommandFolder.models
    #expect(try folder.run("book-migration", alone).code == 0)
    let after = try run(["status", "--check"]).summary
    #expect(after.stores.map(\.state) == ["done", "done", "refused", "no such file", "done"], "\(after)")
  }

  @Test("Stores that were rolled back say so in status and report, and are no failure; what needed nothing says that")
  func rolledBack() throws {
    let new = folder.file("New.sqlite")
    #expect(
      try folder.run(
        "godwit", ["sample", ExampleFolder.models, "--version", "Library 3", "--rows", "9", "--output", new]
      )
      .code == 0)
    try [stores[0], stores[4], new].joined(separator: "\n").write(toFile: list, atomically: true, encoding: .utf8)
    #expect(try run(["migrate"]).summary.stores.map(\.state) == ["migrated", "migrated", "needed nothing"])
    for verb in ["status", "report"] {
      let (outcome, summary) = try run(verb == "status" ? ["status", "--check"] : ["report"])
      #expect(outcome.code == 0 && summary.stores.map(\.state) == ["done", "done", "needed nothing"], "\(outcome)")
    }
    // What had nothing to resume is known as before.
    #expect(try folder.run("book-migration", ["resume", "--manifest", list]).code == 0)
    #expect(try run(["status"]).summary.stores[2].state == "needed nothing")
    #expect(try folder.run("book-migration", ["rollback", stores[0]]).code == 0)
    for verb in ["status", "report"] {
      let (outcome, summary) = try run(verb == "status" ? ["status", "--check"] : ["report"])
      #expect(
        outcome.code == 0 && summary.stores.map(\.state) == ["rolled back", "done", "needed nothing"], "\(outcome)")
    }
    #expect(try folder.run("book-migration", ["status", stores[0]]).output.contains("the last one was rolled back"))
    try stores[0].write(toFile: list, atomically: true, encoding: .utf8)
    let page = folder.newPath("page.html")
    let report = try folder.run("book-migration", ["report", "--manifest", list, "--html", page, "--text"])
    #expect(report.code == 0 && report.output.hasPrefix("1 store: 1 rolled back, in "), "\(report)")
    let html = try String(contentsOfFile: page, encoding: .utf8)
    #expect(html.contains("<header class=\"t-nothing\"><p class=\"badge\">rolled back</p>"))
  }

  @Test(
    "rollback of a list rolls back what was migrated, and of the others says why nothing is to be rolled back, with 0")
  func nothingToRollBack() throws {
    let (new, untried) = (folder.file("New.sqlite"), try folder.sample("Untried.sqlite", rows: 9))
    let words = ["sample", ExampleFolder.models, "--version", "Library 3", "--rows", "9", "--output", new]
    #expect(try folder.run("godwit", words).code == 0)
    let lines = [stores[0], new, "\(stores[4])\t\(folder.file("Out.sqlite"))"]
    func write(_ lines: [String]) throws {
      try lines.joined(separator: "\n").write(toFile: list, atomically: true, encoding: .utf8)
    }
    try write(lines)
    #expect(try run(["migrate"]).outcome.code == 0)
    try write(lines + [untried])
    let text = try folder.run("book-migration", ["rollback", "--manifest", list])
    let counts = "4 stores: 1 restored, 1 needed nothing, 1 nothing was replaced, 1 no migration is known"
    #expect(text.code == 0 && text.output.contains(counts), "\(text)")
    #expect(text.output.contains("\(new): nothing to roll back"), "\(text)")
    let (again, summary) = try run(["rollback"])
    #expect(again.code == 0, "\(again)")
    #expect(
      summary.stores.map(\.state) == [
        "rolled back", "needed nothing", "nothing was replaced", "no migration is known",
      ])
    // What was replaced, and has no backup any longer, cannot be rolled back.
    #expect(try run(["migrate"]).outcome.code == 0)
    #expect(try folder.run("book-migration", ["clean", stores[0], "--keep-backups", "0"]).code == 0)
    let refused = try run(["rollback"])
    #expect(refused.outcome.code == 20 && refused.summary.stores[0].state == "refused", "\(refused)")
    #expect(refused.summary.stores[0].error?.contains("no backup") == true, "\(refused)")
  }

  @Test("clean forgets what was kept; a dry run does not")
  func clean() throws {
    _ = try run(["migrate"])
    _ = try run(["clean", "--dry-run"])
    #expect(try run(["status"]).summary.stores[1].exitCode == 30)
    #expect(try run(["clean"]).summary.stores[1].state == "cleaned")
    let after = try run(["status"]).summary
    #expect(
      after.stores.map(\.state) == [
        "done", "no migration is known", "no migration is known", "no such file", "no migration is known",
      ])
    let kept = (try? FileManager.default.contentsOfDirectory(atPath: folder.state + "/results")) ?? []
    #expect(kept.isEmpty, "\(kept)")
  }

  @Test("Results of a list whose process is killed between stores are there; a run of later wins over them")
  func killed() throws {
    let long = try folder.sample("Long.sqlite", rows: 6000)
    try [stores[1], long, stores[2]].joined(separator: "\n").write(toFile: list, atomically: true, encoding: .utf8)
    let words = ["migrate", "--manifest", list, "--throttle", "2krows/s"] + CommandFolder.models
    let process = try CommandProcess("book-migration", words, in: folder)
    func states() throws -> [String] { try run(["status"]).summary.stores.map(\.state) }
    while process.isRunning, try states()[1] != "running" { usleep(20_000) }
    process.send(SIGKILL)
    _ = try process.wait()
    // The process of the store ends by itself.
    while try states()[1] == "running" { usleep(100_000) }
    let (outcome, summary) = try run(["status", "--check"])
    #expect(
      outcome.code == 30
        && summary.stores.map(\.state) == ["damaged or no Core Data store", "interrupted", "not begun"], "\(outcome)")
    let waiting = try run(["report"]).summary.groups.filter { $0.exitCode == 75 }
    #expect(waiting.count == 2 && waiting.allSatisfy { $0.next?.contains("--throttle 2krows/s") == true })
    // The command goes on with what is interrupted, and has the options of the list.
    for group in waiting { _ = try folder.paste(try #require(group.next).replacing(" --throttle 2krows/s", with: "")) }
    #expect(try states() == ["damaged or no Core Data store", "done", "refused"])
  }

  @Test("Stores that a stopped list did not begin are not begun in the morning, and its command goes on")
  func stopped() throws {
    let long = try folder.sample("Long.sqlite", rows: 6000)
    try [long, stores[0], stores[4]].joined(separator: "\n").write(toFile: list, atomically: true, encoding: .utf8)
    let words = ["migrate", "--manifest", list, "--throttle", "2krows/s"] + CommandFolder.models
    let process = try CommandProcess("book-migration", words, in: folder)
    while process.isRunning, try run(["status"]).summary.stores[0].state != "running" { usleep(20_000) }
    process.send(SIGTERM)
    #expect(try process.wait().code == 75)
    let (outcome, summary) = try run(["status", "--check"])
    #expect(
      outcome.code == 75 && summary.stores.map(\.state) == ["interrupted", "not begun", "not begun"], "\(outcome)")
    let next = try #require(summary.groups.first { $0.state == "not begun" }?.next)
    #expect(next.contains("sed -n '2,3p'"), "\(next)")
    #expect(try folder.paste(next).output.contains("2 stores: 2 migrated"))
  }

  @Test("Where only the output is missing, no migration is known; the store that is not there is named")
  func output() throws {
    let lines = ["\(stores[0])\t\(folder.file("Out.sqlite"))", "\(stores[3])\t\(folder.file("Other.sqlite"))"]
    try lines.joined(separator: "\n").write(toFile: list, atomically: true, encoding: .utf8)
    for words in [["status"], ["status", "--check"]] {
      let (outcome, summary) = try run(words)
      #expect(summary.stores.map(\.state) == ["no migration is known", "no such file"], "\(outcome)")
      #expect(summary.stores[0].error == nil && outcome.code == (words.count == 1 ? 0 : 64))
    }
  }

  @Test(
    "XML stores of a list are migrated to their outputs, and again need nothing; with other objects they are refused")
  func xml() throws {
    let store = try XMLStoreFolder(rows: 60)
    let (list, output) = (store.folder.file("list"), store.folder.file("New.sqlite"))
    try "\(store.xml)\t\(output)\n\(store.xml)\n".write(toFile: list, atomically: true, encoding: .utf8)
    let words = ["migrate", "--manifest", list] + store.arguments
    let first = try store.folder.run("godwit", words)
    #expect(first.code == 20 && first.output.contains("1 refused, 1 migrated"), "\(first)")
    #expect(first.output.contains("--output"), "\(first)")
    for more in [[], ["--continue"]] {
      let again = try store.folder.run("godwit", words + more)
      #expect(again.code == 20 && again.output.contains("1 refused, 1 needed nothing"), "\(again)")
    }
    try store.write(store.writer.text([]), to: store.xml)
    let other = try store.folder.run("godwit", words)
    #expect(other.code == 20 && other.output.contains("exists"), "\(other)")
    let names = try FileManager.default.contentsOfDirectory(atPath: store.folder.path)
    #expect(!names.contains { $0.contains("from-xml") }, "\(names)")
  }

  @Test("--continue over an output that is finished leaves it alone; one that was interrupted is finished")
  func continued() throws {
    let (store, output) = (try folder.sample("Long.sqlite", rows: 3000), folder.file("Out.sqlite"))
    try "\(stores[0])\t\(output)\n\(store)\n".write(toFile: list, atomically: true, encoding: .utf8)
    let single = ["migrate", stores[0], "--output", output] + CommandFolder.models
    #expect(try folder.run("book-migration", single).code == 0)
    let before = try CommandFolder.bytes(output)
    _ = try folder.interrupted(store, every: "5kB")
    let (outcome, summary) = try run(["migrate", "--continue"])
    #expect(outcome.code == 0 && summary.stores.map(\.state) == ["needed nothing", "migrated"], "\(outcome)")
    #expect(try CommandFolder.bytes(output) == before)
  }
}
