import Foundation
import GRDB
import Testing

@testable import BatchCommand

@Suite("report, clean and ctl know loads into files", .serialized)
struct PlainReportTests {
  private let folder: CommandFolder

  init() throws { folder = try CommandFolder() }

  private var output: String { folder.file("plain.sqlite") }
  private var scratch: String { folder.file(".plain.sqlite.godwit-plain") }

  private func run(_ words: [String]) throws -> CommandProcess.Outcome { try folder.run("book-migration", words) }

  private func load(_ store: String, isMigrating: Bool, _ words: [String] = []) -> [String] {
    ["migrate", store, "--to-sqlite", "plain", "--output", output] + (isMigrating ? [] : ["--identity"]) + words
      + CommandFolder.models
  }

  /// A load that has a lease, and is slow from there on.
  private func started(_ store: String, isMigrating: Bool, _ words: [String] = []) throws -> CommandProcess {
    let words = load(store, isMigrating: isMigrating, ["--throttle", "400rows/s"] + words)
    let process = try CommandProcess("book-migration", words, in: folder)
    while process.isRunning, !FileManager.default.fileExists(atPath: scratch + "/.load.godwit/lease") { usleep(200) }
    return process
  }

  /// One that has written rows.
  private func atWork(_ store: String, isMigrating: Bool, _ words: [String] = []) throws -> CommandProcess {
    let process = try started(store, isMigrating: isMigrating, words)
    while process.isRunning, try report()["rowsRead"]?.count ?? 0 == 0 { usleep(50_000) }
    return process
  }

  private func report() throws -> JSONValue {
    let outcome = try run(["report", output, "--json"])
    return try JSONDecoder().decode(JSONValue.self, from: Data(outcome.output.utf8))
  }

  private func names() throws -> Set<String> { Set(try folder.tree().keys) }

