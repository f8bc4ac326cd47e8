import Streams
import Testing

@testable import CoreDataModel
@testable import CoreDataStore
@testable import MigrationJobs
@testable import Migrations

/// Progress knows of later steps before they begin.
@Suite("Later steps of a run")
struct LaterStepsTests {
  private let folder: MigrationFolder

  init() throws {
    folder = try MigrationFolder(
      (1...3).map { version in
        let names = (1...version).map { ("text\($0)", AttributeType.string) }
        return ManagedObjectModel(name: "V\(version)", entities: [StoreModels.entity("Note", names)])
      })
  }

  private func work(rows: UInt64, fuses: Bool = false) throws -> [Double] {
    let store = try folder.sample("V1", rows: rows, seed: rows)
    var request = folder.request(store)
    request.fuses = fuses
    let steps = try folder.job().plan(request).steps
    let reader = try StoreReader(path: store, fileSystem: LocalFileSystem(), locking: .none)
    defer { reader.close() }
    return try LaterSteps(steps, source: reader).work()
  }

  @Test("The rows of a second step are presumed: for ten times the rows of the store about ten times the work")
  func rows() throws {
    let (small, large) = (try work(rows: 2000), try work(rows: 20_000))
    #expect(small.count == 1 && large.count == 1)
    #expect(abs(large[0] / small[0] - 10) < 2, "\(small) \(large)")
  }

  @Test("A run of one step has no later ones")
  func single() throws { #expect(try work(rows: 100, fuses: true).isEmpty) }
}
