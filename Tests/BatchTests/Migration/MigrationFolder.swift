import Foundation
import GRDB
import Streams
import Synchronization

@testable import Codecs
@testable import CoreDataModel
@testable import MappingModels
@testable import MigrationJobs
@testable import Migrations
@testable import RunSupport
@testable import StoreSamples

/// Models, mapping models and stores of one test in a folder of its own, removed when the test ends.
final class MigrationFolder {
  let path: String
  let models: String
  let mappings: String?
  let policies: PolicyRegistry
  /// The size up to which a store is migrated on one thread.
  var smallStore = MigrationJob.smallStore
  /// The size up to which a run begins without a plan.
  var largestUnwritten = MigrationJob.largestUnwritten

  init(_ versions: [ManagedObjectModel], mappings: [MappingModel] = [], policies: [any EntityMigrationPolicy.Type] = [])
    throws
  {
    path = FileManager.default.temporaryDirectory.appendingPathComponent("godwit-migration-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    models = path + "/Model.xcdatamodeld"
    try ModelFiles.write(versions, to: models)
    self.mappings = mappings.isEmpty ? nil : path + "/Mappings"
    for mapping in mappings { try ModelFiles.write(mapping, to: "\(path)/Mappings/\(mapping.name).xcmappingmodel") }
    self.policies = PolicyRegistry(policies)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func model(_ name: String) throws -> ManagedObjectModel { try ModelLibrary(paths: [models]).target(named: name) }

  /// A path in a folder of its own, so that tree hashes see one store only.
  func place(_ name: String) throws -> String {
    let folder = "\(path)/\(name)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    return folder + "/Store.sqlite"
  }

  func sample(_ version: String, rows: UInt64, seed: UInt64) throws -> String {
    let store = try place("sample-\(seed)")
    try StoreSampler(model: try model(version), rows: rows, seed: seed)
      .write(to: store, fileSystem: LocalFileSystem(), progress: { _ in })
    return store
  }

  func copy(_ store: String, as name: String) throws -> String {
    let target = try place(name)
    for suffix in ["", "-wal"] where FileManager.default.fileExists(atPath: store + suffix) {
      try FileManager.default.copyItem(atPath: store + suffix, toPath: target + suffix)
    }
    return target
  }

  func request(_ store: String, output: String? = nil) -> MigrationJob.Request {
    var request = MigrationJob.Request(
      source: store, output: output, models: [models], mappings: mappings.map { [$0] } ?? [])
    request.interval = .bytes(1 << 15)
    // What tests of the engine leave out, they leave out on purpose.
    request.consent = LossConsent(all: true)
    return request
  }

  func job(_ fileSystem: any FileSystem = LocalFileSystem()) -> MigrationJob {
    var job = MigrationJob(fileSystem: fileSystem, policies: policies)
    (job.smallStore, job.largestUnwritten) = (smallStore, largestUnwritten)
    return job
  }

  /// Migrates without interruption.
  func migrate(_ request: MigrationJob.Request) throws -> MigrationJob.Report {
    try job().migrate(request, monitor: RunMonitor(interval: request.interval))
  }

  static func bytes(_ path: String) throws -> Data { try Data(contentsOf: URL(fileURLWithPath: path)) }

  /// Names, sizes, times and contents of everything below a folder.
  static func tree(_ path: String) throws -> [String] {
    let enumerator = FileManager.default.enumerator(atPath: path)
    let names = (enumerator?.allObjects as? [String] ?? []).sorted()
    return try names.map { name in
      let status = try LocalFileSystem().statusOfName("\(path)/\(name)")
      let digest = status?.isDirectory == true ? [] : SHA256.hash(Array(try bytes("\(path)/\(name)")))
      return "\(name) \(status?.modified ?? 0) \(status?.inode ?? 0) \(digest)"
    }
  }

  /// Changes a store.
  static func execute(_ store: String, _ sql: String) throws {
    let queue = try DatabaseQueue(path: store)
    defer { try? queue.close() }
    try queue.write { try $0.execute(sql: sql) }
  }

  static func rows(_ store: String, _ sql: String, _ arguments: StatementArguments = []) throws -> [String] {
    let queue = try DatabaseQueue(path: store)
    defer { try? queue.close() }
    // Storage classes are compared too: 1 is not 1.0.
    return try queue.read { db in
      try Row.fetchAll(db, sql: sql, arguments: arguments).map {
        $0.databaseValues.map { "\($0.storage)" }.joined(separator: "|")
      }
    }
  }
}

extension MigrationFolder {
  /// Stops migrations at their n-th signs of progress, one run for each, until one ends by itself; finishes each that
  /// was stopped. `begin` makes a run's request by its number, `change` does something before a run goes on, `body`
  /// looks at what was finished. Returns how many were stopped.
  func stopped(
    every step: Int, _ begin: (Int) throws -> MigrationJob.Request,
    then change: (MigrationJob.Request) throws -> Void = { _ in },
    finished body: (_ path: String, _ count: Int) throws -> Void
  ) throws -> Int {
    var stops = 0
    for count in StopAfter.counts(every: step) {
      let (request, stop) = (try begin(count), StopAfter(count))
      let path = request.output ?? request.source
      var isLast = false
      do {
        _ = try job().migrate(request, monitor: stop.monitor(request.interval))
        isLast = !stop.isSpent
      } catch let error as BatchError where error.code == .stopped {
        stops += 1
        try change(request)
        _ = try job().resume(path) { RunMonitor(interval: $0) }
      }
      try body(path, count)
      if isLast { break }
    }
    return stops
  }
}

/// Asks a run to stop at its n-th sign of progress.
final class StopAfter: Sendable {
  private let left: Mutex<Int>
  private let found = Mutex<RunMonitor?>(nil)

  init(_ count: Int) { left = Mutex(count) }

  /// Where to stop, one run each: everywhere if the environment has GODWIT_ALL_STOPS, else at every n-th place.
  static func counts(every step: Int) -> StrideTo<Int> { stride(from: 1, to: 10_000, by: stopsEverywhere ? 1 : step) }

  static var stopsEverywhere: Bool { ProcessInfo.processInfo.environment["GODWIT_ALL_STOPS"] != nil }

  /// True when the run came that far.
  var isSpent: Bool { left.withLock { $0 <= 0 } }

  func monitor(_ interval: RunMonitor.Interval) -> RunMonitor {
    let monitor = RunMonitor(interval: interval) { [weak self] _ in self?.count() }
    found.withLock { $0 = monitor }
    return monitor
  }

  private func count() {
    let isDue = left.withLock { left in
      left -= 1
      return left == 0
    }
    if isDue { found.withLock { $0 }?.requestStop() }
  }
}
