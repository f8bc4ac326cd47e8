import Foundation
import Streams
import Synchronization
import Testing

@testable import MappingModels
@testable import MigrationJobs
@testable import Migrations
@testable import RunSupport
@testable import StoreVerification

/// Runs that end at every possible point and go on: the finished bytes are those of a run that nothing disturbed.
@Suite struct InterruptedMigrationTests {
  let folder: MigrationFolder
  let store: String
  let expected: Data

  init() throws {
    folder = try MigrationFolder(MigrationModels.all)
    store = try folder.sample("V1", rows: 1000, seed: 9)
    let whole = try folder.copy(store, as: "whole")
    _ = try folder.migrate(folder.request(whole))
    expected = try MigrationFolder.bytes(whole)
  }

  private func isStop(_ error: any Error) -> Bool { (error as? BatchError)?.code == .stopped }

  private func expectFinished(_ path: String, _ comment: Comment) throws {
    #expect(try MigrationFolder.bytes(path) == expected, comment)
    let left = try FileManager.default.contentsOfDirectory(atPath: FilePaths.directory(of: path)).filter {
      $0.hasSuffix(".godwit")
    }
    #expect(left.isEmpty, comment)
  }

  @Test("I5, I8: stopped at any sign of progress and resumed, a run has the undisturbed bytes")
  func stopAnywhere() throws {
    var stops = 0
    for count in StopAfter.counts(every: 3) {
      let path = try folder.copy(store, as: "stop-\(count)")
      var request = folder.request(path)
      request.verification = .none
      let stop = StopAfter(count)
      do {
        _ = try folder.job().migrate(request, monitor: stop.monitor(request.interval))
        try expectFinished(path, "stop \(count)")
        if !stop.isSpent { break }
        continue
      } catch  where isStop(error) { stops += 1 }
      _ = try folder.job().resume(path) { RunMonitor(interval: $0) }
      try expectFinished(path, "stop \(count)")
      try FileManager.default.removeItem(atPath: FilePaths.directory(of: path))
    }
    #expect(stops > 8)
  }

  @Test("A stop during the verification ends it at once, and the run ends later with the undisturbed bytes")
  func stopInVerification() throws {
    let path = try folder.copy(store, as: "verification")
    let request = folder.request(path)
    let stop = StopInVerification()
    let error = #expect(throws: BatchError.self) {
      try folder.job().migrate(request, monitor: stop.monitor(request.interval))
    }
    #expect(error?.code == .stopped)
    _ = try folder.job().resume(path) { RunMonitor(interval: $0) }
    try expectFinished(path, "stopped in the verification")
  }

  @Test("Trap 17, I5: a run that is stopped again after every page comes to its end with the undisturbed bytes")
  func stopAlways() throws {
    let path = try folder.copy(store, as: "always")
    var request = folder.request(path)
    // A verification that is stopped begins again, and would never end here.
    request.verification = .none
    var stops = 0
    var isFinished = false
    while !isFinished, stops < 500 {
      // The first update names the activity, so a page is done at the third at the latest.
      let stop = StopAfter(4)
      do {
        if stops == 0 {
          _ = try folder.job().migrate(request, monitor: stop.monitor(request.interval))
        } else {
          _ = try folder.job().resume(path) { stop.monitor($0) }
        }
        isFinished = true
      } catch  where isStop(error) { stops += 1 }
    }
    #expect(isFinished && stops > 5)
    try expectFinished(path, "\(stops) stops")
  }

  @Test(
    "I8: neither memory nor the distance of checkpoints shows in the bytes",
    arguments: [
      (48, UInt64(1)), (200, 1 << 30), (64, 5000),
    ])
  func settings(memory: Int, interval: UInt64) throws {
    let path = try folder.copy(store, as: "settings-\(memory)")
    var request = folder.request(path)
    request.memory = MemoryBudget(total: memory << 20)
    request.interval = .bytes(interval)
    _ = try folder.migrate(request)
    try expectFinished(path, "\(memory) MiB, \(interval) bytes")
  }

  @Test(
    "I3, I5, I9: killed at any change of the disk and resumed, a run has the undisturbed bytes",
    arguments: [0, MigrationJob.smallStore])
  func kill(smallStore: UInt64) throws {
    folder.smallStore = smallStore
    let whole = DyingFileSystem()
    var request = folder.request(try folder.copy(store, as: "counted"))
    request.verification = .none
    request.interval = smallStore > 0 ? RunMonitor.standardInterval : .bytes(1 << 17)
    _ = try folder.job(whole).migrate(request, monitor: RunMonitor(interval: request.interval))
    let changes = whole.calls
    var random = SplitMix(state: 77)
    var (resumed, restarted) = (0, 0)
    for _ in 0..<12 {
      let point = 1 + random.next(changes)
      let path = try folder.copy(store, as: "kill-\(point)")
      request.source = path
      do {
        _ = try folder.job(DyingFileSystem(at: point)).migrate(request, monitor: RunMonitor(interval: request.interval))
      } catch {}
      do {
        _ = try folder.job().resume(path) { RunMonitor(interval: $0) }
        resumed += 1
      } catch let error as BatchError where error.code == .refused {
        // Killed before the plan was written, or after the end.
        if try MigrationFolder.bytes(path) != expected {
          _ = try folder.migrate(request)
          restarted += 1
        }
      }
      try expectFinished(path, "killed at change \(point) of \(changes)")
      try FileManager.default.removeItem(atPath: FilePaths.directory(of: path))
    }
    #expect(resumed > (smallStore > 0 ? 2 : 5), "\(resumed) resumed, \(restarted) restarted")
  }
}

