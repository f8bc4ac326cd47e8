import Foundation
import Testing

@testable import BatchCommand
@testable import MigrationJobs
@testable import RunSupport

@Suite("A list of stores is handled as one thing", .serialized)
struct ListCommandTests {
  private struct Summary: Decodable {
    struct Group: Decodable {
      var state: String
      var exitCode: Int32
      var count: Int
      var reason: String?
      var next: String?
    }
    struct Store: Decodable {
      var store: String
      var exitCode: Int32
      var state: String
      var result: JSONValue?
    }
    var command: String
    var exitCode: Int32
    var groups: [Group]
    var stores: [Store]
  }

  private let folder: CommandFolder
  private let list: String
  private let stores: [String]

  /// Three stores and, as the third line, a path that leads nowhere.
  init() throws {
    let folder = try CommandFolder()
    var stores = try (1...3).map { try folder.sample("S\($0).sqlite", rows: 300, seed: UInt64($0)) }
    stores.insert(folder.file("nothere.sqlite"), at: 2)
    (self.folder, self.stores, list) = (folder, stores, try folder.list(stores))
  }

  private func run(_ words: [String], models: Bool = false) throws -> CommandProcess.Outcome {
    try folder.run("book-migration", words + ["--manifest", list] + (models ? CommandFolder.models : []))
  }

  private func summary(_ words: [String], models: Bool = false) throws -> (outcome: CommandProcess.Outcome, Summary) {
    let outcome = try run(words + ["--json"], models: models)
    return (outcome, try JSONDecoder().decode(Summary.self, from: Data(outcome.output.utf8)))
  }

  @Test("plan, migrate, status, report, clean and rollback take a list; one wrong path is one store with 64")
  func commands() throws {
    let (planned, plan) = try summary(["plan"], models: true)
    #expect(planned.code == 64 && plan.stores.map(\.exitCode) == [0, 0, 64, 0], "\(planned)")
    #expect(plan.groups.map(\.count) == [1, 3] && plan.groups[0].reason?.contains("no such file") == true)
    let (migrated, first) = try summary(["migrate", "--jobs", "2"], models: true)
    #expect(migrated.code == 64 && first.stores.map(\.state) == ["migrated", "migrated", "no such file", "migrated"])
    let again = try run(["migrate"], models: true)
    #expect(again.code == 64 && again.output.contains("4 stores: 1 no such file, 3 needed nothing"), "\(again)")
    #expect(!again.error.contains("migrated in") && again.error.contains("S1.sqlite: needed nothing"), "\(again)")
    let (_, status) = try summary(["status"])
    #expect(status.stores.map(\.state) == ["done", "done", "no such file", "done"])
    #expect(try run(["status"]).code == 0 && run(["status", "--check"]).code == 64)
    let page = folder.newPath("page.html")
    let (_, report) = try summary(["report", "--html", page])
    #expect(report.stores[0].result?["targetVersion"]?.text == "Library 3" && report.stores[2].state != "done")
    let html = try String(contentsOfFile: page, encoding: .utf8)
    #expect(stores.allSatisfy { html.contains(($0 as NSString).lastPathComponent) })
    let (_, clean) = try summary(["clean", "--keep-backups", "0", "--dry-run"])
    #expect(clean.stores[0].state == "would be cleaned" && clean.stores[2].exitCode == 0)
    let (undone, rollback) = try summary(["rollback"])
    #expect(undone.code == 64 && rollback.stores.map(\.exitCode) == [0, 0, 64, 0], "\(undone)")
  }

