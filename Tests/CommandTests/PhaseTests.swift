import Foundation
import GRDB
import Testing

@testable import BatchCommand
@testable import MigrationJobs
@testable import RunSupport

@Suite("On the way of a run: commands, a held cut-over, corrected mapping models", .serialized)
struct PhaseTests {
  private let folder: CommandFolder
  private let store: String

  init() throws {
    folder = try CommandFolder()
    store = try folder.sample(rows: 2000)
  }

  private func value(_ key: String, _ words: [String]) throws -> JSONValue? {
    let outcome = try folder.run("book-migration", words + ["--json"])
    return try JSONDecoder().decode(JSONValue.self, from: Data(outcome.output.utf8))[key]
  }

  @Test("A command is run at each phase, in order; one that fails stops the run, which can be resumed")
  func phases() throws {
    let calls = folder.newPath("calls")
    let hook = "sh -c 'echo $GODWIT_PHASE $GODWIT_STORE >> \(calls); [ $GODWIT_PHASE != before-cut-over ]'"
    let stopped = try folder.run("book-migration", ["migrate", store, "--on-phase", hook] + CommandFolder.models)
    #expect(stopped.code == 75 && stopped.error.contains("before-cut-over"), "\(stopped)")
    func called() throws -> [String] {
      defer { try? FileManager.default.removeItem(atPath: calls) }
      return try String(contentsOfFile: calls, encoding: .utf8).split(separator: "\n").map(String.init)
    }
    let phases = RunPhase.allCases.map(\.rawValue)
    #expect(try called() == phases.prefix(4).map { "\($0) \(store)" })
    // What is advised asks the same command again.
    let advised = try #require(stopped.error.firstMatch(of: #/`([a-z-]+ resume [^`]+)`/#))
    #expect(try folder.paste(String(advised.1)).code == 75 && called().last == "before-cut-over \(store)")
    let status = try folder.run("book-migration", ["status", store]).output
    #expect(status.contains("interrupted (stopped)") && status.contains("resume"), "\(status)")
    #expect(status.contains("  step         2, finished\n"), "\(status)")
    let resumed = try folder.run(
      "book-migration", ["resume", store, "--on-phase", "sh -c 'echo $GODWIT_PHASE >> \(calls)'"])
    #expect(resumed.code == 0, "\(resumed)")
    #expect(try called() == Array(phases.dropFirst()))
    #expect(try folder.run("godwit", ["migrate", store, "--models", "x", "--on-phase", "'"]).code == 64)
  }

