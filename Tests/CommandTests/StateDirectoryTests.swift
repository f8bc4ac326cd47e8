import Foundation
import Testing

@testable import MigrationJobs

@Suite("Signals, and what a run remembers") struct StateDirectoryTests {
  private let folder: CommandFolder
  private let store: String

  init() throws {
    folder = try CommandFolder()
    store = try folder.sample(rows: 6000)
  }

  private func slow(_ output: String, _ launcher: [String]) throws -> CommandProcess {
    let job = try JobDirectory(destination: output).path
    let process = try CommandProcess(
      "book-migration",
      [
        "migrate", store, "--output", output, "--throttle", "1krows/s", "--checkpoint-every", "20kB", "--on-stop",
        "touch \(folder.file("told"))",
      ]
        + CommandFolder.models, in: folder, launcher: launcher)
    while process.isRunning, CommandFolder.checkpoints(job).count < 2 { usleep(2000) }
    return process
  }

  @Test("SIGHUP is a stop in good order, with 75 and --on-stop; under nohup it is ignored (fault 20)")
  func hangUp() throws {
    let output = folder.file("New.sqlite")
    let process = try slow(output, [])
    process.send(SIGHUP)
    let outcome = try process.wait()
    #expect(outcome.code == 75, "\(outcome)")
    #expect(FileManager.default.fileExists(atPath: folder.file("told")))
    #expect(try folder.run("book-migration", ["resume", output]).code == 0)
    let second = try slow(folder.file("Second.sqlite"), ["/bin/bash", "-c", #"trap '' HUP; exec "$@""#, "sh"])
    second.send(SIGHUP)
    usleep(1_500_000)
    #expect(second.isRunning)
    second.send(SIGTERM)
    #expect(try second.wait().code == 75)
  }

  @Test("Without any home nothing is remembered: a run is found by its output, and resume says so (fault 20)")
  func noHome() throws {
    let output = folder.file("New.sqlite")
    // A user that the password database does not know.
    let nobody = ["/usr/bin/env", "-u", "HOME", "-u", "XDG_STATE_HOME", "-u", "GODWIT_STATE"]
    let environment: [String: String] = [:]
    #expect(JobRegistry.defaultDirectory(home: { nil }) { environment[$0] } == nil)
    #expect(JobRegistry.defaultDirectory(home: { "/home/a" }) { environment[$0] } == "/home/a/.local/state/godwit/jobs")
    #expect(JobRegistry.defaultDirectory(home: { "/home/a" }) { ["HOME": "/h"][$0] } == "/h/.local/state/godwit/jobs")
    guard geteuid() == 0, access("/usr/bin/setpriv", X_OK) == 0 else { return }
    let stranger = nobody + ["/usr/bin/setpriv", "--reuid=54321", "--regid=54321", "--clear-groups"]
    for path in [folder.path, store] { #expect(chown(path, 54321, 54321) == 0) }
    let process = try slow(output, stranger)
    process.send(SIGTERM)
    #expect(try process.wait().code == 75)
    #expect(!FileManager.default.fileExists(atPath: "/.local"))
    let lost = try folder.run("book-migration", ["resume", store], launcher: stranger)
    #expect(
      lost.code == 20 && lost.error.contains("must be named by its output") && lost.error.contains("GODWIT_STATE"),
      "\(lost)")
    let found = try folder.run("book-migration", ["resume", output], launcher: stranger)
    #expect(found.code == 0, "\(found)")
  }
}
