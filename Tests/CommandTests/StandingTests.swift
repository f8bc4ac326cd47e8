import Foundation
import GRDB
import Testing

@testable import BatchCommand
@testable import MigrationJobs

@Suite("What is said of a run that waits", .serialized)
struct StandingTests {
  private let folder: CommandFolder
  private let store: String

  init() throws {
    folder = try CommandFolder()
    store = try folder.sample(rows: 6000)
  }

  enum Change: CaseIterable { case written, replaced, missing, checkpoints, plan }

  /// What happens to a store or a run between two of its processes; returns how the store is brought back.
  private func make(_ change: Change, _ job: String) throws -> () throws -> Void {
    switch change {
    case .written:
      let queue = try DatabaseQueue(path: store)
      try queue.write { try $0.execute(sql: "UPDATE ZUSER SET ZNAME = 'another'") }
      try queue.close()
    case .replaced:
      let other = try folder.sample("Other.sqlite", rows: 100, seed: 2)
      try FileManager.default.removeItem(atPath: store)
      try FileManager.default.moveItem(atPath: other, toPath: store)
    case .missing:
      let (store, away) = (store, folder.newPath("away"))
      try FileManager.default.moveItem(atPath: store, toPath: away)
      return { try FileManager.default.moveItem(atPath: away, toPath: store) }
    case .checkpoints:
      for path in CommandFolder.checkpoints(job) { try Data().write(to: URL(fileURLWithPath: path)) }
    case .plan: try Data("{".utf8).write(to: URL(fileURLWithPath: job + "/plan.json"))
    }
    return {}
  }

  private func document(_ words: [String]) throws -> (code: Int32, json: JSONValue) {
    let outcome = try folder.run("book-migration", words + ["--json"])
    return (outcome.code, try JSONDecoder().decode(JSONValue.self, from: Data(outcome.output.utf8)))
  }

