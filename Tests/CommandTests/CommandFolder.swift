import Foundation
import GRDB

@testable import Codecs
@testable import MigrationJobs

/// A temporary folder with a store to migrate; what the programs print and remember lies outside of it.
final class CommandFolder {
  static let models = ["--models", ExampleFolder.models, "--mappings", ExampleFolder.mappings]
  /// Holds for one process: a resumed run has no limit.
  static let slowly = ["--throttle", "5krows/s"]

  private let root: String
  /// The folder that the programs work in.
  let path: String
  /// The programs' memory of their runs.
  let state: String
  /// Whether its models are sources of SwiftData.
  let readsSwift: Bool
  private var count = 0

  init(readsSwift: Bool = false) throws {
    self.readsSwift = readsSwift
    root = FileManager.default.temporaryDirectory.appendingPathComponent("command-\(UUID().uuidString)").path
    (path, state) = (root + "/work", root + "/state")
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: root) }

  /// A path outside of the work folder.
  func newPath(_ name: String) -> String {
    count += 1
    return "\(root)/\(count)-\(name)"
  }

  /// Writes a list of stores, `stores.txt`, and gives its path.
  @discardableResult
  func list(_ lines: [String]) throws -> String {
    let path = file("stores.txt")
    try lines.joined(separator: "\n").write(toFile: path, atomically: true, encoding: .utf8)
    return path
  }

  func file(_ name: String) -> String { path + "/" + name }

  /// Runs a program to its end.
  func run(_ name: String, _ arguments: [String], launcher: [String] = []) throws -> CommandProcess.Outcome {
    try CommandProcess(name, arguments, in: self, launcher: launcher).wait()
  }

  /// Runs a command that a message names, as a shell does.
  func paste(_ line: String) throws -> CommandProcess.Outcome {
    let program = try CommandProcess.path(of: "book-migration", readsSwift: readsSwift)
    let programs = URL(fileURLWithPath: program).deletingLastPathComponent().path
    return try run(
      "godwit", [], launcher: ["/usr/bin/env", "PATH=\(programs):/usr/bin:/bin", "sh", "-c", "\(line)", "sh"])
  }

  /// A store of the example's first version with that many objects.
  func sample(_ name: String = "Library.sqlite", rows: Int, seed: UInt64 = 1) throws -> String {
    let path = file(name)
    let made = try run(
      "godwit",
      [
        "sample", ExampleFolder.models, "--version", "Library 1", "--rows", "\(rows)", "--seed", "\(seed)", "--output",
        path,
      ])
    guard made.code == 0 else { throw CommandProcess.Missing(description: "no sample store: \(made.error)") }
    return path
  }

  /// Leaves a store as a program does that ends in the middle: its last changes are only in its log.
  func keepInLog(_ store: String) throws { try keepInLog(store, "UPDATE ZUSER SET ZNAME = 'in the log'") }

  /// The same, with a reference that leads nowhere.
  func breakInLog(_ store: String) throws { try keepInLog(store, "UPDATE ZFILE SET ZBOOK = 99999 WHERE Z_PK = 1") }

  private func keepInLog(_ store: String, _ change: String) throws {
    let queue = try DatabaseQueue(path: store)
    try queue.writeWithoutTransaction { db in
      try db.execute(sql: "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0")
      try db.execute(sql: change)
    }
    for suffix in ["", "-wal", "-shm"] {
      try FileManager.default.copyItem(atPath: store + suffix, toPath: store + ".kept" + suffix)
    }
    try queue.close()
    for suffix in ["", "-wal", "-shm"] {
      try? FileManager.default.removeItem(atPath: store + suffix)
      try FileManager.default.moveItem(atPath: store + ".kept" + suffix, toPath: store + suffix)
    }
  }

  /// Takes the model out of a store that carries its own.
  func forgetModel(of store: String) throws {
    let queue = try DatabaseQueue(path: store)
    try queue.write { try $0.execute(sql: "DELETE FROM Z_MODELCACHE") }
    try queue.close()
  }

  /// Starts a migration in place with many checkpoints, kills it once two of them are there, and returns the job
  /// directory.
  func interrupted(_ store: String, every interval: String = "20kB", with signal: Int32 = SIGKILL) throws -> String {
    let (process, job) = try running(store, every: interval)
    process.send(signal)
    let outcome = try process.wait()
    guard outcome.code == (signal == SIGKILL ? 128 + SIGKILL : 75) else {
      throw CommandProcess.Missing(description: "the run was not interrupted: \(outcome)")
    }
    return job
  }

  /// A migration in place that has made at least two checkpoints and goes on: slowly, so that it is still at work when
  /// something is done to it.
  func running(_ store: String, every interval: String = "20kB") throws -> (process: CommandProcess, job: String) {
    let job = try JobDirectory(destination: store)
    let process = try CommandProcess(
      "book-migration", ["migrate", store, "--checkpoint-every", interval] + Self.slowly + Self.models, in: self)
    while process.isRunning, Self.checkpoints(job.path).count < 2 { usleep(2000) }
    return (process, job.path)
  }

  /// Published checkpoints of a job, oldest first.
  static func checkpoints(_ job: String) -> [String] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: job + "/checkpoints")) ?? []
    return names.filter { $0.hasSuffix(".lz4") }.sorted().map { "\(job)/checkpoints/\($0)" }
  }

  /// Everything in the work folder: names, kinds, modes, times of change and contents.
  func tree() throws -> [String: String] {
    var found: [String: String] = [:]
    let manager = FileManager.default
    for name in try manager.subpathsOfDirectory(atPath: path) + [""] {
      let whole = path + "/" + name
      var status = stat()
      guard lstat(whole, &status) == 0 else { throw CommandProcess.Missing(description: "\(whole) vanished") }
      let isFile = status.st_mode & S_IFMT == S_IFREG
      let hash = isFile ? SHA256.hash([UInt8](try Data(contentsOf: URL(fileURLWithPath: whole)))) : []
      found[name] = "\(status.st_mode) \(status.st_ino) \(status.st_mtim.tv_sec).\(status.st_mtim.tv_nsec) \(hash)"
    }
    return found
  }

  static func bytes(_ path: String) throws -> Data { try Data(contentsOf: URL(fileURLWithPath: path)) }
}
