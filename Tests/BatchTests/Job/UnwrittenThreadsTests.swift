import Foundation
import Streams
import Synchronization
import Testing

@testable import CoreDataStore
@testable import MigrationJobs
@testable import Migrations
@testable import RunSupport

@Suite("Runs of several threads and steps that begin unwritten")
struct UnwrittenThreadsTests {
  private let folder: MigrationFolder
  private let source: String

  init() throws {
    folder = try MigrationFolder(MigrationModels.all)
    source = try folder.sample("V1", rows: 400, seed: 9)
    try MigrationFolder.execute(source, "UPDATE ZPERSON SET ZIMAGE = zeroblob(16384)")
  }

  private func request(_ store: String, inPlace: Bool = false, steps: Int = 1) -> MigrationJob.Request {
    var request = UnwrittenRunTests.request(folder, store, inPlace: inPlace)
    request.fuses = steps == 1
    return request
  }

  @Test("The store of these tests is migrated by threads")
  func size() throws {
    let size = try #require(try LocalFileSystem().status(source)?.size)
    #expect(size > MigrationJob.smallStore && size < MigrationJob.largestUnwritten)
  }

  @Test(
    "I9: a process that dies at any call leaves the store as it was, and no run, or a run that a command finishes",
    arguments: [(true, 1), (false, 2)])
  func death(inPlace: Bool, steps: Int) throws {
    var deaths = UnwrittenDeaths(folder: folder, source: source) { request($0, inPlace: inPlace, steps: steps) }
    deaths.mayBeWritten = true
    let (begun, finished) = try deaths.dieEverywhere()
    #expect(begun > 3 && finished > 3, "\(begun) \(finished)")
  }

