import DiskSimulation
import Foundation
import Streams

@testable import CoreDataStore
@testable import MigrationJobs
@testable import RunSupport
@testable import StoreSamples

/// The small migrations that are tried at every change of the disk.
enum DiskCase: String, CaseIterable, Sendable {
  case inPlace, elsewhere, fromLog, policies, values, unwritten, unwrittenSteps

  func make() throws -> DiskMigration {
    switch self {
    case .inPlace: try Self.steps()
    case .elsewhere: try Self.steps(inPlace: false)
    case .fromLog: try Self.steps(intoLog: true)
    case .policies: try Self.policies()
    case .values: try Self.values()
    case .unwritten: try Self.unwritten()
    case .unwrittenSteps: try Self.unwritten(steps: 2)
    }
  }

  /// Two inferred steps, one after the other.
  private static func steps(inPlace: Bool = true, intoLog: Bool = false) throws -> DiskMigration {
    let folder = try MigrationFolder(MigrationModels.all)
    let store = try folder.place("sample")
    try StoreSampler(model: try folder.model("V1"), rows: 60, seed: 5, intoLog: intoLog)
      .write(to: store, fileSystem: LocalFileSystem(), progress: { _ in })
    return try DiskMigration(folder, store, inPlace: inPlace) { request in
      request.fuses = false
      request.interval = .bytes(3000)
    }
  }

  /// Look-ups, objects that wait in spools, late changes.
  private static func policies() throws -> DiskMigration {
    let folder = try MigrationFolder(
      [PolicyModels.first, PolicyModels.second], mappings: PolicyModels.mappings,
      policies: [OrderPolicy.self, LinePolicy.self])
    return try DiskMigration(folder, try folder.sample("P1", rows: 150, seed: 6)) { $0.interval = .bytes(3000) }
  }

  /// A run that is over before its first checkpoint; of two steps, with threads.
  private static func unwritten(steps: Int = 1) throws -> DiskMigration {
    let folder = try MigrationFolder(MigrationModels.all)
    if steps > 1 { folder.smallStore = 0 }
    return try DiskMigration(folder, try folder.sample("V1", rows: 60, seed: 5)) {
      ($0.interval, $0.fuses) = (RunMonitor.standardInterval, steps == 1)
    }
  }

  /// Values in files beside a store that is migrated elsewhere.
  private static func values() throws -> DiskMigration {
    let folder = try MigrationFolder([ExternalDataTests.model, ExternalDataTests.later])
    let store = try folder.sample("V1", rows: 5, seed: 1)
    let files = ExternalDataFolder(store: store).files
    try FileManager.default.createDirectory(atPath: files, withIntermediateDirectories: true)
    for name in ["a", "b", "c"] { try Data("value \(name)".utf8).write(to: URL(fileURLWithPath: "\(files)/\(name)")) }
    return try DiskMigration(folder, store, inPlace: false)
  }
}
