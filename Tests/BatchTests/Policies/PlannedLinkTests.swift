import Foundation
import Testing

@testable import CoreDataModel
@testable import MigrationJobs
@testable import Migrations

/// Links that go with what is left out are told with their counts before they go.
@Suite("What a plan says of links to objects that are left out")
struct PlannedLinkTests {
  private static func model(_ name: String) -> ManagedObjectModel {
    ManagedObjectModel(
      name: name,
      entities: [
        StoreModels.entity(
          "Shelf", [("name", .string)],
          [
            StoreModels.link("items", "Item", "shelf", many: true, ordered: true),
            StoreModels.link("loose", "Item", nil, many: true), StoreModels.link("owner", "Owner", "shelf"),
          ]),
        StoreModels.entity("Owner", [("name", .string)], [StoreModels.link("shelf", "Shelf", "owner")]),
        StoreModels.entity(
          "Item", [("title", .string)] + (name == "A" ? [] : [("note", .string)]),
          [
            StoreModels.link("shelf", "Shelf", "items"), StoreModels.link("next", "Item", nil),
            StoreModels.link("similar", "Item", "similar", many: true),
          ]),
        StoreModels.entity("Book", parent: "Item", [], [StoreModels.link("tags", "Tag", "books", many: true)]),
        StoreModels.entity("Film", parent: "Item", [], []),
        StoreModels.entity("Tag", [("word", .string)], [StoreModels.link("books", "Book", "tags", many: true)]),
      ])
  }

  private static func request(_ entities: String, _ folder: MigrationFolder) throws -> MigrationJob.Request {
    let store = try folder.sample("A", rows: 900, seed: 4)
    for (table, column) in [("SHELF", "NAME"), ("OWNER", "NAME"), ("ITEM", "TITLE"), ("TAG", "WORD")] {
      try MigrationFolder.execute(store, "UPDATE Z\(table) SET Z\(column) = Z_PK % 3")
    }
    let file = "\(folder.path)/rules.yaml"
    try Data("from: A\nto: B\nentities:\n\(entities)\n".utf8).write(to: URL(fileURLWithPath: file))
    var request = folder.request(store)
    request.mappings = [file]
    return request
  }

  @Test(
    "A plan counts the links that go with removed objects and those that lead to them, as the run then does",
    arguments: [
      "  - from: [Shelf, Owner, Tag, Film]\n  - from: [Item, Book]\n    remove: { when: \"title == '1'\", reason: old }",
      "  - from: [Item, Owner, Tag, Film, Book]\n  - from: Shelf\n    relationships: { loose: null }\n"
        + "    remove: { when: \"name == '1'\", reason: old }",
      "  - from: [Item, Shelf, Film, Book]\n  - from: Owner\n    remove: { when: \"name == '2'\", reason: old }\n"
        + "  - from: Tag\n    remove: { when: \"word == '2'\", reason: old }",
      "  - from: [Item, Shelf, Owner, Tag, Book]\n  - remove: Film",
      "  - from: [Item, Shelf, Owner, Tag, Film]\n  - remove: Book",
    ])
  func counted(entities: String) throws {
    let folder = try MigrationFolder([Self.model("A"), Self.model("B")])
    let request = try Self.request(entities, folder)
    let plan = try folder.job().plan(request, for: .plan)
    let foretold = try #require(plan.accounts.first)
    let report = try folder.migrate(request)
    let account = try #require(report.accounts.first?.versions.first)
    #expect(foretold.balance == account.balance)
    let links = foretold.lines.filter { $0.kind == .relationship && $0.holdsData }
    for line in links {
      let found = try #require(account.lines.first { $0.kind == .relationship && $0.path == line.path })
      #expect(
        [line.count, line.leftOut, line.cleared].map { $0 ?? 0 }
          == [found.count, found.leftOut, found.cleared].map { $0 ?? 0 },
        "\(line.path)")
    }
    #expect(links.contains { ($0.cleared ?? 0) + ($0.leftOut ?? 0) > 0 })
    for line in links where line.cleared ?? 0 > 0 {
      #expect(plan.notes.contains { $0.contains("of \(line.path) lead") && $0.hasSuffix("cleared") }, "\(plan.notes)")
    }
  }
}
