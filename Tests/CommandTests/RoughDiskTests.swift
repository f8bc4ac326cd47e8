import Foundation
import Glibc
import Testing

@testable import MigrationJobs

// What the simulated disk cannot show: the kernel's own errors, reached by the program itself.
@Suite("A run whose disk or source goes wrong on the way", .serialized)
struct RoughDiskTests {
  private let folder: CommandFolder
  private let source: String
  private let original: Data

  init() throws {
    folder = try CommandFolder()
    source = try folder.sample(rows: 3000)
    original = try CommandFolder.bytes(source)
  }

  private static func migrate(_ source: String, to output: String, every interval: String = "10kB") -> [String] {
    ["migrate", source, "--output", output, "--checkpoint-every", interval] + CommandFolder.models
  }

  private func undisturbed() throws -> Data {
    let output = folder.newPath("undisturbed.sqlite")
    let outcome = try folder.run("book-migration", Self.migrate(source, to: output))
    #expect(outcome.code == 0, "\(outcome)")
    return try CommandFolder.bytes(output)
  }

  /// A migration elsewhere that was stopped behind its second checkpoint.
  private func stopped(_ source: String, to output: String, launcher: [String] = []) throws -> (
    CommandProcess, job: String
  ) {
    let job = try JobDirectory(destination: output).path
    let process = try CommandProcess("book-migration", Self.migrate(source, to: output), in: folder, launcher: launcher)
    while process.isRunning, CommandFolder.checkpoints(job).count < 2 { usleep(500) }
    process.send(SIGSTOP)
    try #require(process.isRunning)
    return (process, job)
  }

  private func expectError(_ process: CommandProcess, _ code: Int32, _ words: [String]) throws {
    process.send(SIGCONT)
    try expectError(try process.wait(), code, words)
  }

  private func expectError(_ outcome: CommandProcess.Outcome, _ code: Int32, _ words: [String]) throws {
    #expect(outcome.code == code, "\(outcome)")
    for word in words { #expect(outcome.error.contains(word), "\(word): \(outcome.error)") }
    #expect(try !FileManager.default.fileExists(atPath: source) || CommandFolder.bytes(source) == original)
  }

  private func expectFinished(_ output: String, launcher: [String] = []) throws {
    let outcome = try folder.run("book-migration", ["resume", output], launcher: launcher)
    #expect(outcome.code == 0 && outcome.output.contains("verified"), "\(outcome)")
    #expect(try CommandFolder.bytes(output) == undisturbed())
    #expect(try CommandFolder.bytes(source) == original)
  }

  @Test(
    "Trap 21: a full disk ends a run with 75, a resume on the full disk too, and with space it goes on",
    .enabled(if: SmallDisk.isPossible, "mounting a small disk needs root"))
  func full() throws {
    let disk = try SmallDisk(at: folder.file("disk"), megabytes: 16)
    defer { disk.unmount() }
    let output = disk.path + "/new.sqlite"
    let (process, job) = try stopped(source, to: output)
    // Short writes come with it: the last one that fits is cut.
    let filler = open(disk.path + "/filler", O_WRONLY | O_CREAT, 0o600)
    let zeros = [UInt8](repeating: 0, count: 1 << 12)
    while write(filler, zeros, zeros.count) > 0 {}
    close(filler)
    try expectError(process, 75, ["No space left", "ree space"])
    let checkpoints = CommandFolder.checkpoints(job)
    #expect(checkpoints.count >= 2)
    try expectError(try folder.run("book-migration", ["resume", output]), 75, ["No space left", "ree space"])
    #expect(!FileManager.default.fileExists(atPath: output) && !CommandFolder.checkpoints(job).isEmpty)
    try FileManager.default.removeItem(atPath: disk.path + "/filler")
    try expectFinished(output)
  }

  @Test(
    "A permission that is lost halfway is named, and with it back the run goes on",
    .enabled(
      if: geteuid() == 0 && access("/usr/bin/setpriv", X_OK) == 0, "only root can take a permission from another user"))
  func permission() throws {
    let nobody = ["/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    for path in [source, folder.path] { #expect(chown(path, 65534, 65534) == 0) }
    let output = folder.file("New.sqlite")
    let (process, job) = try stopped(source, to: output, launcher: nobody)
    #expect(chmod(job + "/checkpoints", 0o500) == 0)
    try expectError(process, 1, [job, "Permission denied", "permissions", "resume"])
    #expect(chmod(job + "/checkpoints", 0o700) == 0)
    try expectFinished(output, launcher: nobody)
  }

  @Test("A source that is moved away halfway is missed, and back in its place migrated")
  func movedAway() throws {
    let output = folder.file("New.sqlite")
    let (process, _) = try stopped(source, to: output)
    try FileManager.default.moveItem(atPath: source, toPath: source + ".away")
    try expectError(process, 30, [source, "no such file"])
    try expectError(
      try folder.run("book-migration", ["resume", output]), 20, [source, "is missing", "clean --all \(output)`"])
    #expect(!FileManager.default.fileExists(atPath: output))
    try FileManager.default.moveItem(atPath: source + ".away", toPath: source)
    try expectFinished(output)
  }

  @Test(
    "A source that somebody writes to halfway, past all locks, ends the run, and nothing gets the destination's name")
  func changed() throws {
    let output = folder.file("New.sqlite")
    let (process, _) = try stopped(source, to: output)
    // The header's change counter.
    let file = open(source, O_WRONLY)
    #expect(pwrite(file, [0, 1, 2, 3], 4, 24) == 4)
    close(file)
    process.send(SIGCONT)
    let outcome = try process.wait()
    #expect(outcome.code == 22, "\(outcome)")
    for word in [source, "the source changed", "--restart`"] {
      #expect(outcome.error.contains(word), "\(outcome.error)")
    }
    #expect(!FileManager.default.fileExists(atPath: output))
  }

  private static let strace: Bool = {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/strace")
    process.arguments = ["-o", "/dev/null", "/bin/true"]
    (process.standardError, process.standardInput) = (FileHandle.nullDevice, FileHandle.nullDevice)
    guard (try? process.run()) != nil else { return false }
    process.waitUntilExit()
    return process.terminationStatus == 0
  }()

  private func launcher(_ injections: [String]) -> [String] {
    ["/usr/bin/strace", "-f", "-o", "/dev/null"] + injections.flatMap { ["-e", "inject=\($0)"] }
  }

  @Test(
    "Calls that a signal interrupts are made again", .enabled(if: strace, "this needs strace and the right to use it"))
  func interrupted() throws {
    let output = folder.file("New.sqlite")
    let injections =
      ["pwrite64", "fdatasync", "ftruncate"].map { "\($0):error=EINTR:when=2+3" } + ["pread64:error=EINTR:when=90+3"]
    let outcome = try folder.run("book-migration", Self.migrate(source, to: output), launcher: launcher(injections))
    #expect(outcome.code == 0, "\(outcome)")
    #expect(try CommandFolder.bytes(output) == undisturbed())
  }

  @Test(
    "I10: a sync or write that the kernel fails is the last one, and the run goes on from the checkpoint before",
    .enabled(if: strace, "this needs strace and the right to use it"),
    arguments: ["fdatasync:error=EIO:when=20", "pwrite64:error=EIO:when=60", "rename:error=EIO:when=12"])
  func fault(injection: String) throws {
    let output = folder.file("New.sqlite")
    let outcome = try folder.run("book-migration", Self.migrate(source, to: output), launcher: launcher([injection]))
    try expectError(outcome, 1, ["Input/output error", "resume"])
    try expectFinished(output)
  }
}
