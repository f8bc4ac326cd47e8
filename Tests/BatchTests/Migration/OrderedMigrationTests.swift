import Foundation
import Streams
import Testing

@testable import CoreDataModel
@testable import MigrationJobs
@testable import Migrations
@testable import RunSupport

@Suite("Migrations along an order or stages")
struct OrderedMigrationTests {
  private static let rows: UInt64 = 600

  /// The undisturbed result, and that of a run that was stopped and resumed.
  private static func compare(_ order: VersionOrder, _ folder: MigrationFolder, stops: [Int]) throws -> String {
    let source = try folder.sample("V1", rows: rows, seed: 7)
    var request = folder.request(source, output: try folder.place("whole"))
    (request.order, request.fuses) = (order, false)
    let whole = try folder.migrate(request)
    for stop in stops {
      request.output = try folder.place("stopped-\(stop)")
      let after = StopAfter(stop)
      let stopped = #expect(throws: BatchError.self) {
        try folder.job().migrate(request, monitor: after.monitor(request.interval))
      }
      #expect(stopped?.code == .stopped)
      // A resume knows nothing of the request.
      let report = try folder.job().resume(request.output ?? "") { RunMonitor(interval: $0) }
      #expect(report.targetVersion == whole.targetVersion && report.steps == whole.steps)
    }
    return whole.destination
  }

  @Test("Stages that are all lightweight are passed one after the other, and a resumed run passes the same ones")
  func lightweight() throws {
    let folder = try MigrationFolder(MigrationModels.all)
    let checksums = try ["V1", "V2", "V3"].map { try folder.model($0).versionChecksum }
    let staged = VersionOrder.stages(StagedMigration(stages: checksums.map { .lightweight(versionChecksums: [$0]) }))
    let result = try Self.compare(staged, folder, stops: [2, 9])
    // From V1 to V3 at once nothing would tell that Human was Person.
    let people = try MigrationFolder.rows(result, "SELECT count(*) FROM ZHUMAN")
    #expect(people != ["int64(0)"])
    let direct = try MigrationFolder(MigrationModels.all)
    var request = direct.request(try direct.sample("V1", rows: Self.rows, seed: 7))
    request.order = .stages(StagedMigration(stages: [.lightweight(versionChecksums: ["V1", "V3"])]))
    _ = try direct.migrate(request)
    #expect(try MigrationFolder.rows(request.source, "SELECT count(*) FROM ZHUMAN") == ["int64(0)"])
  }

  @Test("A rule is not asked again when a run is resumed, and a list is kept")
  func resumed() throws {
    let folder = try MigrationFolder(MigrationModels.all)
    let rule = VersionOrder.rule { current, candidates in candidates.first { $0.name > current.name } }
    _ = try Self.compare(rule, folder, stops: [9])
    let listed = try MigrationFolder(MigrationModels.all)
    // The last of the list is the target.
    let result = try Self.compare(.list(["V1", "V2"]), listed, stops: [9])
    #expect(
      try MigrationFolder.rows(result, "SELECT count(*) FROM Z_PRIMARYKEY WHERE Z_NAME = 'Castle'") == ["int64(1)"])
  }
}
