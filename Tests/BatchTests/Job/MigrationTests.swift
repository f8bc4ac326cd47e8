import Foundation
import Streams
import Synchronization
import Testing

@testable import Batch

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

  @Test("Progress ends with the run, never goes back, and names mapping models, entities and objects")
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
    #expect(last.seconds > 0 && last.rowsPerSecond > 0 && last.secondsLeft == 0)
    // Who listens after the end is told the last progress.
    var late: [MigrationProgress] = []
    for await progress in migration.progress { late.append(progress) }
    #expect(late == [last])
    #expect(try await migration.run() == report)
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

  /// The digest of a store's bytes.
  private static func migrated(_ folder: MigrationFolder, _ source: String) async throws -> String {
    let copy = try folder.copy(source, as: "undisturbed")
    return try await Migration(request(folder, copy), job: folder.job()).run().destination
  }

  @Test("Cancelling the task stops at a page of rows with a checkpoint, and the rest is done later")
  func cancelled() async throws {
    let (folder, source) = try Self.folder()
    let whole = try await Self.migrated(folder, source)
    let migration = Migration(Self.request(folder, source), job: folder.job())
    let task = Task {
      for await progress in migration.progress where progress.checkpoints > 1 { break }
      withUnsafeCurrentTask { $0?.cancel() }
      return try await migration.run()
    }
    let error = await #expect(throws: BatchError.self) { try await task.value }
    #expect(error?.code == .stopped)
    let resumed = Migration(resuming: source, job: folder.job())
    let first = try #require(await resumed.progress.first { $0.fraction > 0 })
    #expect(first.fraction > 0)
    let report = try await resumed.run()
    #expect(report.targetVersion == "V3")
    let query = "SELECT Z_PK, ZFULLNAME, ZAGE, ZHOME FROM ZHUMAN ORDER BY Z_PK"
    #expect(try MigrationFolder.rows(source, query) == MigrationFolder.rows(whole, query))
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
    #expect(error?.code == .stopped && error?.hint == "Nothing was written")
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
    #expect(missing?.code == .badStore)
    let unknown = await #expect(throws: BatchError.self) { try await Migration(resuming: source).run() }
    #expect(unknown?.code == .refused)
  }

  @Test("A migration that nobody holds any more stops and can be resumed; one whose progress is watched goes on")
  func givenUp() async throws {
    let (folder, source) = try Self.folder()
    let copy = try folder.copy(source, as: "watched")
    var last: MigrationProgress?
    for await progress in Migration(Self.request(folder, copy), job: folder.job()).progress { last = progress }
    #expect(last?.fraction == 1)
    do {
      let migration = Migration(Self.request(folder, source), job: folder.job())
      for await progress in migration.progress where progress.checkpoints > 1 { break }
    }
    var report: MigrationJob.Report?
    while report == nil {
      do {
        report = try await Migration(resuming: source, job: folder.job()).run()
      } catch let error as BatchError where error.code == .leaseHeld {
        try await Task.sleep(for: .milliseconds(5))
      }
    }
    #expect(report?.targetVersion == "V3")
  }
}