  @Test("Up to the limit they write no plan, no copies and no checkpoint, whatever the steps; above it all at once")
  func limit() throws {
    #expect(MigrationJob.largestUnwritten == 64 << 20 && MigrationJob.smallStore == 512 << 10)
    let source = try folder.sample("V1", rows: 60, seed: 3)
    let reader = try StoreReader(path: source, fileSystem: LocalFileSystem(), locking: .none)
    defer { reader.close() }
    folder.smallStore = 0
    for (steps, more) in [(1, 0), (2, 0), (1, -1), (2, -1)] {
      folder.largestUnwritten = reader.byteCount.advanced(by: more)
      var request = request(source, steps: steps)
      request.output = "\(source).\(steps)\(more)"
      let disk = DyingFileSystem()
      let report = try folder.job(disk).migrate(request, monitor: RunMonitor())
      #expect(report.isVerified && report.steps == steps)
      for name in ["/plan.json", "/checkpoints/", "/models/"] {
        #expect(disk.written.contains { $0.contains(name) } == (more < 0), "\(name) of \(steps)")
      }
      if more == 0 { #expect(disk.syncs <= 12, "\(disk.syncs)") }
      // What is foreseen follows the same limit.
      #expect((folder.job().copies(request, reader) == nil) == (more == 0))
    }
  }

  @Test("What only checkpoints remember, or what takes longer to read than to migrate, is written down at once")
  func exceptions() throws {
    let reader = try StoreReader(path: source, fileSystem: LocalFileSystem(), locking: .none)
    defer { reader.close() }
    let plain = request(source)
    #expect(folder.job().mayEndUnwritten(plain, reader))
    var (bytes, rejects, xml) = (plain, plain, plain)
    bytes.interval = .bytes(64 << 20)
    rejects.rejects = RejectLimit(.count(3))
    xml.madeFrom = RunHistory.SourceFile(path: source + ".xml", bytes: 3, modified: 3)
    for request in [bytes, rejects, xml] { #expect(!folder.job().mayEndUnwritten(request, reader)) }
    let handles = MigrationJob { _ in }
    #expect(!handles.mayEndUnwritten(plain, reader))
    // A small file is read again in no time.
    folder.smallStore = reader.byteCount
    #expect(folder.job().mayEndUnwritten(xml, reader))
  }

  @Test(
    "I3, I5: the pulse writes a run down while it is at work: it goes on, or is resumed, with the same rows",
    arguments: [(1, 0.3), (1, 0.6), (2, 0.3), (2, 0.6)])
  func pulse(steps: Int, part: Double) throws {
    let counting = DyingFileSystem()
    let whole = try folder.job(counting).migrate(
      request(try folder.copy(source, as: "whole"), steps: steps), monitor: RunMonitor())
    let rows = try UnwrittenRunTests.rows(whole.destination)
    let place = Int(Double(counting.calls) * part)
    let goesOn = request(try folder.copy(source, as: "goes-on"), steps: steps)
    let first = try WrittenMeanwhile(goesOn, at: place)
    let report = try folder.job(DyingFileSystem(hears: first.hears)).migrate(goesOn, monitor: RunMonitor())
    #expect(report.isVerified && report.steps == steps && first.last > place)
    #expect(try UnwrittenRunTests.rows(report.destination) == rows)
    let dies = request(try folder.copy(source, as: "dies"), steps: steps)
    let second = try WrittenMeanwhile(dies, at: place)
    let disk = DyingFileSystem(at: first.last + 3, hears: second.hears)
    #expect(throws: (any Error).self) { try folder.job(disk).migrate(dies, monitor: RunMonitor()) }
    #expect([.interrupted, .cutOver].contains(try folder.job().status(dies.source).state))
    let resumed = try folder.job().resume(dies.source) { _ in RunMonitor() }
    #expect(resumed.isVerified && resumed.steps == steps)
    #expect(try UnwrittenRunTests.rows(resumed.destination) == rows)
  }

  @Test("I3: the first checkpoint makes the store durable that a step before it has left; later ones need not")
  func firstCheckpoint() throws {
    let (store, disk) = (try folder.copy(source, as: "first"), DyingFileSystem())
    let job = try JobDirectory(destination: store)
    let lease = try Lease.begin(job, LocalFileSystem())
    defer { lease.release() }
    try job.create(LocalFileSystem())
    try FileManager.default.copyItem(atPath: source, toPath: job.working("step-1.sqlite"))
    var made = try folder.job().jobPlan(
      request(store), plan: folder.job().plan(request(store)), job: job, source: store,
      seen: StoreSighting(StoreReader(path: store, fileSystem: disk, locking: .none), disk), token: "t")
    made.planFingerprint = String(repeating: "5", count: 64)
    let plan = made
    let checkpoints = CheckpointStore(directory: job.checkpoints, fileSystem: disk)
    let publisher = RunPublisher(
      checkpoints, in: job, fileSystem: disk, under: lease, plan: plan, mayWait: { true }, writeDown: { plan })
    var position = try RunPosition(nil, steps: 2)
    (position.step, position.previousStore) = (1, "step-1.sqlite")
    for isLast in [false, true] { try publisher.publishEnd(position, isLast: isLast) }
    #expect(publisher.waits && disk.syncs == 0)
    try publisher.publish(position)
    let first = disk.syncs
    #expect(!publisher.waits && disk.written.contains(job.working("step-1.sqlite")))
    try publisher.publishEnd(position, isLast: true)
    #expect(disk.syncs - first == first - 2, "\(first) \(disk.syncs)")
  }

  @Test("I5: a run that an error ended behind its steps begins with the first one, and finds nothing of the others")
  func leftovers() throws {
    let (request, monitor) = (request(try folder.copy(source, as: "ends"), steps: 2), RunMonitor())
    monitor.hooks = RunHooks { if $0 == .copied { throw BatchError(.failed, "no") } }
    #expect(throws: BatchError.self) { try folder.job().migrate(request, monitor: monitor) }
    let job = try JobDirectory(destination: request.output ?? request.source)
    let left = ["step-1.relation.inverse.0.1", "step-2.relation.inverse.0.1", "step-2.sqlite"].map(job.working)
    for path in left { try Data("earlier".utf8).write(to: URL(fileURLWithPath: path)) }
    let seen = Mutex<[String]?>(nil)
    let looks = RunMonitor { progress in
      guard progress.step == 1 else { return }
      seen.withLock { $0 = $0 ?? left.filter { FileManager.default.fileExists(atPath: $0) } }
    }
    #expect(try folder.job().resume(request.source) { _ in looks }.isVerified)
    #expect(seen.withLock { $0 } == [])
  }

  @Test("A disk that is full in the first second leaves a run that can be resumed")
  func fullDisk() throws {
    let (request, monitor) = (request(try folder.copy(source, as: "full"), steps: 2), RunMonitor())
    monitor.hooks = RunHooks { if $0 == .copied { throw StreamsError(.diskFull, "cannot write: no space is left") } }
    let error = #expect(throws: BatchError.self) { try folder.job().migrate(request, monitor: monitor) }
    #expect(error?.code.exitCode == 75 && error?.effect != .nothingWritten, "\(String(describing: error))")
    #expect(try folder.job().resume(request.source) { _ in RunMonitor() }.isVerified)
  }

  @Test("I6: models that change before a run is written down decide nothing: it ends as planned, or is not resumed")
  func otherModels() throws {
    let rows = try UnwrittenRunTests.rows(try migrated("whole").destination)
    let change = { @Sendable [models = folder.models] in
      var third = MigrationModels.third
      third.entities[0].attributes.append(MigrationModels.attribute("late"))
      try FileManager.default.removeItem(atPath: models)
      try ModelFiles.write([MigrationModels.first, MigrationModels.second, third], to: models)
    }
    let goesOn = request(try folder.copy(source, as: "goes-on"))
    let first = try WrittenMeanwhile(goesOn, at: 20, change)
    let report = try folder.job(DyingFileSystem(hears: first.hears)).migrate(goesOn, monitor: RunMonitor())
    #expect(try report.isVerified && UnwrittenRunTests.rows(report.destination) == rows)

    try FileManager.default.removeItem(atPath: folder.models)
    try ModelFiles.write(MigrationModels.all, to: folder.models)
    var stops = request(try folder.copy(source, as: "stops"))
    let (second, monitor) = (try WrittenMeanwhile(stops, at: 20, change), RunMonitor())
    let disk = DyingFileSystem { number in
      second.hears(number)
      if number == 20 { monitor.requestStop() }
    }
    #expect(throws: BatchError.self) { try folder.job(disk).migrate(stops, monitor: monitor) }
    #expect(try folder.job().status(stops.source).state == .interrupted)
    let refused = #expect(throws: BatchError.self) { try folder.job().resume(stops.source) { _ in RunMonitor() } }
    #expect(refused?.code == .badCheckpoint, "\(refused as Any)")
    stops.restarts = true
    #expect(try folder.job().migrate(stops, monitor: RunMonitor()).isVerified)
  }

  @Test("A run whose models are gone when it is written down ends, and leaves the store as it was, and nothing else")
  func noModels() throws {
    let request = request(try folder.copy(source, as: "gone"))
    let before = try MigrationFolder.bytes(request.source)
    let meanwhile = try WrittenMeanwhile(request, at: 20) { [models = folder.models] in
      try FileManager.default.removeItem(atPath: models)
    }
    let disk = DyingFileSystem(hears: meanwhile.hears)
    let error = #expect(throws: BatchError.self) { try folder.job(disk).migrate(request, monitor: RunMonitor()) }
    #expect(error?.effect == .nothingWritten && error?.path?.contains("Model.xcdatamodeld") == true, "\(error as Any)")
    #expect(try MigrationFolder.bytes(request.source) == before)
    #expect(try !JobDirectory(destination: request.output ?? "").exists(LocalFileSystem()))
    try ModelFiles.write(MigrationModels.all, to: folder.models)
    #expect(try folder.job().migrate(request, monitor: RunMonitor()).isVerified)
  }

  private func migrated(_ name: String) throws -> MigrationJob.Report {
    try folder.job().migrate(request(try folder.copy(source, as: name)), monitor: RunMonitor())
  }
}

/// Lets a run wait at one of its calls until the pulse has written it down, or would have.
private final class WrittenMeanwhile: Sendable {
  private let place: Int
  private let plan: String
  private let change: @Sendable () throws -> Void
  private let calls = Mutex((newest: 0, behind: 0))

  init(_ request: MigrationJob.Request, at place: Int, _ change: @escaping @Sendable () throws -> Void = {}) throws {
    (self.place, self.change) = (place, change)
    plan = try JobDirectory(destination: request.output ?? request.source).plan
  }

  /// The newest call when the run went on.
  var last: Int { calls.withLock { $0.behind } }

  func hears(_ number: Int) {
    calls.withLock { $0.newest = max($0.newest, number) }
    guard number == place else { return }
    try? change()
    let end = ContinuousClock.now + .seconds(2)
    while ContinuousClock.now < end, !FileManager.default.fileExists(atPath: plan) { usleep(5000) }
    // What the pulse does behind the plan.
    while calls.withLock({ $0.behind != $0.newest }) {
      calls.withLock { $0.behind = $0.newest }
      usleep(50_000)
    }
  }
}