  @Test(
    "A load that is done has a report: what was loaded, counts, proof, memory; as text, JSON and page",
    arguments: [true, false])
  func done(isMigrating: Bool) throws {
    let store = try folder.sample(rows: 3000)
    let loaded = try run(load(store, isMigrating: isMigrating, ["--json"]))
    let rows = try PlainFile(path: output).check()
    let found = try report()
    let summary = try JSONDecoder().decode(JSONValue.self, from: Data(loaded.output.utf8))
    #expect(loaded.code == 0 && found["rowsRead"]?.count == summary["rowsRead"]?.count, "\(loaded)")
    #expect(found["outcome"]?.text == "done" && found["form"]?.text == "plain" && found["present"]?.text == "same")
    #expect(found["source"]?.text == store && found["destination"]?.text == output)
    let tables = found["tables"]?.elements.map { ($0["entity"]?.text ?? "", Int($0["rows"]?.count ?? 0)) } ?? []
    #expect(Dictionary(tables) { first, _ in first } == rows, "\(tables)")
    #expect(found["proof"]?["rows"]?.count == UInt64(rows.values.reduce(0, +)))
    let peak = found["peakMemory"]?.count ?? 0
    // A debug build takes more than the limit.
    #expect(peak > 4 << 20 && found["memoryLimit"]?.count == 64 << 20, "\(peak)")
    #expect(found["path"]?.elements.count == (isMigrating ? 2 : 0) && found["entities"]?.elements.isEmpty == false)
    #expect(found["bytesAfter"]?.count == UInt64(try CommandFolder.bytes(output).count))
    let text = try run(["report", output]).output
    let version = isMigrating ? "Library 3" : "Library 1"
    #expect(text.hasPrefix("DONE: The file has the objects of \(version) in ordinary tables, verified.\n"), "\(text)")
    #expect(
      text.contains("\ntables: rows\n") && text.contains("integrity_check") && !text.contains("none\n"), "\(text)")
    let page = folder.newPath("page.html")
    #expect(try run(["report", output, "--html", page]).code == 0)
    #expect(try String(contentsOfFile: page, encoding: .utf8).contains("<h2>Tables</h2>"))
    try look(at: store)
  }

  /// What the report says of the file as it is now.
  private func look(at store: String) throws {
    let queue = try DatabaseQueue(path: output)
    try queue.write { try $0.execute(sql: "DELETE FROM book WHERE id = 1") }
    try queue.close()
    let written = try run(["report", output])
    #expect(written.code == 0 && written.output.contains("The file was written to since."), "\(written)")
    try FileManager.default.removeItem(atPath: output)
    try FileManager.default.copyItem(atPath: store, toPath: output)
    let other = try run(["report", output])
    #expect(other.code == 12 && other.output.contains("another file is at its path"), "\(other)")
    try FileManager.default.removeItem(atPath: output)
    let gone = try run(["report", output])
    #expect(gone.code == 12 && gone.output.contains("the file is no longer at its path"), "\(gone)")
    #expect(try run(["status", output, "--check"]).code == 64)
    #expect(try run(["clean", output]).output.contains("record of a migration whose store is gone"))
    #expect(try run(["report", output]).code == 64)
  }

  @Test("What a load of a store as it is has counted stands alone in its report: no estimate is beside it")
  func exact() throws {
    let store = try folder.sample(rows: 20_500)
    #expect(try run(load(store, isMigrating: false)).code == 0)
    let text = try run(["report", output])
    #expect(text.code == 0 && !text.output.contains("about "), "\(text)")
    #expect(text.output.contains("\n  Book: 20,000 (") && text.output.contains("), 20,000\n"), "\(text)")
    #expect(text.output.contains("\n  book: 20,000\n"), "\(text)")
  }

  @Test("Objects that were rejected are in the report of the load, and status --check says 10")
  func rejects() throws {
    let (store, model) = (folder.file("Rows.sqlite"), ExampleFolder.root + "/Benchmarks/Models/Plain.xcdatamodeld")
    let sample = ["sample", model, "--version", "Plain 2", "--rows", "1000", "--output", store]
    #expect(try folder.run("godwit", sample).code == 0)
    // Back: doubles at the borders of their type do not become integers.
    let words = ["--versions", "Plain 2,Plain 1", "--max-rejects", "100"]
    let outcome = try folder.loadPlain(store, model, words, to: output)
    #expect(outcome.code == 10, "\(outcome)")
    let found = try report()
    #expect(found["outcome"]?.text == "done-with-rejects" && found["rejects"]?["count"]?.count ?? 0 > 0, "\(found)")
    #expect(found["rejects"]?["path"]?.text == output + ".rejects.jsonl")
    let text = try run(["report", output]).output
    #expect(text.contains("load the store again, to another path") && text.contains("rejected"), "\(text)")
    let standing = try run(["status", output, "--check"])
    #expect(standing.code == 10 && standing.output.contains("ordinary tables"), "\(standing)")
    let list = output + ".rejects.jsonl"
    #expect(try run(["clean", output]).output.contains("kept \(list): list of rejected objects; remove it with "))
    let cleaned = try run(["clean", "--reports", output])
    #expect(cleaned.code == 0 && cleaned.output.contains("removed \(list): list of rejected objects"), "\(cleaned)")
    #expect(!FileManager.default.fileExists(atPath: list))
  }

  @Test("report shows a load at work, and clean keeps it", arguments: [true, false])
  func running(isMigrating: Bool) throws {
    let store = try folder.sample(rows: 6000)
    let process = try atWork(store, isMigrating: isMigrating)
    let found = try report()
    #expect(found["outcome"]?.text == "running" && found["form"]?.text == "plain", "\(found)")
    #expect(found["destination"]?.text == output && found["source"]?.text == store, "\(found)")
    let text = try run(["report", output]).output
    #expect(text.hasPrefix("RUNNING: The load is running: ") && text.contains("status --watch \(output)"), "\(text)")
    for place in [output, folder.path] {
      let kept = try run(["clean", "--all", place])
      #expect(
        kept.code == 0 && kept.output.contains("kept \(scratch): load at work, process \(process.pid) "), "\(kept)")
      #expect(!kept.output.contains("removed"), "\(kept)")
    }
    #expect(try run(["ctl", "throttle", "none", output]).code == 0)
    #expect(try process.wait().code == 0)
    #expect(try PlainFile(path: output).check()["book"] ?? 0 > 1000)
  }

  @Test(
    "Of a load that was killed report says how to begin anew, and clean removes all that it left",
    arguments: [true, false])
  func killed(isMigrating: Bool) throws {
    let store = try folder.sample(rows: 6000)
    let before = try names()
    let records = ["--records", folder.file("Records.swift")]
    let process = try atWork(store, isMigrating: isMigrating, records)
    process.send(SIGKILL)
    _ = try process.wait()
    // As of a kill at the end.
    try "half".write(toFile: folder.file(".Records.swift.godwit-new"), atomically: true, encoding: .utf8)
    let text = try run(["report", output]).output
    #expect(text.hasPrefix("INTERRUPTED: ") && text.contains("A load into a file is not resumed"), "\(text)")
    #expect(text.contains("clean \(output)`") && !text.contains("resume \(output)"), "\(text)")
    let left = try names()
    let dry = try run(["clean", output, "--dry-run"])
    #expect(
      dry.output.contains("would remove \(scratch): load that was killed") && dry.output.contains("lease"), "\(dry)")
    #expect(try names() == left)
    let cleaned = try run(["clean", isMigrating ? output : folder.path])
    #expect(cleaned.code == 0 && cleaned.output.contains("removed \(scratch): load that was killed"), "\(cleaned)")
    #expect(try names() == before)
    #expect(try run(["report", output]).code == 64 && run(["status", output, "--check"]).code == 64)
    let command = try #require(text.split(separator: "`").first { $0.contains("--to-sqlite") })
    #expect(try folder.paste(String(command)).code == 0)
    #expect(try names() == before.union(["plain.sqlite", ".plain.sqlite.godwit-report", "Records.swift"]))
  }

  @Test(
    "ctl is heeded by a load from its first moment on, and an order holds behind the migration",
    arguments: [true, false])
  func orders(isMigrating: Bool) throws {
    let store = try folder.sample(rows: 6000)
    for _ in 0..<3 {
      let process = try started(store, isMigrating: isMigrating)
      let paused = try run(["ctl", "pause", output])
      #expect(paused.code == 0 && paused.output == "\(output): paused\n", "\(paused)")
      #expect(try run(["status", output]).output.contains("running, paused"))
      let resumed = try run(["ctl", "resume", output])
      #expect(resumed.output == "\(output): resumed\n", "\(resumed)")
      let stopped = try run(["ctl", "stop", output])
      #expect(stopped.output == "\(output): stopped\n", "\(stopped)")
      let outcome = try process.wait()
      #expect(outcome.code == 75 && outcome.error.contains("ctl asked"), "\(outcome)")
      #expect(!FileManager.default.fileExists(atPath: scratch))
    }
    let after = try run(["ctl", "pause", output])
    #expect(after.code == 64 && after.error.contains("there is no such store"), "\(after)")
  }
}