/// What others lost their place by.
@Suite struct FailedResumeTests {
  @Test("Trap 8: a run goes on by the plan and the models that it keeps, whatever became of the originals")
  func keptPlan() throws {
    let folder = try MigrationFolder(MigrationModels.all)
    let sample = try folder.sample("V1", rows: 1000, seed: 9)
    let (whole, store) = (try folder.copy(sample, as: "whole"), try folder.copy(sample, as: "stopped"))
    _ = try folder.migrate(folder.request(whole))
    let (request, stop) = (folder.request(store), StopAfter(9))
    #expect(throws: BatchError.self) { try folder.job().migrate(request, monitor: stop.monitor(request.interval)) }
    try FileManager.default.removeItem(atPath: folder.models)
    try ModelFiles.write([PolicyModels.first], to: folder.models)
    #expect(try folder.job().resume(store) { RunMonitor(interval: $0) }.isVerified)
    #expect(try MigrationFolder.bytes(store) == MigrationFolder.bytes(whole))
  }

  @Test("Trap 4: an error on the first row after a resume keeps the place that was reached")
  func errorAfterResume() throws {
    let mapping = PolicyModels.model(
      "Fragile",
      [
        PolicyModels.entity("Order", ["number"], ["lines"], policy: FragilePolicy.self),
        PolicyModels.entity("Line", ["sku", "quantity"], ["order", "tags"], policy: FragilePolicy.self),
        PolicyModels.entity("Tag", ["word"], ["lines"], policy: FragilePolicy.self),
      ])
    let folder = try MigrationFolder(
      [PolicyModels.first, PolicyModels.second], mappings: [mapping], policies: [FragilePolicy.self])
    let sample = try folder.sample("P1", rows: 3000, seed: 3)
    let whole = try folder.copy(sample, as: "whole")
    _ = try folder.migrate(folder.request(whole))
    let (store, before) = try stopped(folder, sample)
    for _ in 0..<2 {
      FragilePolicy.isBroken.withLock { $0 = true }
      defer { FragilePolicy.isBroken.withLock { $0 = false } }
      let error = #expect(throws: BatchError.self) { try folder.job().resume(store) { RunMonitor(interval: $0) } }
      #expect(error?.code == .policyFailed)
      var after = try folder.job().status(store)
      // Who tried, and when, is not the place.
      (after.owner, after.secondsSinceSign) = (before.owner, before.secondsSinceSign)
      after.secondsSinceCheckpoint = before.secondsSinceCheckpoint
      // Nor is why it failed.
      #expect(after.state == .failed && after.problems.count == 1)
      (after.state, after.problems, after.advice) = (before.state, before.problems, before.advice)
      after.failureCode = before.failureCode
      #expect(after == before)
    }
    _ = try folder.job().resume(store) { RunMonitor(interval: $0) }
    #expect(try MigrationFolder.bytes(store) == MigrationFolder.bytes(whole))
  }

  /// A run that was stopped behind its first rows.
  private func stopped(_ folder: MigrationFolder, _ sample: String) throws -> (store: String, status: JobStatus) {
    for count in 3..<40 {
      let store = try folder.copy(sample, as: "stopped-\(count)")
      let (request, stop) = (folder.request(store), StopAfter(count))
      #expect(throws: BatchError.self) { try folder.job().migrate(request, monitor: stop.monitor(request.interval)) }
      let status = try folder.job().status(store)
      if status.rowsRead ?? 0 > 0, status.phase == "copying" { return (store, status) }
    }
    throw BatchError(.failed, "no run stops behind its first rows")
  }
}

/// Fails at every object while it is broken. Of one test alone.
private struct FragilePolicy: EntityMigrationPolicy {
  static let isBroken = Mutex(false)

  func createDestinationInstances(
    forSource source: SourceObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {
    guard !Self.isBroken.withLock({ $0 }) else { throw BatchError(.policyFailed, "out of order") }
    _ = try manager.createDestinationInstance(forSource: source, in: mapping)
  }
}

/// SplitMix64: the same numbers on every machine.
struct SplitMix {
  var state: UInt64

  mutating func next(_ bound: Int) -> Int {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return Int((mixed ^ (mixed >> 31)) % UInt64(bound))
  }
}

/// Asks a run to stop at the first sign of its verification.
private final class StopInVerification: Sendable {
  private let found = Mutex<RunMonitor?>(nil)

  func monitor(_ interval: RunMonitor.Interval) -> RunMonitor {
    let monitor = RunMonitor(interval: interval) { [weak self] progress in
      if progress.activity.hasPrefix("verification") { self?.found.withLock { $0 }?.requestStop() }
    }
    found.withLock { $0 = monitor }
    return monitor
  }
}
