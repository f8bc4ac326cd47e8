import Testing

@testable import CoreDataModel
@testable import MigrationJobs
@testable import Migrations

/// Links that a version between would have, held against the steps one after the other.
@Suite("Links of versions between, in one pass")
struct FusedLinkTests {
  /// A book's one reader becomes several in V2. V3 has them (`kept`) or not.
  private static func readers(kept: Bool) -> [ManagedObjectModel] {
    func book(_ links: [RelationshipDescription]) -> EntityDescription {
      MigrationModels.entity("Book", [MigrationModels.attribute("title")], links)
    }
    func reader(_ links: [RelationshipDescription], _ more: [AttributeDescription] = []) -> EntityDescription {
      MigrationModels.entity("Reader", [MigrationModels.attribute("name")] + more, links)
    }
    let many = StoreModels.link("books", "Book", "readers", many: true)
    let readers = StoreModels.link("readers", "Reader", "books", many: true)
    let old = StoreModels.link("readers", "Reader", "books")
    let size = [MigrationModels.attribute("size", .integer32)]
    return FusedMigrationTests.versions([
      [book([old]), reader([many])], [book([readers]), reader([many])],
      [book(kept ? [readers] : []), reader(kept ? [many] : [], size)],
    ])
  }

  @Test("Links that a version between would make of keys, and that the next one drops, need no pass of their own")
  func linksThatNobodyReads() throws {
    let dropped = try FusedMigrationTests.passes(Self.readers(kept: false))
    #expect(dropped.steps.count == 1 && dropped.notes.allSatisfy { !$0.contains("needs another pass") })
    let kept = try FusedMigrationTests.passes(Self.readers(kept: true))
    #expect(kept.steps.count == 2 && kept.notes.contains { $0.contains("were keys in the version before") })
  }
}
