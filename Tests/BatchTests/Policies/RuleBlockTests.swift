import Foundation
import Testing

@testable import CoreDataModel
@testable import MigrationJobs
@testable import Migrations
@testable import RunSupport

@Suite("Conditions, removals and blocks of mapping files")
struct RuleBlockTests {
  private static let notes = [
    StoreModels.entity(
      "Note", [("title", .string), ("rank", .integer16), ("kind", .string)],
      [StoreModels.link("parent", "Note", "children"), StoreModels.link("children", "Note", "parent", many: true)]),
    StoreModels.entity("Draft", [("title", .string)]),
  ]

  private func notes() throws -> RuleStore {
    var later = Self.notes[0]
    later.attributes.append(AttributeDescription(name: "label", type: .string))
    return try RuleStore(
      Self.notes, [later],
      [
        ("Note", "Z_PK, ZTITLE, ZRANK, ZKIND", "1, 'a', 1, 'x'"),
        ("Note", "Z_PK, ZTITLE, ZRANK, ZKIND", "2, 'b', 5, 'x'"),
        ("Note", "Z_PK, ZTITLE, ZRANK, ZKIND, ZPARENT", "3, NULL, 9, 'y', 1"),
        ("Note", "Z_PK, ZTITLE, ZRANK, ZPARENT", "4, 'd', NULL, 2"), ("Draft", "Z_PK, ZTITLE", "1, 'e'"),
      ])
  }

  @Test("An attribute with when has the rule's value if the predicate holds, else what it has without the rule")
  func conditions() throws {
    let rules = try notes()
    let path = try rules.migrated(
      """
        - { remove: Draft }
        - from: Note
          attributes:
            title: { expression: uppercase($source.title), when: rank > 1 }
            label: { value: high, when: rank > 4 }
          relationships:
            parent: { target: $source.parent, when: rank == nil }
            children: null
      """)
    #expect(
      try MigrationFolder.rows(path, "SELECT Z_PK, ZTITLE, ZLABEL, ZPARENT FROM ZNOTE ORDER BY 1") == [
        "int64(1)|string(\"a\")|null|null", "int64(2)|string(\"B\")|string(\"high\")|null",
        "int64(3)|null|string(\"high\")|null", "int64(4)|string(\"d\")|null|int64(2)",
      ])
  }

  @Test("Removed objects are counted with their reason, need no consent, and the account says why an entity is dropped")
  func removals() throws {
    let rules = try notes()
    var request = try rules.request(
      """
        - { remove: Draft, reason: the application writes them again }
        - from: Note
          remove:
            - { when: title == nil, reason: notes without title cannot be opened }
            - { when: rank > 4, reason: high ranks are gone }
      """)
    request.consent = LossConsent()
    let report = try rules.folder.migrate(request)
    #expect(try MigrationFolder.rows(request.source, "SELECT Z_PK FROM ZNOTE ORDER BY 1") == ["int64(1)", "int64(4)"])
    for reason in ["notes without title cannot be opened", "high ranks are gone"] {
      #expect(
        report.notes.contains { $0.contains("1 of 4 objects of Note was left out by remove: \(reason)") },
        "\(report.notes)")
    }
    #expect(
      report.notes.contains { $0.contains("drops 1 object of Draft (the application writes them again)") },
      "\(report.notes)")
    var silent = try rules.request("  - { remove: Draft }\n  - { from: Note, filter: rank < 5 }")
    silent.consent = LossConsent()
    #expect(throws: BatchError.self) { try rules.folder.migrate(silent) }
  }

  private func garage(_ more: [(String, AttributeType)]) -> [EntityDescription] {
    var car = StoreModels.entity("Car", [("name", .string)] + more)
    car.isAbstract = true
    return [
      car, StoreModels.entity("Sport", parent: "Car"), StoreModels.entity("Luxury", parent: "Car"),
      StoreModels.entity("Truck", parent: "Car"), StoreModels.entity("Boat", [("name", .string)] + more),
      StoreModels.entity("Plane", [("name", .string)] + more),
    ]
  }

  @Test("One block serves several entities, and sub-entities that nothing else names")
  func blocks() throws {
    let names = ["Sport", "Luxury", "Truck"]
    let rules = try RuleStore(
      garage([]), garage([("id", .uuid), ("label", .string)]),
      [("Boat", "Z_PK, ZNAME", "1, 'b'"), ("Plane", "Z_PK, ZNAME", "1, 'p'")])
    for (key, name) in names.enumerated() {
      let number = "(SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = '\(name)')"
      try MigrationFolder.execute(
        rules.store, "INSERT INTO ZCAR (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (\(key + 1), \(number), 1, '\(name)')")
    }
    let attributes = "attributes: { id: { uuid: repeatable }, label: uppercase($source.name) }"
    let path = try rules.migrated(
      """
        - { from: Truck, attributes: { label: { value: heavy } } }
        - { from: Car, subentities: true, \(attributes) }
        - { from: [Boat, Plane], \(attributes) }
      """)
    let sql = "SELECT ZLABEL, ZID IS NULL FROM"
    #expect(
      try MigrationFolder.rows(path, "\(sql) ZCAR ORDER BY Z_PK") == [
        "string(\"SPORT\")|int64(0)", "string(\"LUXURY\")|int64(0)", "string(\"heavy\")|int64(1)",
      ])
    #expect(
      try MigrationFolder.rows(path, "\(sql) ZBOAT UNION ALL \(sql) ZPLANE") == [
        "string(\"B\")|int64(0)", "string(\"P\")|int64(0)",
      ])
  }

  @Test(
    "What blocks and conditions do not take is refused with what to write",
    arguments: [
      ("{ from: [Note, Draft], to: [Note, Draft, Draft] }", "from names 2 entities, and to 3"),
      ("{ from: [Note, Draft], name: Both }", "Leave name out"),
      ("{ from: Note, reason: x }", "reason goes with remove"),
      ("{ from: Note, remove: { reason: x } }", "a removal needs when"),
      ("{ to: Note, subentities: true }", "Add the key from"),
      (
        "{ from: Note, attributes: { title: { join: [{ value: a, when: rank > 1 }] } } }",
        "write { if: …, then: …, else: … }"
      ),
      (
        "{ from: Note, relationships: { parent: { target: $source.parent, find: Note } } }",
        "target goes with take and when alone"
      ),
      ("{ from: Note, attributes: { title: { value: a, when: $item.rank > 1 } } }", "$item, which is nothing here"),
    ])
  func refused(entity: String, wanted: String) throws {
    let rules = try notes()
    let found = try rules.failure("  - \(entity)\n  - { remove: Draft }")
    #expect(found.contains(wanted), "\(found)")
  }
}
