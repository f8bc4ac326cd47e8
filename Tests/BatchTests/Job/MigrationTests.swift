import Foundation
import Streams
import Synchronization
import Testing

@testable import MappingModels
@testable import MigrationJobs
@testable import Migrations
@testable import RunSupport

@Suite("Migrations in Swift's concurrency")
struct MigrationTests {
  private static let rows: UInt64 = 3000

  private static func folder() throws -> (MigrationFolder, source: String) {
    let folder = try MigrationFolder(MigrationModels.all)
    return (folder, try folder.sample("V1", rows: rows, seed: 3))
  }

  private static func request(_ folder: MigrationFolder, _ source: String) -> MigrationJob.Request {
    var request = folder.request(source)
    request.fuses = false
    return request
  }

  @Test("Trap 10: progress ends with the run, never goes back, and names mapping models, entities and objects")
  func progress() async throws {
    let (folder, source) = try Self.folder()
    let migration = Migration(Self.request(folder, source), job: folder.job())
    var seen: [MigrationProgress] = []
    for await progress in migration.progress { seen.append(progress) }
    let report = try await migration.run()
    #expect(report.isVerified && report.steps == 2 && report.targetVersion == "V3")
    let last = try #require(seen.last)
    #expect(last.fraction == 1 && last.step == 2 && last.steps == 2 && last.rows == report.rowsRead)
    #expect(zip(seen, seen.dropFirst()).allSatisfy { $0.fraction <= $1.fraction && $0.rows <= $1.rows })
    #expect(seen.allSatisfy { $0.fraction < 0.95 || $0.rows == report.rowsRead })
    #expect(last.seconds > 0 && seen.contains { $0.rowsPerSecond > 0 } && last.secondsLeft == 0)
    // Who listens after the end is told the last progress.
    var late: [MigrationProgress] = []
    for await progress in migration.progress { late.append(progress) }
    #expect(late == [last])
    #expect(try await migration.run() == report)
  }

  @Test("Trap 10: when the second step begins its rows are still to be done, and pages of them are progress")
  func secondStep() throws {
    let (folder, source) = try Self.folder()
    let seen = Mutex<[MigrationProgress]>([])
    let monitor = RunMonitor { progress in seen.withLock { $0.append(progress) } }
    _ = try folder.job().migrate(Self.request(folder, source), monitor: monitor)
    let second = seen.withLock { $0 }.filter { $0.step == 2 && !$0.entities.isEmpty }
    let (first, last) = (try #require(second.first), try #require(second.last))
    #expect(first.fraction < 0.7 && last.fraction > first.fraction + 0.1, "\(first.fraction), \(last.fraction)")
    let pages = zip(second, second.dropFirst()).filter { $0.rows < $1.rows }
    #expect(
      pages.count > 1 && pages.filter { $0.fraction < $1.fraction }.count * 2 >= pages.count,
      "\(pages.map(\.1.fraction))")
  }

  @Test("Once the tables are complete, the work of indexes is that of their entries, and the time left is a number")
  func indexes() throws {
    let (folder, source) = try Self.folder()
    let seen = Mutex<[MigrationProgress]>([])
    let monitor = RunMonitor { progress in seen.withLock { $0.append(progress) } }
    let report = try folder.job().migrate(Self.request(folder, source), monitor: monitor)
    let built = seen.withLock { $0 }.filter { $0.activity.hasPrefix("index ") }
    let work = try #require(built.last?.estimate.entries.first { $0.part == .indexes }?.work)
    // Some indexes of the model, over thousands of rows.
    let entries = work / WorkCost.indexEntry
    #expect(entries > Double(Self.rows) && entries < 100 * Double(report.rowsRead), "\(entries)")
    #expect(seen.withLock { $0 }.allSatisfy { $0.secondsLeft?.isFinite != false })
  }

  @Test("Objects are counted up to all of them, which is known from the second step on")
  func objects() throws {
    let (folder, source) = try Self.folder()
    let seen = Mutex<[MigrationProgress]>([])
    let monitor = RunMonitor { progress in seen.withLock { $0.append(progress) } }
    _ = try folder.job().migrate(Self.request(folder, source), monitor: monitor)
    let people = seen.withLock { $0 }.filter { $0.entities.contains("Human") }
    #expect(!people.isEmpty && people.allSatisfy { $0.step == 2 && $0.mappingModels == ["inferred"] })
    let all = try #require(people.last?.objectsInAll)
    #expect(all > 0 && people.last?.objects == all)
    #expect(zip(people, people.dropFirst()).allSatisfy { $0.objects <= $1.objects })
    let before = seen.withLock { $0 }.filter { $0.entities.contains("Person") }
    #expect(before.last?.objects == all && before.allSatisfy { $0.objectsInAll == nil })
  }

  /// A store whose migration waits at its first order until the gate of that name opens.
  private static func gated(_ gate: String) throws -> (folder: MigrationFolder, source: String) {
    let mapping = PolicyModels.model(
      "Gated",
      [
        PolicyModels.entity("Order", ["number"], ["lines"], policy: GatedPolicy.self, info: ["gate": gate]),
        PolicyModels.entity("Line", ["sku", "quantity"], ["order", "tags"]),
        PolicyModels.entity("Tag", ["word"], ["lines"]),
      ])
    let folder = try MigrationFolder(
      [PolicyModels.first, PolicyModels.second], mappings: [mapping], policies: [GatedPolicy.self])
    return (folder, try folder.sample("P1", rows: 500, seed: 3))
  }