  @Test(
    "status --check of a run that is not resumed ends as resume and migrate --continue do, and its command leads on",
    arguments: Change.allCases)
  func unusable(_ change: Change) throws {
    let job = try folder.interrupted(store)
    let bringBack = try make(change, job)
    let (code, json) = try document(["status", "--check", store])
    #expect(json["standing"]?.text == "unusable" && [20, 22].contains(code), "\(json)")
    #expect(json["resumeRefusal"]?.count == UInt64(code), "\(json)")
    let continued = ["migrate", store, "--continue"] + CommandFolder.models
    for words in [continued, ["resume", store]] {
      let outcome = try folder.run("book-migration", words)
      #expect(outcome.code == code, "\(words): \(outcome)")
    }
    let text = try folder.run("godwit", ["status", "--check", store])
    #expect(
      text.code == code && text.output.contains("cannot be resumed") && text.output.contains("problem: "), "\(text)")
    try expectSaidEverywhere(code)
    let advice = try #require(text.output.split(separator: "\n").last?.firstMatch(of: #/`([^`]+)`/#))
    try bringBack()
    let pasted = try folder.paste(String(advice.1))
    #expect(pasted.code == 0, "\(advice.1): \(pasted)")
    #expect(try [0, 3].contains(folder.run("godwit", ["status", "--check", store]).code), "\(change)")
  }

  /// The report and the lists say the same.
  private func expectSaidEverywhere(_ code: Int32) throws {
    let report = try document(["report", store]).json
    #expect(report["resumable"] == .bool(false) && report["resumeRefusal"]?.count == UInt64(code), "\(report)")
    let list = try folder.list([store])
    for words in [["status", "--check"], ["report"]] {
      let outcome = try folder.run("book-migration", words + ["--manifest", list, "--json"])
      #expect(outcome.code == code, "\(words): \(outcome)")
      #expect(try ListDocument(outcome).states == [code == 22 ? "unusable" : "refused"], "\(outcome)")
    }
  }

  @Test("A store that is written to while its cut-over waits makes the run unusable; what status names migrates it")
  func writtenWhileHeld() throws {
    let hold = folder.newPath("hold")
    try Data().write(to: URL(fileURLWithPath: hold))
    let words = ["migrate", store, "--postpone-cut-over", hold, "--quiet"] + CommandFolder.models
    let process = try CommandProcess("book-migration", words, in: folder)
    var activity: String?
    for _ in 0..<300 where activity != "waiting for the cut-over" && process.isRunning {
      usleep(100_000)
      activity = try document(["status", store]).json["progress"]?["activity"]?.text
    }
    process.send(SIGTERM)
    #expect(try process.wait().code == 75)
    #expect(try document(["status", "--check", store]).json["standing"]?.text == "resumable")
    _ = try make(.written, "")
    try FileManager.default.removeItem(atPath: hold)
    let checked = try folder.run("godwit", ["status", "--check", store])
    #expect(checked.code == 22 && checked.output.contains("written to since"), "\(checked)")
    let advised = try #require(checked.output.firstMatch(of: #/Begin anew with `([^`]+)`/#))
    #expect(advised.1.hasPrefix("book-migration migrate \(store) "), "\(checked)")
    let pasted = try folder.paste(String(advised.1))
    #expect(pasted.code == 0 && pasted.output.contains("verified"), "\(pasted)")
  }

  @Test("A run whose output's name is taken is unusable until that is moved away, and then its command finishes it")
  func takenOutput() throws {
    let output = folder.file("Output.sqlite")
    let words = ["migrate", store, "--output", output, "--checkpoint-every", "20kB"] + CommandFolder.slowly
    let process = try CommandProcess("book-migration", words + CommandFolder.models, in: folder)
    let job = try JobDirectory(destination: output)
    while process.isRunning, CommandFolder.checkpoints(job.path).count < 2 { usleep(2000) }
    process.send(SIGKILL)
    _ = try process.wait()
    try Data("another".utf8).write(to: URL(fileURLWithPath: output))
    let checked = try folder.run("godwit", ["status", "--check", output])
    #expect(
      checked.code == 20 && checked.output.contains("problem: something has come to the output's name"), "\(checked)")
    #expect(try folder.run("book-migration", ["resume", output]).code == 20)
    #expect(try folder.run("godwit", ["status", "--check", output]).code == 20)
    try FileManager.default.removeItem(atPath: output)
    let advice = try #require(checked.output.firstMatch(of: #/Move it away, then go on with `([^`]+)`/#))
    let pasted = try folder.paste(String(advice.1))
    #expect(pasted.code == 0 && pasted.output.contains("verified"), "\(pasted)")
  }

  @Test("status, report and a refusal name the program that has the run's policies, and that command finishes it")
  func program() throws {
    _ = try folder.interrupted(store)
    let resume = "`book-migration resume \(store)`"
    for words in [["status", store], ["report", store]] {
      let outcome = try folder.run("godwit", words)
      #expect(outcome.output.contains(resume) && !outcome.output.contains("godwit resume"), "\(outcome)")
    }
    // The check tells each program what its own resume would do.
    let checked = try folder.run("godwit", ["status", "--check", store])
    #expect(checked.code == 20 && checked.output.contains("problem: it needs the policy Library"), "\(checked)")
    #expect(try folder.run("book-migration", ["status", "--check", store]).code == 75)
    let listed = try folder.run("godwit", ["resume", "--manifest", try folder.list([store])])
    #expect(listed.code == 20 && listed.output.contains("to continue: book-migration resume --manifest "), "\(listed)")
    let refused = try folder.run("godwit", ["resume", store, "--json"])
    #expect(refused.code == 20 && refused.error.contains("Go on with \(resume)"), "\(refused)")
    let failure = try JSONDecoder().decode(FailureDocument.self, from: Data(refused.output.utf8)).error
    #expect(failure.next.first.map { "`\($0)`" } == resume, "\(failure)")
    let pasted = try folder.paste(try #require(failure.next.first))
    #expect(pasted.code == 0 && pasted.output.contains("verified"), "\(pasted)")
  }

  @Test("A run's file makes no other program of what is advised: it names one that has begun such runs here, or none")
  func foreignProgram() throws {
    let job = try folder.interrupted(store)
    let plan = try String(contentsOfFile: job + "/plan.json", encoding: .utf8)
    #expect(plan.contains("\"program\" : \"book-migration\""), "\(plan)")
    for name in ["/tmp/x", "-x", "a b", "$(touch x)", "..", "", "rm", "shred"] {
      try plan.replacing("\"book-migration\"", with: "\"\(name)\"")
        .write(toFile: job + "/plan.json", atomically: false, encoding: .utf8)
      let status = try folder.run("godwit", ["status", store])
      #expect(status.code == 0 && status.output.contains("`godwit resume \(store)`"), "\(name): \(status)")
    }
  }

  @Test("A run whose store is in place needs no checkpoint: it is finished by resume, and status says so")
  func finishedWithoutCheckpoints() throws {
    let hook = "sh -c '[ $GODWIT_PHASE != after-cut-over ] || kill -9 $PPID'"
    let words = ["migrate", store, "--on-phase", hook, "--checkpoint-every", "20kB"] + CommandFolder.models
    _ = try folder.run("book-migration", words)
    for path in CommandFolder.checkpoints(try JobDirectory(destination: store).path) {
      try Data().write(to: URL(fileURLWithPath: path))
    }
    let damaged = try folder.run("book-migration", ["status", "--check", store])
    #expect(damaged.code == 75 && !damaged.output.contains("--restart"), "\(damaged)")
    let line = try #require(damaged.output.firstMatch(of: #/Finish with `([^`]+)`/#)?.1, "\(damaged)")
    let done = try folder.paste(String(line))
    #expect(done.code == 0 && done.output.contains("verified"), "\(done)")
  }
}
