import Foundation
import Streams
import Testing

@testable import CoreDataModel
@testable import CoreDataStore
@testable import MigrationJobs
@testable import Migrations
@testable import RunSupport

@Suite("Runs that are over before their first checkpoint")
struct UnwrittenRunTests {
  private static func folder() throws -> (folder: MigrationFolder, source: String) {
    let folder = try MigrationFolder(MigrationModels.all)
    return (folder, try folder.sample("V1", rows: 60, seed: 3))
  }

  static func request(_ folder: MigrationFolder, _ store: String, inPlace: Bool) -> MigrationJob.Request {
    var request = folder.request(store, output: inPlace ? nil : store + ".new")
    request.interval = RunMonitor.standardInterval
    return request
  }

  static func rows(_ path: String) throws -> [String: UInt64] {
    let reader = try StoreReader(path: path, fileSystem: LocalFileSystem(), locking: .none)
    defer { reader.close() }
    return Dictionary(
      uniqueKeysWithValues: try reader.schema.tables.filter { $0.position(of: "Z_ENT") != nil }.map {
        ($0.name, try reader.rowCounts(table: $0).values.reduce(0, +))
      })
  }

  @Test(
    "I3, I5: they write no plan, no copies and no checkpoint, and wait for the disk twelve times at most",
    arguments: [true, false])
  func syncs(inPlace: Bool) throws {
    let (folder, source) = try Self.folder()
    let disk = DyingFileSystem()
    let report = try folder.job(disk).migrate(Self.request(folder, source, inPlace: inPlace), monitor: RunMonitor())
    #expect(report.isVerified && report.steps == 1 && (report.backup != nil) == inPlace)
    let names = ["/plan.json", "/checkpoints/", "/models/"]
    #expect(!disk.written.contains { path in names.contains { path.contains($0) } }, "\(disk.written)")
    #expect(disk.syncs <= 12, "\(disk.syncs)")
    let record = try folder.job().report(report.destination)
    #expect(record.outcome == .done && record.run != nil)
  }

  @Test(
    "I9: a process that dies at any call leaves the store as it was, and no run, or a cut-over to finish",
    arguments: [true, false])
  func death(inPlace: Bool) throws {
    let (folder, source) = try Self.folder()
    let deaths = UnwrittenDeaths(folder: folder, source: source) { Self.request(folder, $0, inPlace: inPlace) }
    let (begun, finished) = try deaths.dieEverywhere()
    #expect(begun > 3 && finished > 3, "\(begun) \(finished)")
  }

  @Test("A run that is stopped is written down, and resumed with the bytes of an undisturbed one")
  func stopped() throws {
    let (folder, source) = try Self.folder()
    let request = Self.request(folder, source, inPlace: false)
    let monitor = RunMonitor()
    monitor.requestStop()
    let error = #expect(throws: BatchError.self) { try folder.job().migrate(request, monitor: monitor) }
    #expect(error?.code == .stopped && error?.effect == .resumable)
    #expect(try folder.job().status(source).state == .interrupted)
    let report = try folder.job().resume(source) { _ in RunMonitor() }
    var again = request
    again.output = source + ".again"
    _ = try folder.job().migrate(again, monitor: RunMonitor())
    #expect(report.isVerified)
    #expect(try Self.rows(report.destination) == Self.rows(source + ".again"))
  }

  @Test("A run that cannot be written down fails again and again with that error, and never after the cut-over began")
  func once() throws {
    let (folder, source) = try Self.folder()
    let job = try JobDirectory(destination: source)
    let plan = try folder.job().jobPlan(
      Self.request(folder, source, inPlace: true), plan: folder.job().plan(Self.request(folder, source, inPlace: true)),
      job: job, source: source,
      seen: StoreSighting(StoreReader(path: source, fileSystem: LocalFileSystem(), locking: .none), LocalFileSystem()),
      token: "t")
    let fails = UnwrittenRun { _ in throw BatchError(.failed, "no") }
    for _ in 0..<2 { #expect(throws: BatchError.self) { try fails.writeDown(nil) } }
    #expect(throws: BatchError.self) { try fails.close() }
    let open = UnwrittenRun { _ in plan }
    #expect(try open.close() == false && open.writeDown(nil) == nil)
    open.reopen()
    #expect(try open.writeDown(nil) == plan && open.close())
  }
}
