import Foundation
import Glibc
import Testing

@testable import BatchCommand

@Suite("A list says of each store what the command for it alone says", .serialized)
struct ListStandingTests {
  private let folder: CommandFolder
  private let list: String
  private let stores: [String]

  init() throws {
    let folder = try CommandFolder()
    stores = try (1...3).map { try folder.sample("S\($0).sqlite", rows: 30, seed: UInt64($0)) }
    (self.folder, list) = (folder, try folder.list(stores))
  }

  private func run(_ words: [String], by program: String = "book-migration") throws -> CommandProcess.Outcome {
    let models = words[0] == "migrate" ? CommandFolder.models : []
    return try folder.run(program, words + ["--manifest", list] + models)
  }

  private func summary(_ words: [String]) throws -> ListDocument {
    let outcome = try run(words + ["--json"])
    return try ListDocument(outcome)
  }

  @Test("What was rolled back after a migration that needed nothing is rolled back, in status and in report")
  func rolledBack() throws {
    #expect(try run(["migrate"]).code == 0)
    #expect(try summary(["migrate"]).states == ["needed nothing", "needed nothing", "needed nothing"])
    // One alone, the others as a list.
    #expect(try folder.run("book-migration", ["rollback", stores[0]]).code == 0)
    #expect(try summary(["rollback"]).states == ["rolled back", "restored", "restored"])
    for verb in ["status", "report"] {
      let found = try summary([verb])
      #expect(found.states == ["rolled back", "rolled back", "rolled back"] && found.code == 0, "\(found)")
      #expect(found.exitCode == 0 && found.groups.map(\.exitCode) == [ExitCodes.nothingToDo], "\(found)")
    }
    #expect(try folder.run("book-migration", ["status", stores[1], "--check"]).code == ExitCodes.nothingToDo)
    #expect(try run(["migrate"]).output.hasPrefix("3 stores: 3 migrated"))
  }

  @Test("A path that leads nowhere is no such file in status and report, with one reason, and 64")
  func mistyped() throws {
    try folder.list([stores[0], folder.file("S2.sqlte"), stores[2]])
    for words in [["status", "--check"], ["report"]] {
      let found = try summary(words)
      #expect(found.code == 64 && found.states[1] == "no such file", "\(found)")
      #expect(found.groups[0].reason == "there is no such file", "\(found)")
      #expect(found.states[0] == "no migration is known" && found.stores[0].exitCode == 3, "\(found)")
    }
    let text = try run(["status"]).output
    #expect(text.contains("S2.sqlte: did you mean") && !text.contains("no such store"), "\(text)")
    // As migrate and plan say it.
    #expect(try summary(["migrate"]).groups[0].reason == "there is no such file")
  }

  @Test("A file that comes twice is refused, however its path is written, and the lines are named")
  func twice() throws {
    let link = folder.file("Link.sqlite")
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: stores[0])
    let other = folder.path + "/./S1.sqlite"
    for (name, said) in [
      (stores[0], "\(stores[0]) comes twice in the list"),
      (other, "\(stores[0]) and \(other) are one file, which comes twice in the list"),
      (link, "\(stores[0]) and \(link) are one file, which comes twice in the list"),
    ] {
      try folder.list([stores[0], "# one more", name])
      for verb in ["status", "migrate"] {
        let refused = try run([verb])
        #expect(
          refused.code == 20 && refused.error.contains("\(said). Name it once: lines 1 and 3 have it"), "\(refused)")
      }
    }
    // Two outputs of one source are two files.
    try folder.list(["\(stores[0])\t\(folder.file("A.sqlite"))", "\(stores[0])\t\(folder.file("B.sqlite"))"])
    #expect(try run(["status"]).code == 0)
  }

  @Test("What a stopped list did not begin was not tried; its command names the program that was at work, and goes on")
  func program() throws {
    let long = try folder.sample("Long.sqlite", rows: 6000)
    try folder.list([long, stores[0], stores[1]])
    let words = ["migrate", "--manifest", list, "--throttle", "2krows/s"] + CommandFolder.models
    let process = try CommandProcess("book-migration", words, in: folder)
    while process.isRunning, try summary(["status"]).states[0] != "running" { usleep(20_000) }
    process.send(SIGTERM)
    #expect(try process.wait().code == 75)
    // This one lacks the policies.
    let text = try run(["status"], by: "godwit")
    #expect(text.output.contains("S1.sqlite: not tried; the list ran 20"), "\(text)")
    for verb in ["status", "report"] {
      let found = try ListDocument(run([verb, "--json"], by: "godwit"))
      let next = found.groups.compactMap(\.next)
      #expect(next.count == 2 && next.allSatisfy { $0.contains(" | book-migration migrate --manifest - ") }, "\(found)")
      #expect(!next.contains { $0.contains("--history") }, "\(found)")
    }
    // The page gives no time to what never began.
    let page = folder.newPath("page.html")
    _ = try run(["report", "--html", page], by: "godwit")
    let rows = try String(contentsOfFile: page, encoding: .utf8).split(separator: "\n").filter {
      $0.contains("<tr class=")
    }
    #expect(rows.count == 3)
    for row in rows { #expect(row.contains("data-l=\"Began\"") != row.contains("not begun"), "\(row)") }
    for next in try ListDocument(run(["status", "--json"], by: "godwit")).groups.compactMap(\.next) {
      let done = try folder.paste(next.replacing(" --throttle 2krows/s", with: ""))
      #expect(done.code == 0, "\(done)")
    }
    #expect(try summary(["status"]).states == ["done", "done", "done"])
  }
}

/// What a command with a list prints with `--json`, and its exit code.
struct ListDocument {
  struct Group: Decodable {
    var state: String
    var exitCode: Int32
    var reason: String?
    var next: String?
  }
  struct Store: Decodable {
    var exitCode: Int32
    var state: String
    var detail: String?
    var error: String?
  }
  private struct Summary: Decodable {
    var exitCode: Int32
    var groups: [Group]
    var stores: [Store]
  }

  var code: Int32
  var exitCode: Int32
  var groups: [Group]
  var stores: [Store]
  var states: [String] { stores.map(\.state) }

  init(_ outcome: CommandProcess.Outcome) throws {
    let summary = try JSONDecoder().decode(Summary.self, from: Data(outcome.output.utf8))
    (code, exitCode, groups, stores) = (outcome.code, summary.exitCode, summary.groups, summary.stores)
  }
}
