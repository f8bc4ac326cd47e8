import Foundation
import Streams
import Testing

@testable import MappingModels
@testable import MigrationJobs
@testable import Migrations
@testable import RunSupport

@Suite("A run whose program or plan changed while it was interrupted") struct ChangedPlanTests {
  /// The policy of a program that came later.
  private struct LaterPolicy: EntityMigrationPolicy {
    static let className = "LinePolicy"
    static let version = "3"
  }

  private let folder: MigrationFolder
  private let store: String
  private let job: JobDirectory

  init() throws {
    folder = try MigrationFolder(
      [PolicyModels.first, PolicyModels.second], mappings: PolicyModels.mappings,
      policies: [OrderPolicy.self, LinePolicy.self])
    store = try folder.sample("P1", rows: 60, seed: 2)
    job = try JobDirectory(destination: store)
    var request = folder.request(store)
    request.interval = .bytes(2000)
    let stop = StopAfter(6)
    #expect(throws: BatchError.self) { try folder.job().migrate(request, monitor: stop.monitor(request.interval)) }
  }

  private func resume(_ program: MigrationJob) throws { _ = try program.resume(store) { RunMonitor(interval: $0) } }

  private func expectRefused(_ program: MigrationJob) throws {
    let (bytes, plan) = (try MigrationFolder.bytes(store), try JobPlan.read(job, LocalFileSystem()))
    let checkpoints = try LocalFileSystem().list(job.checkpoints)
    let error = #expect(throws: BatchError.self) { try resume(program) }
    #expect(error?.code == .badCheckpoint)
    let message = error?.message ?? ""
    let fingerprints = message.matches(of: /[0-9a-f]{32,}/).map { String($0.output) }
    #expect(
      fingerprints.count == 2 && Set(fingerprints).count == 2 && fingerprints.contains(plan.planFingerprint),
      "\(message)")
    #expect(try MigrationFolder.bytes(store) == bytes)
    #expect(try LocalFileSystem().list(job.checkpoints) == checkpoints)
  }

  @Test(
    "Another version of a policy is refused with both fingerprints, nothing is begun anew, and the old program goes on")
  func policy() throws {
    try expectRefused(MigrationJob(policies: PolicyRegistry([OrderPolicy.self, LaterPolicy.self])))
    try resume(folder.job())
    #expect(try MigrationFolder.rows(store, "PRAGMA integrity_check") == ["string(\"ok\")"])
  }

  @Test("Another mapping model than the one that the run began with is refused with both fingerprints")
  func mapping() throws {
    let names = try FileManager.default.subpathsOfDirectory(atPath: job.mappings)
    let name = try #require(names.first { $0.hasSuffix("B_Orders.xcmappingmodel") })
    let old = try #require(PolicyModels.mappings.first { $0.name == "B_Orders" })
    var new = old
    new.entityMappings[0].userInfo["origin"] = "another shop"
    try ModelFiles.write(new, to: "\(job.mappings)/\(name)")
    try expectRefused(folder.job())
    try ModelFiles.write(old, to: "\(job.mappings)/\(name)")
    try resume(folder.job())
  }
}
