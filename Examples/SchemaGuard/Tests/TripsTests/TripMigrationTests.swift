import Batch
import BatchTesting
import Foundation
import Testing

@Suite("Stores of shipped versions become the newest one", .enabled(if: Trips.areReadable, "built without SwiftData"))
struct TripMigrationTests {
  @Test("Trips of each version keep their names, and get identifiers of their own", arguments: ["1.0.0", "2.0.0"])
  func migrated(version: String) async throws {
    let old = try Trips.store(of: version, rows: 40)
    defer { try? FileManager.default.removeItem(atPath: old) }
    let store = try await MigratedStore(old, models: [Trips.sources], mappings: [Trips.mappings])
    let trips = try store.objects("Trip")
    #expect(store.report.targetVersion == "3.0.0" && !trips.isEmpty)
    #expect(trips.allSatisfy { $0["title"].text != nil })
    #expect(Set(trips.compactMap { $0["id"].text }).count == trips.count)
  }
}
