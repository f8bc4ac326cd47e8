import Testing

@testable import CoreDataModel
@testable import CoreDataStore
@testable import MigrationJobs
@testable import Migrations
@testable import RunSupport

/// Several entities share a table and its links, and a mapping of one says nothing of the others'.
@Suite("Links of hierarchies whose mappings differ")
struct SharedLinkTests {
  @Test("Links that a step carries by one side alone go along in one pass as version by version")
  func oneSide() throws {
    let sides = [("A", "prev", "members"), ("B", "big", "members"), ("C", "big", "prev")]
    let folder = try MigrationFolder(
      sides.map { version, one, many in
        ManagedObjectModel(
          name: version,
          entities: [
            StoreModels.entity("Lamp", [("s", .string)], [StoreModels.link(one, "Box", many)]),
            StoreModels.entity("Box", [("t", .string)], [StoreModels.link(many, "Lamp", one, many: true)]),
          ])
      })
    let store = try folder.sample("A", rows: 0, seed: 1)
    try MigrationFolder.execute(
      store,
      "INSERT INTO ZBOX (Z_PK, Z_ENT, Z_OPT) VALUES (9, 1, 1); INSERT INTO ZLAMP (Z_PK, Z_ENT, Z_OPT, ZPREV) VALUES (1, 2, 1, 9)"
    )
    var request = folder.request(store)
    request.target = .version("C")
    #expect(try folder.migrate(request).isVerified)
    #expect(try MigrationFolder.rows(store, "SELECT ZBIG FROM ZLAMP") == ["int64(9)"])
  }

  @Test("A mapping of a sub-entity that leaves its links out does so, also where another kind goes as a whole")
  func leftOut() throws {
    let tags = StoreModels.entity("Tag", [], [StoreModels.link("media", "Media", "tags", many: true)])
    let media = StoreModels.entity("Media", [("a", .string)], [StoreModels.link("tags", "Tag", "media", many: true)])
    let kinds = ["Photo", "Video"].map { StoreModels.entity($0, parent: "Media") }
    let old = [media, tags, StoreModels.entity("Audio", parent: "Media")] + kinds
    let store = try RuleStore(old, [media, tags] + kinds, [("Tag", "Z_PK", "1")])
    for (key, kind) in [(1, "Photo"), (2, "Video"), (3, "Audio")] {
      try MigrationFolder.execute(
        store.store,
        "INSERT INTO ZMEDIA (Z_PK, Z_ENT, Z_OPT) SELECT \(key), Z_ENT, 1 FROM Z_PRIMARYKEY WHERE Z_NAME = '\(kind)'")
    }
    let join = try #require(StoreModels.layout(old).joinTables.first)
    let isSource = join.relationship.entity == "Media"
    for key in 1...3 {
      try MigrationFolder.execute(
        store.store,
        "INSERT INTO \(join.name) (\(isSource ? join.sourceColumn : join.destinationColumn), "
          + "\(isSource ? join.destinationColumn : join.sourceColumn)) VALUES (\(key), 1)")
    }
    let rest = "  - Media\n  - Tag\n  - Photo\n  - remove: [Audio]\n  - Video\n"
    #expect(try Self.count(store.migrated(rest), in: [media, tags] + kinds) == 2)
    let without = rest.replacing("  - Video\n", with: "  - from: Video\n    relationships: { tags: null }\n")
    #expect(try Self.count(store.migrated(without), in: [media, tags] + kinds) == 1)
  }

  @Test("What a rule of a sub-entity decides is not told as carried by the other side")
  func decided() throws {
    let entities = [
      StoreModels.entity("Owner", [("n", .integer32)], [StoreModels.link("u", "Item", "xs")]),
      StoreModels.entity("Chief", parent: "Owner"),
      StoreModels.entity("Item", [], [StoreModels.link("xs", "Owner", "u", many: true)]),
    ]
    let store = try RuleStore(
      entities, entities + [StoreModels.entity("More", [("a", .string)])],
      [("Item", "Z_PK", "1"), ("Owner", "Z_PK, ZN, ZU", "1, 1, 1"), ("Owner", "Z_PK, ZN, ZU", "2, 2, 1")])
    try MigrationFolder.execute(
      store.store,
      "UPDATE ZOWNER SET Z_ENT = (SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = 'Chief') WHERE Z_PK = 2")
    let rule = "  - from: Chief\n    relationships: { u: { target: $source.u, when: \"n > 100\" } }\n"
    let report = try store.folder.migrate(store.request("  - Item\n  - Owner\n" + rule))
    let lines = try #require(report.accounts.first?.versions.first?.lines.filter { $0.name == "u" })
    #expect(lines.map(\.path) == ["Chief.u", "Owner.u"] && lines.map(\.fate) == [.computed, .carried], "\(lines)")
    #expect(lines.map(\.count) == [1, 1], "\(lines)")
  }

  private static func count(_ path: String, in model: [EntityDescription]) throws -> Int {
    let join = try #require(StoreModels.layout(model).joinTables.first)
    return try MigrationFolder.rows(path, "SELECT * FROM \(join.name)").count
  }

  @Test("One mapping of a hierarchy that takes over other links than the inverse is refused")
  func oneOfThem() throws {
    let user = ["books", "edits"].map {
      StoreModels.link($0, "Book", $0 == "books" ? "owner" : "ed", many: true)
    }
    let book = [StoreModels.link("owner", "User", "books"), StoreModels.link("ed", "User", "edits")]
    let entities = [
      StoreModels.entity("Book", [], book), StoreModels.entity("EBook", parent: "Book"),
      StoreModels.entity("User", [], user),
    ]
    let store = try RuleStore(entities, entities + [StoreModels.entity("More", [("a", .string)])], [])
    let failure = try store.failure("  - Book\n  - from: EBook\n    relationships: { owner: $source.ed }\n  - User")
    #expect(
      failure.contains("User.books takes over User.books, and its inverse EBook.owner takes over ed"), "\(failure)")
  }
}