  @Test("The plan of a list says what all its stores come to: bytes, rows, time, disk, and what is dropped or lost")
  func totals() throws {
    let outcome = try run(["plan", "--json"], models: true)
    let document = try JSONDecoder().decode(JSONValue.self, from: Data(outcome.output.utf8))
    let totals = try #require(document["totals"], "\(outcome)")
    let plans = (document["stores"]?.elements ?? []).compactMap { $0["result"] }
    func sum(_ value: (JSONValue) -> Double?) -> Double { plans.compactMap(value).reduce(0, +) }
    #expect(totals["stores"]?.count == 3 && totals["estimated"]?.count == 3)
    #expect(totals["bytes"]?.double == sum { $0["bytes"]?.double } && totals["rows"]?.double == 900)
    #expect(abs((totals["seconds"]?.double ?? 0) - sum { $0["forecast"]?["seconds"]?.double }) < 0.001)
    #expect(totals["diskNeeded"]?.double == plans.compactMap { $0["diskNeeded"]?.double }.max())
    let text = try folder.run(
      "godwit", ["plan", "--manifest", list, "--models", ExampleFolder.models, "--drop", "Book.authorName"]
    ).output
    #expect(
      text.contains("in all: ") && text.contains("900 rows; estimate ")
        && text.contains("of Book.authorName, in 3 stores"))
  }

  @Test("Failures are grouped by reason, and a group's command, pasted, works on its stores alone")
  func groups() throws {
    #expect(try run(["migrate"], models: true).code == 64)
    // An older application, whose model knows less.
    let models = ["--models", ExampleFolder.models + "/Library 2.xcdatamodel"]
    let refused = try folder.run("godwit", ["migrate", "--manifest", list, "--json"] + models)
    let summary = try JSONDecoder().decode(Summary.self, from: Data(refused.output.utf8))
    let group = try #require(summary.groups.first { $0.exitCode == 20 }, "\(refused)")
    #expect(refused.code == 64 && group.count == 3 && summary.groups.count == 2, "\(refused)")
    let next = try #require(group.next)
    #expect(next.contains("sed -n '1,2p;4p'") && next.contains("--manifest -"), "\(next)")
    let pasted = try folder.paste(next.replacing(" --json", with: ""))
    #expect(pasted.code == 20 && pasted.output.contains("3 stores: 3 refused"), "\(pasted)")
  }

  @Test("What a message adds to a store's command is added to that of its group; a stopped list is continued as it was")
  func advice() throws {
    let list = try Manifest(bytes: Array("/a\n/b\n#\n/c\n/d\n".utf8), path: "my list")
    let words = ListWords(verb: "migrate", line: ["migrate", "--manifest", "my list", "--models", "M", "--jobs", "2"])
    func command(_ stores: [Int], _ next: [String]?, _ tone: ListState.Tone) -> String? {
      var result = ListResult(list.entries[0])
      result.next = next
      let group = ListSummary.Group(state: "", exitCode: 20, count: stores.count, stores: stores, tone: tone)
      return ListAdvice(list, words).command(group, first: result).map {
        $0.line.replacing(ProgramName.current, with: "P")
      }
    }
    let options = "--models M --jobs 2"
    #expect(
      command([1, 2], ["\(ProgramName.current) migrate /b --models M --json --drop File User"], .failed)
        == "sed -n '2p;4p' 'my list' | P migrate --manifest - \(options) --drop File User")
    #expect(command([0, 1, 2, 3], nil, .waiting) == "P migrate --manifest 'my list' \(options)")
    #expect(
      command([2, 3], ["\(ProgramName.current) resume /c"], .waiting)
        == "sed -n '4,5p' 'my list' | P migrate --manifest - \(options)")
    #expect(
      command([0], ["godwit verify /a"], .failed)?.hasSuffix(" verify /a") == true && command([0], nil, .done) == nil)
  }

  @Test("The command at the end runs once, with the list and its counts; every log line and sample names its store")
  func outlets() throws {
    let (log, metrics, calls) = (folder.newPath("log"), folder.newPath("prom"), folder.newPath("calls"))
    let hook = "sh -c 'env | grep ^GODWIT_ >> \(calls)'"
    let words = ["migrate", "--log-file", log, "--metrics", metrics, "--on-failure", hook, "--on-success", hook]
    #expect(try run(words + ["--notify"], models: true).code == 64)
    let called = try String(contentsOfFile: calls, encoding: .utf8).split(separator: "\n").map(String.init)
    for line in [
      "GODWIT_MANIFEST=\(list)", "GODWIT_STORES=4", "GODWIT_STORES_DONE=3", "GODWIT_STORES_FAILED=1",
      "GODWIT_EXIT_CODE=64", "GODWIT_OUTCOME=failure",
    ] { #expect(called.count { $0 == line } == 1, "\(line): \(called)") }
    let lines = try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n")
    #expect(lines.count > 10 && lines.allSatisfy { $0.contains(" store=/") || $0.contains(" list=/") }, "\(lines)")
    let text = try String(contentsOfFile: metrics, encoding: .utf8)
    #expect(text.contains("godwit_stores{state=\"done\"} 3\n") && text.contains("godwit_stores{state=\"failed\"} 1\n"))
    for (store, code) in zip(stores, [0, 0, 64, 0]) {
      #expect(text.contains("\ngodwit_exit_code{store=\"\(store)\"} \(code)\n"), "\(text)")
    }
    #expect(text.components(separatedBy: "# TYPE godwit_exit_code gauge").count == 2 && text.hasSuffix("# EOF\n"))
  }

  @Test("ctl pauses, throttles, resumes and stops a list; nobody works on it afterwards")
  func control() throws {
    let long = try folder.sample("Long.sqlite", rows: 6000)
    try ([long] + stores).joined(separator: "\n").write(toFile: list, atomically: true, encoding: .utf8)
    let words = ["migrate", "--manifest", list, "--throttle", "1krows/s", "--json"] + CommandFolder.models
    let process = try CommandProcess("book-migration", words, in: folder)
    let job = try JobDirectory(destination: long)
    while process.isRunning, CommandFolder.checkpoints(job.path).isEmpty { usleep(2000) }
    func status() throws -> JSONValue {
      let outcome = try folder.run("book-migration", ["status", long, "--json"])
      return try JSONDecoder().decode(JSONValue.self, from: Data(outcome.output.utf8))
    }
    func wait(paused: Bool) throws -> Bool {
      for _ in 0..<60 {
        if try status()["progress"]?["paused"] == .bool(paused) { return true }
        usleep(50_000)
      }
      return false
    }
    #expect(try run(["ctl", "pause"]).output.contains("paused") && wait(paused: true))
    #expect(try run(["ctl", "throttle", "2krows/s"]).code == 0)
    #expect(try run(["ctl", "resume"]).code == 0 && wait(paused: false))
    #expect(try run(["ctl", "stop"]).code == 0)
    let outcome = try process.wait()
    let summary = try JSONDecoder().decode(Summary.self, from: Data(outcome.output.utf8))
    #expect(outcome.code == 75 && summary.stores.map(\.exitCode) == [75, 75, 75, 75, 75], "\(outcome)")
    let late = try run(["ctl", "pause"])
    #expect(late.code == 20 && late.error.contains("status --manifest"), "\(late)")
    #expect(try run(["status", "--check"]).code == 64)
    #expect(try run(["migrate"], models: true).output.contains("4 migrated"))
  }

  @Test("status --check says by its code how a store stands")
  func check() throws {
    let store = stores[0]
    func code(_ store: String) throws -> Int32 { try folder.run("book-migration", ["status", "--check", store]).code }
    #expect(try code(store) == 3 && code(stores[2]) == 64)
    let long = try folder.sample("Long.sqlite", rows: 3000)
    let (process, _) = try folder.running(long, every: "5kB")
    process.send(SIGSTOP)
    try process.waitUntilStopped()
    #expect(try code(long) == 21)
    process.send(SIGKILL)
    _ = try process.wait()
    #expect(try code(long) == 75)
    #expect(try folder.run("book-migration", ["resume", long, "--quiet"]).code == 0 && code(long) == 0)
  }

  @Test("The systemd service gives a resumed run all its arguments")
  func service() throws {
    let prefix = folder.newPath("prefix")
    try FileManager.default.createDirectory(atPath: prefix + "/bin", withIntermediateDirectories: true)
    try FileManager.default.createSymbolicLink(
      atPath: prefix + "/bin/godwit", withDestinationPath: CommandProcess.path(of: "book-migration"))
    let text = try String(contentsOfFile: ExampleFolder.root + "/Packaging/systemd/godwit-service", encoding: .utf8)
    let script = folder.newPath("godwit-service")
    try text.replacing("@PREFIX@", with: prefix).write(toFile: script, atomically: true, encoding: .utf8)
    let store = try folder.sample("Long.sqlite", rows: 3000)
    _ = try folder.interrupted(store, every: "5kB")
    let (log, metrics) = (folder.newPath("log"), folder.newPath("prom"))
    let arguments = (CommandFolder.models + ["--log-file", log, "--metrics", metrics]).joined(separator: " ")
    let outcome = try folder.run(
      "godwit", [], launcher: ["/usr/bin/env", "GODWIT_ARGUMENTS=\(arguments)", "sh", script, store])
    #expect(outcome.code == 0, "\(outcome)")
    #expect(try String(contentsOfFile: log, encoding: .utf8).contains("resumed in step"))
    #expect(try String(contentsOfFile: metrics, encoding: .utf8).contains("godwit_exit_code{store=\"\(store)\"} 0"))
  }

  @Test("Stores of a list that is killed at ten random moments end done, once each")
  func kills() throws {
    let count = 60
    let names = (0..<count).map { folder.file("N\($0).sqlite") }
    for name in names { try FileManager.default.copyItem(atPath: stores[0], toPath: name) }
    try names.joined(separator: "\n").write(toFile: list, atomically: true, encoding: .utf8)
    let words = ["migrate", "--manifest", list, "--jobs", "2", "--json"] + CommandFolder.models
    for _ in 0..<10 {
      let process = try CommandProcess("book-migration", words, in: folder)
      usleep(.random(in: 100_000...900_000))
      process.send(SIGKILL)
      _ = try process.wait()
    }
    // What the last one left ends by itself.
    var outcome = try folder.run("book-migration", words)
    for _ in 0..<60 where outcome.code == 21 {
      sleep(1)
      outcome = try folder.run("book-migration", words)
    }
    let summary = try JSONDecoder().decode(Summary.self, from: Data(outcome.output.utf8))
    #expect(outcome.code == 0 && summary.stores.count == count, "\(outcome)")
    let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    for name in names.map({ ($0 as NSString).lastPathComponent }) {
      #expect(files.count { $0.hasPrefix(name + ".backup-") && !$0.hasSuffix(".json") } == 1, "\(name): once")
      #expect(!files.contains(".\(name).godwit"), "\(name): nothing is left to do")
    }
    #expect(try run(["status", "--check"]).code == 0)
  }
}