  @Test("Cancelling the task stops at a page of rows with a checkpoint, and the rest is done later")
  func cancelled() async throws {
    let (folder, source) = try Self.gated("cancelled")
    let migration = Migration(Self.request(folder, source), job: folder.job())
    let progress = migration.progress
    let task = Task { try await migration.run() }
    task.cancel()
    while !migration.isStopRequested { try await Task.sleep(for: .milliseconds(1)) }
    GatedPolicy.open("cancelled")
    let error = await #expect(throws: BatchError.self) { try await task.value }
    #expect(error?.code == .stopped)
    for await last in progress { #expect(last.fraction < 1) }
    let report = try await Migration(resuming: source, job: folder.job()).run()
    #expect(report.targetVersion == "P2" && report.isVerified)
  }

  @Test(
    "An order for a run that ends while it is given is refused as one without a run; any other failure is told as it is"
  )
  func orderAtTheEnd() async throws {
    let (folder, source) = try Self.gated("ordered")
    let migration = Migration(Self.request(folder, source), job: folder.job())
    let task = Task { try await migration.run() }
    defer { GatedPolicy.open("ordered") }
    let registry = JobRegistry(LocalFileSystem())
    func found() throws -> JobDirectory? {
      try registry.find(source).flatMap { try LocalFileSystem().status($0.plan) == nil ? nil : $0 }
    }
    var tries = 0
    while try found() == nil, tries < 20_000 {
      try await Task.sleep(for: .milliseconds(1))
      tries += 1
    }
    let job = try #require(try found())
    // The orders cannot be written, and a moment later the run is gone, or still there.
    let (files, blocked) = (FileManager.default, job.control + ".new")
    func order(_ body: () throws -> Void) -> (any Error)? {
      try? files.createDirectory(atPath: blocked, withIntermediateDirectories: false)
      defer { try? files.removeItem(atPath: blocked) }
      return #expect(throws: (any Error).self) { try folder.job().order(source) { _ in try? body() } }
    }
    let gone = order { try files.moveItem(atPath: job.plan, toPath: job.plan + ".away") } as? BatchError
    #expect(
      gone?.code == .refused && gone?.message == "no process migrates this store just now",
      "\(String(describing: gone))")
    try files.moveItem(atPath: job.plan + ".away", toPath: job.plan)
    let failed = order {} as? BatchError
    #expect(failed?.path == blocked, "\(String(describing: failed))")
    // A stop has nothing left to do then; what could be written was heeded by nobody all the same.
    func lastOrder(_ change: (inout RunOrders) -> Void) throws {
      defer { try? files.moveItem(atPath: job.plan + ".away", toPath: job.plan) }
      try folder.job().order(source) { orders in
        change(&orders)
        try? files.moveItem(atPath: job.plan, toPath: job.plan + ".away")
      }
    }
    #expect(throws: BatchError.self) { try lastOrder { $0.throttle = "none" } }
    try files.createDirectory(atPath: blocked, withIntermediateDirectories: false)
    try lastOrder { $0.stop = true }
    try files.removeItem(atPath: blocked)
    try folder.job().order(source) { $0.throttle = "none" }
    GatedPolicy.open("ordered")
    #expect(try await task.value.isVerified)
  }

  @Test("A task that was cancelled before writes nothing")
  func cancelledBefore() async throws {
    let (folder, source) = try Self.folder()
    let before = try MigrationFolder.tree(folder.path)
    let migration = Migration(Self.request(folder, source), job: folder.job())
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await migration.run()
    }
    let error = await #expect(throws: BatchError.self) { try await task.value }
    #expect(error?.code == .stopped && error?.effect == .nothingWritten)
    #expect(try MigrationFolder.tree(folder.path) == before)
  }

  @Test("Errors are thrown by run, and end the progress; a store that is not there is refused at once")
  func failures() async throws {
    let (folder, source) = try Self.folder()
    var request = Self.request(folder, source)
    request.target = .version("V9")
    let migration = Migration(request, job: folder.job())
    for await progress in migration.progress { Issue.record("\(progress)") }
    let error = await #expect(throws: BatchError.self) { try await migration.run() }
    #expect(error?.code == .noModel)
    let missing = #expect(throws: BatchError.self) { try Migration(of: folder.path + "/none", models: [folder.models]) }
    #expect(missing?.code == .noSuchFile)
    let unknown = await #expect(throws: BatchError.self) { try await Migration(resuming: source).run() }
    #expect(unknown?.code == .refused)
  }

  @Test("A migration that nobody holds any more stops and can be resumed; one whose progress is watched goes on")
  func givenUp() async throws {
    let (watched, copy) = try Self.folder()
    var last: MigrationProgress?
    for await progress in Migration(Self.request(watched, copy), job: watched.job()).progress { last = progress }
    #expect(last?.fraction == 1)
    let (folder, source) = try Self.gated("given up")
    do {
      let migration = Migration(Self.request(folder, source), job: folder.job())
      for await _ in migration.progress { break }
    }
    GatedPolicy.open("given up")
    var report: MigrationJob.Report?
    while report == nil {
      do {
        report = try await Migration(resuming: source, job: folder.job()).run()
      } catch let error as BatchError where error.code == .leaseHeld {
        try await Task.sleep(for: .milliseconds(5))
      }
    }
    #expect(report?.targetVersion == "P2")
  }
}

/// Waits at every object until a gate is open, so that tests do not depend on how fast a migration is.
private struct GatedPolicy: EntityMigrationPolicy {
  private static let gates = Mutex<Set<String>>([])

  static func open(_ gate: String) { gates.withLock { _ = $0.insert(gate) } }

  func createDestinationInstances(
    forSource source: SourceObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {
    while !Self.gates.withLock({ $0.contains(mapping.userInfo["gate"] ?? "") }) { usleep(1000) }
    _ = try manager.createDestinationInstance(forSource: source, in: mapping)
  }
}
