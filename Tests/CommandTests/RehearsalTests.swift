import Foundation
import GRDB
import Streams
import Testing

@testable import BatchCommand
@testable import MigrationJobs
@testable import Migrations
@testable import RunSupport
@testable import StoreVerification

/// A plan foresees what the run then does (I12 for numbers that are not there yet), and writes nothing for that (trap
/// 1).
@Suite("Rehearsals")
struct RehearsalTests {
  private let folder: ExampleFolder
  private let job = MigrationJob(policies: ExampleFolder.policies)

  init() throws { folder = try ExampleFolder() }

  private func request(_ store: String, _ verification: VerificationMode = .fast) -> MigrationJob.Request {
    var request = MigrationJob.Request(
      source: store, output: folder.path + "/out.sqlite", models: [ExampleFolder.models],
      mappings: [ExampleFolder.mappings])
    request.verification = verification
    return request
  }

  private func forecast(_ request: MigrationJob.Request, sampleBytes: Double = Rehearsal.sampleBytes) throws
    -> MigrationForecast
  {
    try #require(try job.forecast(request, try job.plan(request), sampleBytes: sampleBytes))
  }

  /// Objects of the result, by root entity.
  private func counts(_ store: String) throws -> [String: UInt64] {
    let queue = try DatabaseQueue(path: store)
    defer { try? queue.close() }
    return try queue.read { db in
      try ["Author", "Book", "File", "User"].reduce(into: [:]) {
        $0[$1] = try UInt64.fetchOne(db, sql: "SELECT count(*) FROM Z\($1.uppercased())")
      }
    }
  }

  @Test(
    "What planning took in this process, with reading the models, is foreseen: a run in a new process takes it again")
  func planning() throws {
    let store = try folder.library(books: 400, users: 20, seed: 5)
    var plan = try job.plan(request(store))
    #expect(plan.planningSeconds > 0)
    plan.planningSeconds = 500
    let slow = try #require(try job.forecast(request(store), plan))
    #expect(slow.fixedSeconds >= 500 && slow.fixedSeconds < 900 && slow.seconds >= slow.fixedSeconds)
    // The bundle, its current version's name, and each version's folder with its file.
    let copies = ModelCopies([ExampleFolder.models], LocalFileSystem())
    let files = FileManager.default.enumerator(atPath: ExampleFolder.models)?.allObjects.count ?? 0
    #expect(copies.names == files + 1 && copies.bytes > 1000)
    #expect(ModelCopies([folder.path + "/nowhere"], LocalFileSystem()).names == 0)
  }

  @Test("Of a store that is rehearsed as a whole, every number of objects and the bytes are those of the run")
  func whole() throws {
    let store = try folder.library(books: 300, users: 20, seed: 4)
    let before = try MigrationTree.of(folder.path)
    let forecast = try forecast(request(store))
    #expect(try MigrationTree.of(folder.path) == before)
    #expect(forecast.steps.count == 2)
    let report = try job.migrate(request(store), monitor: RunMonitor())
    let foreseen = try #require(forecast.steps.last).objects
    for (entity, count) in try counts(report.destination) { #expect(foreseen[entity] == Foreseen(count), "\(entity)") }
    // The reader of the rehearsal counts pages, the run also those of the model's cache and of its own header.
    #expect(abs(Double(forecast.steps[1].bytes) / Double(report.bytes) - 1) < 0.01)
    #expect(forecast.peakDisk >= forecast.steps[0].bytes + forecast.steps[1].bytes)
    #expect(forecast.seconds > 0 && forecast.peakMemory > 1 << 20)
  }

  @Test("Of a sample, objects come within 5 % and bytes within 5 % of the run's; what a policy makes lies in the range")
  func sample() throws {
    let store = try folder.library(books: 30_000, users: 2000, seed: 5)
    let forecast = try forecast(request(store), sampleBytes: 1_000_000)
    let plan = try job.plan(request(store))
    #expect(forecast.sampledRows * 2 < plan.rows.reduce(0) { $0 + $1.rows })
    let report = try job.migrate(request(store), monitor: RunMonitor())
    let foreseen = try #require(forecast.steps.last)
    for (entity, count) in try counts(report.destination) {
      let range = try #require(foreseen.objects[entity])
      #expect(
        range.least <= count + count / 20 && count <= range.most + range.most / 20, "\(entity): \(range), \(count)")
      if entity != "Author" {
        #expect(abs(Double(range.likely) / Double(count) - 1) < 0.05, "\(entity): \(range), \(count)")
      }
    }
    #expect(abs(Double(foreseen.bytes) / Double(report.bytes) - 1) < 0.05)
  }

  @Test("Trap 22: what checking the relationships takes is part of the plan")
  func proof() throws {
    let store = try folder.library(books: 300, users: 20, seed: 4)
    let none = try forecast(request(store, .none))
    let fast = try forecast(request(store))
    let (full, sqlite) = (try forecast(request(store, .full)), try forecast(request(store, .sqlite)))
    #expect(none.proofSeconds == 0)
    // What was measured of two trials cannot be compared: another program may have had the processor.
    #expect(0 < fast.proofSeconds && 0 < full.proofSeconds && 0 < sqlite.proofSeconds)
    #expect(ForecastText(fast).lines.contains { $0.contains("verification: ") })
  }

  @Test("An object that cannot be migrated does not take the plan away: it says what a run will meet")
  func errors() throws {
    let folder = try CommandFolder()
    let (store, model) = (folder.file("Plain.sqlite"), ExampleFolder.root + "/Benchmarks/Models/Plain.xcdatamodeld")
    let sample = ["sample", model, "--version", "Plain 2", "--rows", "1000", "--output", store]
    #expect(try folder.run("godwit", sample).code == 0)
    // Back: doubles at the borders of their type do not become integers.
    let arguments = ["plan", store, "--models", model, "--versions", "Plain 2,Plain 1"]
    let plan = try folder.run("godwit", arguments)
    #expect(plan.code == 0 && plan.output.contains("there is no estimate: the trial ended with an error"), "\(plan)")
    let without = try folder.run("godwit", arguments + ["--no-rehearsal"])
    #expect(without.code == 0 && !without.output.contains("foreseen"), "\(without)")
  }
}

/// Names, sizes, times and inodes of everything below a folder.
private enum MigrationTree {
  static func of(_ path: String) throws -> [String] {
    try FileManager.default.subpathsOfDirectory(atPath: path).sorted().map { name in
      let status = try LocalFileSystem().statusOfName("\(path)/\(name)")
      return "\(name) \(status?.size ?? 0) \(status?.modified ?? 0) \(status?.inode ?? 0)"
    }
  }
}
