import Foundation
import Glibc
import Testing

@testable import CoreDataStore

@Suite("The way back, as commands", .serialized)
struct WayBackTests {
  private let folder: CommandFolder
  private let store: String

  init() throws {
    folder = try CommandFolder()
    store = try folder.sample(rows: 2000)
  }

  private func migrate(_ arguments: [String] = []) throws -> CommandProcess.Outcome {
    try folder.run("book-migration", ["migrate", store] + arguments + CommandFolder.models)
  }

  @Test("rollback puts the bytes of the old store back, once, and the store can be migrated again")
  func rollback() throws {
    let old = try CommandFolder.bytes(store)
    #expect(try migrate().code == 0)
    let new = try CommandFolder.bytes(store)
    let outcome = try folder.run("godwit", ["rollback", store])
    #expect(outcome.code == 0 && outcome.output.contains("set aside: \(store).rolled-back-"), "\(outcome)")
    #expect(try CommandFolder.bytes(store) == old)
    let again = try folder.run("godwit", ["rollback", store])
    #expect(again.code == 20 && again.error.contains("no backup"), "\(again)")
    #expect(try migrate().code == 0)
    #expect(try CommandFolder.bytes(store) == new)
  }

  @Test("The new store has the old one's mode and its users' attributes")
  func attributes() throws {
    let name = "user.godwit.test"
    #expect(chmod(store, 0o640) == 0)
    guard attribute(["-c", "import os, sys; os.setxattr(sys.argv[1], '\(name)', b'kept')", store]) == 0 else {
      return print("skipped: no python3, or no extended attributes in the temporary folder")
    }
    #expect(try migrate().code == 0)
    #expect(attribute(["-c", "import os, sys; assert os.getxattr(sys.argv[1], '\(name)') == b'kept'", store]) == 0)
    var status = stat()
    #expect(stat(store, &status) == 0 && status.st_mode & 0o7777 == 0o640)
  }

  private func attribute(_ arguments: [String]) -> Int32 {
    let python = Process()
    python.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    python.arguments = ["python3"] + arguments
    python.standardError = FileHandle.nullDevice
    guard (try? python.run()) != nil else { return -1 }
    python.waitUntilExit()
    return python.terminationStatus
  }

  @Test("--keep-backups 0 leaves no backup, and says so")
  func keepNone() throws {
    let outcome = try migrate(["--keep-backups", "0"])
    #expect(outcome.code == 0 && !outcome.output.contains("backup:"), "\(outcome)")
    #expect(try folder.tree().keys.filter { $0.contains("backup") }.isEmpty)
  }

  @Test("clean keeps runs that can go on and runs that are alive, and removes what is over the limit")
  func clean() throws {
    #expect(try migrate().code == 0)
    let other = try folder.sample("Other.sqlite", rows: 6000)
    let (process, job) = try folder.running(other)
    process.send(SIGSTOP)
    let live = try folder.run("godwit", ["clean", folder.path, "--all"])
    #expect(live.code == 0 && live.output.contains("kept \(job): run at work"), "\(live)")
    process.send(SIGKILL)
    _ = try process.wait()
    // Trap 1.
    let before = try folder.tree()
    let look = try folder.run("godwit", ["clean", folder.path, "--all", "--keep-backups", "0", "--dry-run"])
    #expect(look.code == 0 && look.output.contains("would remove \(job)"), "\(look)")
    #expect(look.output.contains("would remove \(store).backup-"))
    #expect(try folder.tree() == before)
    let resumable = try folder.run("godwit", ["clean", folder.path])
    #expect(
      resumable.output.contains("kept \(job): interrupted run") && resumable.output.contains("freed: 0 B"),
      "\(resumable)")
    let source = try CommandFolder.bytes(other)
    let all = try folder.run("godwit", ["clean", folder.path, "--all", "--keep-backups", "0"])
    #expect(all.code == 0, "\(all)")
    #expect(try folder.tree().keys.sorted() == ["", ".Library.sqlite.godwit-report", "Library.sqlite", "Other.sqlite"])
    let reports = try folder.run("godwit", ["clean", folder.path, "--reports"])
    #expect(
      reports.code == 0 && reports.output.contains("removed \(folder.file(".Library.sqlite.godwit-report"))"),
      "\(reports)")
    #expect(try folder.tree().keys.sorted() == ["", "Library.sqlite", "Other.sqlite"])
    #expect(try CommandFolder.bytes(other) == source)
  }

  @Test("A run without a usable checkpoint is removed without being asked for")
  func damagedRun() throws {
    let other = try folder.sample("Other.sqlite", rows: 6000)
    let job = try folder.interrupted(other)
    for path in CommandFolder.checkpoints(job) { try Data("damage".utf8).write(to: URL(fileURLWithPath: path)) }
    let outcome = try folder.run("godwit", ["clean", other])
    #expect(outcome.code == 0 && outcome.output.contains("without a checkpoint that can be read"), "\(outcome)")
    #expect(!FileManager.default.fileExists(atPath: job))
  }

  @Test(
    "A destination on another file system gets the store and its values outside; a refused run leaves nothing there")
  func anotherFileSystem() throws {
    let shared = "/dev/shm/godwit-\(UUID().uuidString)"
    guard (try? FileManager.default.createDirectory(atPath: shared, withIntermediateDirectories: false)) != nil else {
      return print("skipped: /dev/shm cannot be written")
    }
    defer { try? FileManager.default.removeItem(atPath: shared) }
    let files = ExternalDataFolder(store: store).files
    try FileManager.default.createDirectory(atPath: files, withIntermediateDirectories: true)
    try Data("outside".utf8).write(to: URL(fileURLWithPath: files + "/A"))
    let output = shared + "/New.sqlite"
    let plan = try folder.run("book-migration", ["plan", store, "--output", output] + CommandFolder.models)
    #expect(plan.output.contains("another file system") && plan.output.contains("7 bytes of external data"), "\(plan)")
    let outcome = try migrate(["--output", output])
    #expect(outcome.code == 0, "\(outcome)")
    #expect(try CommandFolder.bytes(ExternalDataFolder(store: output).files + "/A") == Data("outside".utf8))
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: shared).sorted() == [
        ".New.sqlite.godwit-report", ".New_SUPPORT", "New.sqlite",
      ])
  }
}
