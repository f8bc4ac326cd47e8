import Foundation
import GRDB
import Testing

@testable import BatchCommand
@testable import MigrationJobs

@Suite("A run that is controlled", .serialized)
struct ControlCommandTests {
  private let folder: CommandFolder
  private let store: String

  init() throws {
    folder = try CommandFolder()
    store = try folder.sample(rows: 6000)
  }

  private func started(_ options: [String]) throws -> (process: CommandProcess, job: String) {
    let job = try JobDirectory(destination: store)
    let process = try CommandProcess(
      "book-migration", ["migrate", store, "--checkpoint-every", "20kB"] + options + CommandFolder.models, in: folder)
    while process.isRunning, CommandFolder.checkpoints(job.path).count < 2 { usleep(2000) }
    return (process, job.path)
  }

  private func status() throws -> JobStatus {
    let outcome = try folder.run("godwit", ["status", store, "--json"])
    return try JSONDecoder().decode(JobStatus.self, from: Data(outcome.output.utf8))
  }

  /// Waits until a status is as wanted, and returns it; the last one after a long time.
  private func status(where isWanted: (JobStatus) -> Bool) throws -> JobStatus {
    for _ in 0..<300 {
      let status = try status()
      if isWanted(status) { return status }
      usleep(100_000)
    }
    return try status()
  }

  /// Expects that no rows are read any longer, once the page at hand is finished.
  private func expectStandstill() throws {
    usleep(600_000)
    let rows = try status().progress?.rows
    usleep(600_000)
    #expect(try status().progress?.rows == rows)
  }

  private func ctl(_ arguments: [String]) throws {
    let outcome = try folder.run("godwit", ["ctl"] + arguments + [store])
    #expect(outcome.code == 0, "\(outcome)")
  }

