import Testing

@testable import CoreDataModel
@testable import MigrationJobs
@testable import Migrations

/// What is left out and what is emptied is said with its count before it happens.
@Suite("What a plan says of removals, filters and null")
struct PlannedRemovalTests {
  private static func tasks() throws -> RuleStore {
    let entities = [
      StoreModels.entity("Task", [("name", .string), ("gone", .date)], [StoreModels.link("owner", "Owner", "tasks")]),
      StoreModels.entity("Owner", [("name", .string)], [StoreModels.link("tasks", "Task", "owner", many: true)]),
    ]
    var newer = entities
    newer[0].attributes.append(AttributeDescription(name: "rank", type: .integer16))
    return try RuleStore(
      entities, newer,
      [("Owner", "Z_PK, ZNAME", "1, 'o'")]
        + (1...5).map { number in
          ("Task", "Z_PK, ZNAME, ZGONE, ZOWNER", "\(number), 't', \(number <= 2 ? "1" : "NULL"), 1")
        })
  }

  private static func account(_ entities: String) throws -> VersionAccount {
    let store = try tasks()
    let plan = try store.folder.job().plan(store.request(entities), for: .plan)
    return try #require(plan.accounts.first)
  }

  @Test("A removal and a filter are counted, with the values of their objects and the reason")
  func leftOut() throws {
    let removal = try Self.account(
      "  - from: Task\n    remove: { when: gone != nil, reason: the server has them }\n  - Owner")
    #expect(removal.balance?.contains("6 objects (4 carried, 2 left out), 8 values (4 carried, 4 left out)") == true)
    #expect(removal.notes.contains("A to B leaves out 2 objects of Task (the server has them)"), "\(removal.notes)")
    let none = try Self.account("  - from: Task\n    remove: { when: \"name == 'x'\" }\n  - Owner")
    #expect(none.balance?.contains("6 objects (6 carried)") == true)
    #expect(!none.notes.contains { $0.contains("leaves out") })
  }

  @Test("What a mapping file says has no value is dropped, and not replaced")
  func null() throws {
    let account = try Self.account("  - from: Task\n    attributes: { gone: null }\n  - Owner")
    #expect(account.notes.contains("A to B drops 2 values of Task.gone"), "\(account.notes)")
    #expect(account.balance?.contains("replaced") == false)
  }
}
