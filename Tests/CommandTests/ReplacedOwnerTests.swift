import Foundation
import Glibc
import Streams
import Testing

@testable import MigrationJobs

// The owner is a process of this machine whose record says that it is one of another.
@Suite("Trap 12: a stopped owner on another machine that was replaced", .serialized) struct ReplacedOwnerTests {
  private let folder: CommandFolder
  private let store: String
  private let undisturbed: Data
  /// What nobody disturbs, made once.
  private static let whole = Result {
    let folder = try CommandFolder()
    let store = try folder.sample(rows: 6000)
    _ = try folder.run("book-migration", ["migrate", store] + CommandFolder.models)
    return try CommandFolder.bytes(store)
  }

  init() throws {
    folder = try CommandFolder()
    store = try folder.sample(rows: 6000)
    undisturbed = try Self.whole.get()
  }

  private func running(_ arguments: [String], _ destination: String) throws -> (
    process: CommandProcess, job: JobDirectory
  ) {
    let job = try JobDirectory(destination: destination)
    let process = try CommandProcess(
      "book-migration",
      ["migrate", store, "--checkpoint-every", "20kB"] + CommandFolder.slowly + arguments + CommandFolder.models,
      in: folder)
    while process.isRunning, CommandFolder.checkpoints(job.path).count < 2 { usleep(2000) }
    process.send(SIGSTOP)
    usleep(100_000)
    let record = try String(contentsOfFile: job.lease, encoding: .utf8)
    let forged = record.replacing(#/"bootID":"[^"]*"/#, with: #""bootID":"00000000-0000-4000-8000-000000000000""#)
    let file = try LocalFileSystem().open(job.lease, .update)
    defer { file.close() }
    try Array(forged.utf8).withUnsafeBytes { try file.write($0, at: 0) }
    return (process, job)
  }

  private func takeOver(_ path: String) throws -> CommandProcess.Outcome {
    try folder.run("book-migration", ["resume", path, "--take-over"])
  }

  private func expectGone(_ process: CommandProcess) throws {
    process.send(SIGCONT)
    let outcome = try process.wait()
    #expect(outcome.code == 21 && outcome.error.contains("has taken this run over"), "\(outcome)")
  }

  @Test("Its successor ends the run with the undisturbed bytes; when it goes on, it changes nothing and leaves with 21")
  func output() throws {
    let output = folder.file("New.sqlite")
    let (process, job) = try running(["--output", output], output)
    let outcome = try takeOver(output)
    #expect(outcome.code == 0 && outcome.output.contains("verified"), "\(outcome)")
    #expect(try CommandFolder.bytes(output) == undisturbed)
    let before = try folder.tree()
    try expectGone(process)
    #expect(try folder.tree() == before)
    #expect(!FileManager.default.fileExists(atPath: job.path))
  }

  @Test(
    "It goes on while its successor is at work: it leaves with 21, and the successor ends with the undisturbed bytes")
  func meanwhile() throws {
    let output = folder.file("New.sqlite")
    let (process, job) = try running(["--output", output], output)
    let successor = try CommandProcess(
      "book-migration", ["resume", output, "--take-over"], in: folder)
    while successor.isRunning, !FileManager.default.fileExists(atPath: job.path + "/checkpoints.2") { usleep(1000) }
    try expectGone(process)
    let outcome = try successor.wait()
    #expect(outcome.code == 0, "\(outcome)")
    #expect(try CommandFolder.bytes(output) == undisturbed)
    #expect(!FileManager.default.fileExists(atPath: job.path))
  }

  @Test(
    "In place all is done but the cut-over, since the source's lock is its own; without it the rest takes no more than that"
  )
  func inPlace() throws {
    let (process, job) = try running([], store)
    let outcome = try takeOver(store)
    #expect(outcome.code == 20 && outcome.error.contains("only the cut-over is left to do"), "\(outcome)")
    let status = try folder.run("godwit", ["status", store])
    #expect(status.code == 0 && !status.output.contains("problem"), "\(status)")
    let look = try folder.run("godwit", ["clean", "--dry-run", folder.path])
    #expect(look.output.contains("kept \(job.path): interrupted run; resume it with"), "\(look)")
    try expectGone(process)
    let last = try folder.run("book-migration", ["resume", store])
    #expect(last.code == 0, "\(last)")
    #expect(try CommandFolder.bytes(store) == undisturbed)
    #expect(!FileManager.default.fileExists(atPath: job.path))
  }

  @Test("A successor that is killed while it copies the files is itself succeeded, with the undisturbed bytes")
  func successorKilled() throws {
    let output = folder.file("New.sqlite")
    let (process, job) = try running(["--output", output], output)
    process.send(SIGKILL)
    _ = try process.wait()
    // What a take-over leaves that was killed right behind its first change, and in the middle of a copy.
    _ = try job.succeeding(LocalFileSystem())
    try Data("torn".utf8).write(to: URL(fileURLWithPath: job.path + "/g2.step-1.sqlite.new"))
    let outcome = try folder.run("book-migration", ["resume", output])
    #expect(outcome.code == 0, "\(outcome)")
    #expect(try CommandFolder.bytes(output) == undisturbed)
  }
}