  @Test(
    "Throttled, paused, let go on, and stopped from outside, each within two seconds; then it is resumed to the undisturbed bytes"
  )
  func orders() throws {
    let other = try folder.sample("Other.sqlite", rows: 6000)
    #expect(try folder.run("book-migration", ["migrate", other] + CommandFolder.models).code == 0)
    let (process, job) = try started(["--throttle", "1krows/s"])
    let running = try status { ($0.progress?.rowsPerSecond ?? 0) > 0 }
    let progress = try #require(running.progress)
    #expect(running.state == .running && progress.fraction > 0 && progress.rows > 0, "\(progress)")
    #expect(running.secondsSinceSign ?? 99 <= 10 && running.secondsSinceCheckpoint != nil)
    try ctl(["pause"])
    let paused = try status { $0.progress?.paused == true }
    #expect(paused.progress?.paused == true)
    try expectStandstill()
    #expect(try folder.run("godwit", ["status", store]).output.contains("running, paused"))
    // What a stranger could put in its place is not followed.
    let control = job + "/control.json"
    try FileManager.default.removeItem(atPath: control)
    try Data(#"{"format":1,"paused":false,"stop":true}"#.utf8).write(to: URL(fileURLWithPath: folder.file("elsewhere")))
    try FileManager.default.createSymbolicLink(atPath: control, withDestinationPath: folder.file("elsewhere"))
    usleep(1_200_000)
    let isPaused = try status().progress?.paused
    #expect(process.isRunning && isPaused == true)
    try FileManager.default.removeItem(atPath: control)
    try ctl(["resume"])
    #expect(try status { $0.progress?.paused == false }.progress?.paused == false)
    try ctl(["throttle", "none"])
    // It may have ended since.
    #expect(try [0, 20].contains(folder.run("godwit", ["ctl", "stop", store]).code))
    let outcome = try process.wait()
    #expect(outcome.code == 75 || outcome.code == 0, "\(outcome)")
    if outcome.code == 75 {
      #expect(outcome.error.contains("ctl asked"))
      #expect(try folder.run("book-migration", ["resume", store]).code == 0)
    }
    #expect(try CommandFolder.bytes(store) == CommandFolder.bytes(other))
  }

  @Test("A run ends before its time is over, with 75 and the reason, and one processor gives the same bytes")
  func maxRuntime() throws {
    let other = try folder.sample("Other.sqlite", rows: 6000)
    #expect(try folder.run("book-migration", ["migrate", other] + CommandFolder.models).code == 0)
    let began = ContinuousClock.now
    let outcome = try folder.run(
      "book-migration", ["migrate", store, "--throttle", "500rows/s", "--max-runtime", "8s"] + CommandFolder.models)
    #expect(outcome.code == 75 && outcome.error.contains("the limit of 8 s is near"), "\(outcome)")
    #expect(ContinuousClock.now - began < .seconds(16))
    #expect(try folder.run("book-migration", ["resume", store, "--workers", "1", "--nice"]).code == 0)
    #expect(try CommandFolder.bytes(store) == CommandFolder.bytes(other))
  }

  @Test("SIGUSR1 prints how far a run is, SIGUSR2 pauses it and lets it go on")
  func signals() throws {
    let (process, _) = try started(["--throttle", "2krows/s", "--progress", "none"])
    process.send(SIGUSR2)
    #expect(try status { $0.progress?.paused == true }.progress?.paused == true)
    process.send(SIGUSR1)
    while process.isRunning, !process.errorByNow.contains(" %  paused") { usleep(2000) }
    process.send(SIGUSR2)
    #expect(try status { $0.progress?.paused == false }.progress?.paused == false)
    process.send(SIGTERM)
    let outcome = try process.wait()
    #expect(outcome.code == 75 && outcome.error.contains(" %  paused"), "\(outcome)")
  }

  @Test("A stop that comes when all is done says so, and the store is the new one")
  func lateStop() throws {
    let go = folder.newPath("go")
    let hook = "sh -c 'while [ $GODWIT_PHASE = after-cut-over -a ! -e \(go) ]; do sleep 0.1; done'"
    let process = try CommandProcess(
      "book-migration", ["migrate", store, "--on-phase", hook, "--checkpoint-every", "20kB"] + CommandFolder.models,
      in: folder)
    let job = try JobDirectory(destination: store)
    while process.isRunning, !FileManager.default.fileExists(atPath: job.cutOver) { usleep(2000) }
    let stop = try CommandProcess("godwit", ["ctl", "stop", store], in: folder)
    while stop.isRunning, RunOrders.read(job)?.stop != true { usleep(2000) }
    try Data().write(to: URL(fileURLWithPath: go))
    #expect(try process.wait().code == 0)
    let told = try stop.wait()
    #expect(told.code == 0 && told.output == "\(store): it was done before the stop reached it\n", "\(told)")
    #expect(try folder.run("godwit", ["status", store, "--check"]).code == 0)
  }

  @Test("status says that a process is suspended, and its command lets it go on")
  func suspended() throws {
    let (process, _) = try started(["--throttle", "2krows/s"])
    process.send(SIGSTOP)
    try process.waitUntilStopped()
    let status = try folder.run("godwit", ["status", store]).output
    let command = "kill -CONT \(process.pid)"
    #expect(status.contains("problem: the process is suspended, as by Ctrl-Z; `\(command)` lets it go on"), "\(status)")
    #expect(try folder.paste(command).code == 0)
    process.send(SIGTERM)
    #expect(try process.wait().code == 75)
  }

  @Test("A line that is longer than the terminal takes several rows of it")
  func rows() {
    let long = String(repeating: "x", count: 161)
    #expect(Console.rows(of: "a", width: 80) == 1 && Console.rows(of: "a\n\n\(long)\nb", width: 80) == 6)
    #expect(Console.rows(of: String(long.prefix(160)), width: 80) == 2)
  }

  @Test("Where no process migrates a store, nothing can be asked; wrong rates and times are refused")
  func refusals() throws {
    try expectRefusal(20, ["no process migrates this store"], ["ctl", "pause", store], in: folder, program: "godwit")
    for arguments in [
      ["ctl", "throttle", "fast", store], ["migrate", store, "--throttle", "5"] + CommandFolder.models,
      ["migrate", store, "--deadline", "25:00"] + CommandFolder.models,
      ["migrate", store, "--deadline", "2001-01-01T00:00:00Z"] + CommandFolder.models,
      ["migrate", store, "--max-runtime", "soon"] + CommandFolder.models,
      ["migrate", store, "--workers", "0"] + CommandFolder.models,
    ] {
      #expect(try folder.run("book-migration", arguments).code == 64, "\(arguments)")
    }
  }

  @Test("A deadline is the next such time here, or a date; a time span has units")
  func times() throws {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = try #require(TimeZone(secondsFromGMT: 3600))
    let now = try Date("2025-01-31T12:00:00Z", strategy: .iso8601)
    func date(_ text: String) -> Date? { Deadline(text, now: now, calendar: calendar)?.date }
    #expect(try date("14:30") == Date("2025-01-31T13:30:00Z", strategy: .iso8601))
    #expect(try date("06:00") == Date("2025-02-01T05:00:00Z", strategy: .iso8601))
    #expect(try date("2025-02-03T04:05:06Z") == Date("2025-02-03T04:05:06Z", strategy: .iso8601))
    for text in ["", "6", "24:00", "06:60", "06:00:00", ":", "-1:00"] { #expect(date(text) == nil, "\(text)") }
    #expect(TimeSpan(argument: "1h30min")?.seconds == 5400 && TimeSpan(argument: "1.5h")?.seconds == 5400)
    for text in ["", "5", "h", "0s", "5 min", "5x"] { #expect(TimeSpan(argument: text) == nil, "\(text)") }
    #expect(OperatingOptions.margin(7200) == 10 && OperatingOptions.margin(4) == 1)
  }

  @Test("A program that has the store locked is named")
  func lockOwner() throws {
    let script =
      "import sqlite3,sys,time; c=sqlite3.connect(sys.argv[1]); c.execute('BEGIN EXCLUSIVE'); print('locked', flush=True); time.sleep(60)"
    let other = Process()
    other.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    other.arguments = ["python3", "-c", script, store]
    let pipe = Pipe()
    other.standardOutput = pipe
    try other.run()
    defer { other.terminate() }
    guard !pipe.fileHandleForReading.availableData.isEmpty else { return }
    let outcome = try folder.run("book-migration", ["migrate", store] + CommandFolder.models)
    #expect(outcome.code == 20 && outcome.error.contains("process \(other.processIdentifier) (python"), "\(outcome)")
  }
}
