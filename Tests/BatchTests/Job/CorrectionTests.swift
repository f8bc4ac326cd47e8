import Foundation
import Streams
import Testing

@testable import MappingModels
@testable import MigrationJobs
@testable import Migrations
@testable import RunSupport

@Suite("resume --mappings that is killed")
struct CorrectionTests {
  private let folder: MigrationFolder
  private let corrected: String
  private let source: String

  init() throws {
    folder = try MigrationFolder((1...3).map { try ExampleLibrary.version($0) })
    corrected = folder.path + "/Corrected"
    try FileManager.default.copyItem(atPath: Self.first, toPath: corrected)
    let file = corrected + "/Library2_to_Library3.yaml"
    let text = try String(contentsOfFile: file, encoding: .utf8)
    try text.replacing("fileURL: $source.fileURL", with: "fileURL: $source.title").write(
      toFile: file, atomically: true, encoding: .utf8)
    source = try folder.sample("Library 1", rows: 150, seed: 7)
  }

  private static let first = ExampleLibrary.root + "/Examples/Mappings/Library"

  /// A run that was stopped in its second step.
  private func interrupted(_ name: String) throws -> String {
    let store = try folder.copy(source, as: name)
    var request = MigrationJob.Request(source: store, models: [folder.models], mappings: [Self.first])
    (request.interval, request.consent) = (.bytes(1 << 12), LossConsent(all: true))
    let stop = StopInStep(2)
    let error = #expect(throws: BatchError.self) {
      try folder.job().migrate(request, monitor: stop.monitor(request.interval))
    }
    #expect(error?.code == .stopped)
    return store
  }

  /// Books whose file has the title as its address, as the corrected file says, and those whose has not.
  private func files(_ store: String) throws -> [String] {
    try MigrationFolder.rows(
      store, "SELECT sum(ZFILEURL IS ZTITLE), sum(ZFILEURL IS NOT ZTITLE) FROM ZFILE JOIN ZBOOK ON ZBOOK = ZBOOK.Z_PK")
  }

  @Test(
    "Whatever call of it is the last one, the run resumes with the old mapping files or the new ones, and the same command leads to the new ones"
  )
  func everyCall() throws {
    let whole = try interrupted("whole")
    _ = try folder.job().resume(whole, mappings: [corrected]) { RunMonitor(interval: $0) }
    let expected = try files(whole)
    var deaths = 0
    for call in 1... {
      let store = try interrupted("call-\(call)")
      let dying = folder.job(DyingFileSystem(at: call))
      do {
        // What follows is the run itself, of which other tests kill every call.
        _ = try dying.resume(store, mappings: [corrected], monitor: Self.stopped)
        break
      } catch let error as BatchError where error.code == .stopped { break } catch { deaths += 1 }
      if call % 2 == 0 {
        _ = try folder.job().resume(store) { RunMonitor(interval: $0) }
      } else {
        _ = try folder.job().resume(store, mappings: [corrected]) { RunMonitor(interval: $0) }
        #expect(try files(store) == expected, "call \(call)")
      }
    }
    #expect(deaths > 15)
  }

  private static func stopped(_ interval: RunMonitor.Interval) -> RunMonitor {
    let monitor = RunMonitor(interval: interval)
    monitor.requestStop()
    return monitor
  }
}

/// Asks a run to stop in a step.
private final class StopInStep: Sendable {
  private let step: Int
  init(_ step: Int) { self.step = step }

  func monitor(_ interval: RunMonitor.Interval) -> RunMonitor {
    let box = MonitorBox()
    let monitor = RunMonitor(interval: interval) { [step] progress in
      if progress.step == step { box.monitor?.requestStop() }
    }
    box.monitor = monitor
    return monitor
  }
}

/// Sendable by discipline: set before the run begins.
private final class MonitorBox: @unchecked Sendable { var monitor: RunMonitor? }