  @Test("The cut-over is held as long as the file is there; what others write is refused, and the copy is current")
  func postponed() throws {
    let hold = folder.newPath("hold")
    try Data().write(to: URL(fileURLWithPath: hold))
    let before = try CommandFolder.bytes(store)
    let words = ["migrate", store, "--postpone-cut-over", hold, "--quiet"] + CommandFolder.models
    let process = try CommandProcess("book-migration", words, in: folder)
    var activity: String?
    for _ in 0..<300 where activity != "waiting for the cut-over" && process.isRunning {
      usleep(100_000)
      activity = try value("progress", ["status", store])?["activity"]?.text
    }
    #expect(activity == "waiting for the cut-over")
    #expect(try CommandFolder.bytes(store) == before)
    #expect(throws: DatabaseError.self) {
      try DatabaseQueue(path: store).write { try $0.execute(sql: "UPDATE ZUSER SET ZNAME = 'x'") }
    }
    process.send(SIGTERM)
    #expect(try process.wait().code == 75)
    try heldAgain(hold, before)
  }

  private func heldAgain(_ hold: String, _ before: Data) throws {
    // As messages advise it: the run remembers what holds it.
    let again = try CommandProcess("book-migration", ["resume", store], in: folder)
    var status = ""
    for _ in 0..<300 where !status.contains("waiting for the cut-over") && again.isRunning {
      usleep(100_000)
      status = try folder.run("book-migration", ["status", store]).output
    }
    #expect(again.isRunning)
    #expect(status.contains("held by      \(hold): "), "\(status)")
    let list = folder.newPath("list")
    try store.write(toFile: list, atomically: true, encoding: .utf8)
    var stores = ""
    for _ in 0..<300 where !stores.contains("is held by") && again.isRunning {
      stores = try folder.run("book-migration", ["status", "--manifest", list]).output
    }
    #expect(stores.contains("the cut-over is held by \(hold)"), "\(stores)")
    #expect(try CommandFolder.bytes(store) == before)
    try FileManager.default.removeItem(atPath: hold)
    #expect(try again.wait().code == 0)
    #expect(try folder.run("book-migration", ["status", "--check", store]).code == 0)
  }

  @Test("Time that a run waits is told beside its run time: a cut-over that resume holds, and a pause")
  func waiting() throws {
    let (hold, log, began) = (folder.newPath("hold"), folder.newPath("log"), ContinuousClock.now)
    try Data().write(to: URL(fileURLWithPath: hold))
    let stops = ["--on-phase", "sh -c '[ $GODWIT_PHASE != copied ]'"]
    #expect(try folder.run("book-migration", ["migrate", store] + stops + CommandFolder.models).code == 75)
    let words = ["resume", store, "--postpone-cut-over", hold, "--log-file", log]
    let process = try CommandProcess("book-migration", words, in: folder)
    var status = ""
    for _ in 0..<300 where !status.contains("waiting for the cut-over") && process.isRunning {
      usleep(100_000)
      status = try folder.run("book-migration", ["status", store]).output
    }
    #expect(status.contains("held by      \(hold): ") && !status.contains("rows/s"), "\(status)")
    usleep(1_500_000)
    #expect(try folder.run("godwit", ["ctl", "pause", store]).code == 0)
    try FileManager.default.removeItem(atPath: hold)
    usleep(1_500_000)
    #expect(try folder.run("godwit", ["ctl", "resume", store]).code == 0)
    let done = try process.wait()
    let times = #/ read by this process in ([0-9.]+) s beside ([0-9.]+) s of waiting, /#
    let summary = try #require(done.output.firstMatch(of: times), "\(done)")
    let (worked, waited) = (try #require(Double(summary.1)), try #require(Double(summary.2)))
    #expect(done.code == 0 && waited >= 3, "\(done)")
    let elapsed = (ContinuousClock.now - began) / .seconds(1)
    #expect(worked + waited < elapsed, "\(worked) s and \(waited) s in \(elapsed) s")
    let reported = try #require(try value("waitedSeconds", ["report", store])?.double)
    let seconds = try #require(try value("seconds", ["report", store])?.double)
    #expect(abs(reported - waited) < 0.5 && seconds + reported < elapsed, "\(reported) beside \(seconds)")
    let text = try folder.run("godwit", ["report", store]).output
    #expect(text.contains("  waited       ") && text.contains("which the run time does not count"), "\(text)")
  }

  /// The mapping files of the example, with the second one changed.
  private func mappings(_ name: String, _ file: Int, _ old: String, _ new: String) throws -> String {
    let path = folder.newPath(name)
    try FileManager.default.copyItem(atPath: ExampleFolder.root + "/Examples/Mappings/Library", toPath: path)
    let changed = "\(path)/Library\(file)_to_Library\(file + 1).yaml"
    let text = try String(contentsOfFile: changed, encoding: .utf8)
    try text.replacing(old, with: new).write(toFile: changed, atomically: true, encoding: .utf8)
    return path
  }

  private func killInStep2(mappings: String) throws {
    let words = ["migrate", store, "--throttle", "700rows/s", "--checkpoint-every", "20kB", "--mappings", mappings]
    let process = try CommandProcess("godwit", words + ["--models", ExampleFolder.models], in: folder)
    while process.isRunning, try value("step", ["status", store])?.count != 2 { usleep(20_000) }
    process.send(SIGKILL)
    #expect(try process.wait().code == 128 + SIGKILL)
  }

  @Test("resume --mappings with the file of one step names those of the others, and its command goes on with all")
  func partly() throws {
    let first = try mappings("first", 2, "", "")
    try killInStep2(mappings: first)
    let corrected = try mappings("corrected", 2, "fileURL: $source.fileURL", "fileURL: $source.title")
    let one = corrected + "/Library2_to_Library3.yaml"
    let refused = try folder.run("godwit", ["resume", store, "--mappings", one])
    let rest = "\(first)/Library1_to_Library2.yaml"
    #expect(refused.code == 20 && refused.error.contains("The run also has \(rest): go on with `"), "\(refused)")
    let line = try #require(refused.error.firstMatch(of: /go on with `([^`]+)`/)?.1, "\(refused)")
    #expect(line.hasSuffix("--mappings \(rest) \(one)"), "\(line)")
    #expect(try folder.paste(String(line)).code == 0)
    let wrong = try DatabaseQueue(path: store).read {
      try Int.fetchOne(
        $0, sql: "SELECT count(*) FROM ZFILE JOIN ZBOOK ON ZBOOK = ZBOOK.Z_PK WHERE ZFILEURL IS NOT ZTITLE")
    }
    #expect(wrong == 0)
  }

  @Test(
    "resume --mappings goes on where the finished steps are the same, and is refused with a whole command otherwise")
  func corrected() throws {
    let first = try mappings("first", 2, "", "")
    let models = ["--models", ExampleFolder.models]
    try killInStep2(mappings: first)
    let other = try mappings("other", 1, "authorName }", "title }")
    let refused = try folder.run("godwit", ["resume", store, "--mappings", other])
    #expect(refused.code == 20 && refused.error.contains("the step Library 1 to Library 2 is finished"), "\(refused)")
    #expect(refused.error.contains("--mappings \(other) --restart"), "\(refused)")
    let corrected = try mappings("corrected", 2, "fileURL: $source.fileURL", "fileURL: $source.title")
    let log = folder.newPath("log")
    let done = try folder.run("godwit", ["resume", store, "--mappings", corrected, "--log-file", log])
    #expect(done.code == 0, "\(done)")
    #expect(try String(contentsOfFile: log, encoding: .utf8).contains("resumed in step 2"))
    let wrong = try DatabaseQueue(path: store).read {
      try Int.fetchOne(
        $0, sql: "SELECT count(*) FROM ZFILE JOIN ZBOOK ON ZBOOK = ZBOOK.Z_PK WHERE ZFILEURL IS NOT ZTITLE")
    }
    #expect(wrong == 0)
    #expect(try folder.run("godwit", ["verify", store] + models).code == 0)
    let report = try value("path", ["report", store])?.elements ?? []
    #expect(report.count == 2)
  }

  @Test("resume --mappings goes on past finished steps with the same mapping files under other names")
  func renamed() throws {
    try killInStep2(mappings: try mappings("first", 2, "", ""))
    let other = try mappings("other", 1, "\n", "\n# a comment\n")
    for (old, new) in [("Library1_to_Library2", "One"), ("Library2_to_Library3", "Another")] {
      try FileManager.default.moveItem(atPath: "\(other)/\(old).yaml", toPath: "\(other)/\(new).yaml")
    }
    let log = folder.newPath("log")
    let done = try folder.run("godwit", ["resume", store, "--mappings", other, "--log-file", log])
    #expect(done.code == 0 && done.output.contains(" by this process in "), "\(done)")
    #expect(try String(contentsOfFile: log, encoding: .utf8).contains("resumed in step 2"))
    #expect(try folder.run("godwit", ["verify", store, "--models", ExampleFolder.models]).code == 0)
    // The summary is of the last process, the report of all.
    let report = try folder.run("godwit", ["report", store]).output
    #expect(report.contains(#/rows read +[0-9,]+ by all processes/#), "\(report)")
    #expect(report.contains(#/checkpoints +[0-9,]+ by all processes/#), "\(report)")
  }

  @Test(
    "resume --max-rejects takes a share, and the next resume keeps it; rejects are grouped, and the replay is there")
  func share() throws {
    let (plain, output) = (folder.file("Plain.sqlite"), folder.file("Output.sqlite"))
    let model = ExampleFolder.root + "/Benchmarks/Models/Plain.xcdatamodeld"
    let sample = ["sample", model, "--version", "Plain 2", "--rows", "1000", "--output", plain]
    #expect(try folder.run("godwit", sample).code == 0)
    let migrate = ["migrate", plain, "--models", model, "--versions", "Plain 2,Plain 1", "--output", output]
    #expect(try folder.run("godwit", migrate).code == 1)
    let stopped = try folder.run(
      "godwit", ["resume", output, "--max-rejects", "50%", "--on-phase", "sh -c '[ $GODWIT_PHASE != copied ]'"])
    #expect(stopped.code == 75, "\(stopped)")
    let done = try folder.run("godwit", ["resume", output, "--json"])
    let summary = try JSONDecoder().decode(JSONValue.self, from: Data(done.output.utf8))
    #expect(done.code == 10 && summary["replay"]?.text?.contains("--output \(output).replayed") == true, "\(done)")
    let report = try folder.run("godwit", ["report", output, "--json"])
    let rejects = try JSONDecoder().decode(JSONValue.self, from: Data(report.output.utf8))
    #expect(rejects["rejects"]?["replay"] == summary["replay"] && rejects["peakMemory"] == summary["peakMemory"])
    let groups = rejects["rejects"]?["groups"]?.elements ?? []
    #expect(groups.reduce(0) { $0 + ($1["count"]?.count ?? 0) } == rejects["rejects"]?["count"]?.count)
    #expect(!groups.isEmpty && groups.count < 20)
    let path = try #require(rejects["rejects"]?["path"]?.text)
    let reasons = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map { line in
      try JSONDecoder().decode(RunReport.Reject.self, from: Data(line.utf8)).reason
    }
    let runs = zip(reasons, reasons.dropFirst()).count { $0 != $1 } + 1
    #expect(runs == Set(reasons).count, "lines with one reason stand together")
    let text = try folder.run("godwit", ["report", output]).output
    #expect(text.contains(" × step 1, ") && !text.contains("No action is needed"), "\(text)")
  }
}
