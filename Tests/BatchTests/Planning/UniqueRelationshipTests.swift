import Testing

@testable import CoreDataModel
@testable import MigrationJobs
@testable import Migrations

@Suite("New uniqueness constraints over relationships")
struct UniqueRelationshipTests {
  @Test(
    "Objects with the same value and the same object are found before anything is written; those with none are not equal"
  )
  func found() throws {
    let old = [
      StoreModels.entity("Doc", [("n", .integer64)], [StoreModels.link("owner", "Owner", "docs")]),
      StoreModels.entity("Owner", [("name", .string)], [StoreModels.link("docs", "Doc", "owner", many: true)]),
    ]
    var new = old
    new[0].uniquenessConstraints = [["n", "owner"]]
    func store(_ owners: [String]) throws -> RuleStore {
      try RuleStore(
        old, new,
        [("Owner", "Z_PK, ZNAME", "1, 'a'"), ("Owner", "Z_PK, ZNAME", "2, 'b'")]
          + owners.enumerated().map { ("Doc", "Z_PK, ZN, ZOWNER", "\($0 + 1), 7, \($1)") })
    }
    let equal = try store(["1", "2", "1"])
    let request = equal.folder.request(equal.store)
    let error = try #require(throws: (any Error).self) { _ = try equal.folder.job().plan(request) }
    #expect("\(error)".contains("1 object has the same n, owner as another one (3 as 1)"), "\(error)")
    let fitting = try store(["1", "2", "NULL", "NULL"])
    #expect(try fitting.folder.migrate(fitting.folder.request(fitting.store)).isVerified)
  }
}
