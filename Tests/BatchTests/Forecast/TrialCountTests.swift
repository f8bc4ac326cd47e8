import Streams
import Testing

@testable import CoreDataModel
@testable import CoreDataStore
@testable import Migrations
@testable import RunSupport

/// A plan takes no longer for tables that nobody migrates.
@Suite("Counting in a trial")
struct TrialCountTests {
  private let folder: MigrationFolder

  init() throws {
    let user = StoreModels.entity("User", [("name", .string)])
    let gone = StoreModels.entity("Gone", [("name", .string)])
    folder = try MigrationFolder([
      ManagedObjectModel(name: "V1", entities: [user, gone]), ManagedObjectModel(name: "V2", entities: [user]),
    ])
  }

  @Test("A run counts every object that no mapping reads, a trial those of the first page, and tells the time of all")
  func part() throws {
    let store = try folder.sample("V1", rows: 20_000, seed: 3)
    let step = try #require(try folder.job().plan(folder.request(store)).steps.first)
    let reader = try StoreReader(path: store, fileSystem: LocalFileSystem(), locking: .none)
    defer { reader.close() }
    let files = StepFiles(prefix: folder.path + "/trial", fileSystem: LocalFileSystem(), budget: .standard)
    let plan = try StepPlan(step: step, reader: reader, policies: folder.policies, files: files, now: 0)
    let whole = try VersionCount(plan, StepState(plan: plan))
    #expect(whole.unread == 10_000)
    let part = try VersionCount(plan, StepState(plan: plan), sample: .init(rows: [:], bytes: 1))
    #expect(part.unread > 0 && part.unread < whole.unread / 2, "\(part.unread)")
    #expect(part.seconds > 0)
  }
}
