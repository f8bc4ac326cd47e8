import Foundation
import Testing

@testable import Batch
@testable import MigrationJobs
@testable import RunSupport
@testable import Streams

@Suite("Runs that end while somebody looks at them", .serialized)
struct GoneWhileLookedAtTests {
  enum Kind: CaseIterable, CustomTestStringConvertible {
    case migration, load, loadThatMigrates, imported
    var testDescription: String { "\(self)" }
  }

  /// A path, and the folder of the run that works on it.
  private struct Run {
    let kept: CommandFolder
    let path: String
    let scratch: String
    let job: JobDirectory
  }

  private func killed(_ kind: Kind) throws -> Run {
    switch kind {
    case .migration:
      let folder = try CommandFolder()
      let store = try folder.sample(rows: 3000)
      let job = try folder.interrupted(store)
      return Run(kept: folder, path: store, scratch: job, job: try JobDirectory(destination: store))
    case .load, .loadThatMigrates: return try killedLoad(isMigrating: kind == .loadThatMigrates)
    case .imported:
      let imports = try ImportFolder()
      try imports.interrupt(try imports.linked())
      let job = JobDirectory(named: "import", in: imports.scratch, of: imports.store)
      return Run(kept: imports.folder, path: imports.store, scratch: imports.scratch, job: job)
    }
  }

  private func killedLoad(isMigrating: Bool) throws -> Run {
    let folder = try CommandFolder()
    let (output, scratch) = (folder.file("plain.sqlite"), folder.file(".plain.sqlite.godwit-plain"))
    let words = ["migrate", try folder.sample(rows: 3000), "--to-sqlite", "plain", "--output", output]
    let process = try CommandProcess(
      "book-migration", words + (isMigrating ? [] : ["--identity"]) + CommandFolder.slowly + CommandFolder.models,
      in: folder)
    let begun = isMigrating ? "/.store.sqlite.godwit/plan.json" : "/plain.sqlite"
    while process.isRunning, !FileManager.default.fileExists(atPath: scratch + begun) { usleep(2000) }
    process.send(SIGKILL)
    _ = try process.wait()
    return Run(kept: folder, path: output, scratch: scratch, job: JobDirectory(named: "load", in: scratch, of: output))
  }

  @Test(
    "Whenever the folder of a run goes while status looks at it, that is no error", arguments: Kind.allCases,
    [true, false])
  func looks(kind: Kind, isAtWork: Bool) throws {
    let run = try killed(kind)
    let copy = run.kept.newPath("copy")
    try FileManager.default.copyItem(atPath: run.scratch, toPath: copy)
    var (calls, isOver, states) = (0, false, [JobStatus.State]())
    while !isOver {
      calls += 1
      try? FileManager.default.removeItem(atPath: run.scratch)
      try FileManager.default.copyItem(atPath: copy, toPath: run.scratch)
      let lease = isAtWork ? try Lease.take(in: run.job, LocalFileSystem()) : nil
      defer { lease?.release() }
      let disk = GoingFileSystem(behind: calls, of: run.scratch)
      let job = MigrationJob(fileSystem: disk)
      do {
        let status = try job.importStatus(run.path) ?? job.loadStatus(run.path) ?? job.status(run.path)
        if disk.hasGone {
          states.append(status.state)
        } else {
          #expect(status.state == (isAtWork ? .running : .interrupted))
        }
      } catch { Issue.record("behind call \(calls) (\(disk.last)): \(error)") }
      isOver = !disk.hasGone
    }
    // Behind the last look nothing is seen of it any more.
    #expect(states.count > 6 && states.dropLast().allSatisfy { $0 == .none }, "\(states)")
  }
}

/// A disk on which a folder goes behind the nth look.
private final class GoingFileSystem: FileSystem, @unchecked Sendable {
  private let disk = LocalFileSystem()
  private let folder: String
  private var left: Int
  private(set) var last = ""
  var hasGone: Bool { left <= 0 }

  init(behind calls: Int, of folder: String) { (left, self.folder) = (calls, folder) }

  private func look<Result>(_ name: String, _ body: () throws -> Result) rethrows -> Result {
    defer {
      left -= 1
      if left == 0 {
        last = name
        try? FileManager.default.removeItem(atPath: folder)
      }
    }
    return try body()
  }

  func open(_ path: String, _ mode: OpenMode) throws -> any File {
    try look("open \(path)") { try disk.open(path, mode) }
  }
  func list(_ path: String) throws -> [String] { try look("list \(path)") { try disk.list(path) } }
  func status(_ path: String) throws -> FileStatus? { try look("status \(path)") { try disk.status(path) } }
  func statusOfName(_ path: String) throws -> FileStatus? {
    try look("status of name \(path)") { try disk.statusOfName(path) }
  }
  func rename(_ source: String, to destination: String) throws { try disk.rename(source, to: destination) }
  func link(_ source: String, to destination: String) throws { try disk.link(source, to: destination) }
  func remove(_ path: String) throws { try disk.remove(path) }
  func makeDirectory(_ path: String) throws { try disk.makeDirectory(path) }
  func syncDirectory(_ path: String) throws { try disk.syncDirectory(path) }
  func availableSpace(_ path: String) throws -> UInt64 { try disk.availableSpace(path) }
}
