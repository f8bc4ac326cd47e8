import Testing

@testable import CoreDataModel
@testable import CoreDataStore
@testable import MigrationJobs
@testable import Migrations
@testable import RunSupport

/// Both sides of a relationship say which links they take over. Where they say different things, one side's links would
/// be lost: carried, as the account says, and verified.
@Suite("Relationships whose sides take over different links")
struct InverseSideTests {
  private typealias Links = [RelationshipDescription]

  private static func model(_ name: String, _ car: Links, _ own: Links, _ truck: Links? = nil) -> [EntityDescription] {
    [StoreModels.entity(name, [("a", .string)], car), StoreModels.entity("Own", [("n", .string)], own)]
      + (truck.map { [StoreModels.entity("Truck", [("a", .string)], $0)] } ?? [])
  }

  private static func rows(_ entities: String...) -> [(entity: String, columns: String, values: String)] {
    entities.flatMap { entity in (1...3).map { (entity: entity, columns: "Z_PK", values: "\($0)") } }
  }

  /// Adds rows to the join tables of a store.
  private static func link(_ store: RuleStore, _ old: [EntityDescription], _ pairs: [(Int, Int)]) throws {
    for join in try StoreModels.layout(old).joinTables {
      for (source, destination) in pairs {
        try MigrationFolder.execute(
          store.store,
          "INSERT INTO \(join.name) (\(join.sourceColumn), \(join.destinationColumn)) VALUES (\(source), \(destination))"
        )
      }
    }
  }

  private static func links(_ path: String, _ new: [EntityDescription]) throws -> Int {
    try StoreModels.layout(new).joinTables.reduce(0) {
      try $0 + MigrationFolder.rows(path, "SELECT * FROM \($1.name)").count
    }
  }

  @Test("Entities that come together keep the links of each, as soon as one side says all of them")
  func merged() throws {
    let old = Self.model(
      "Car", [StoreModels.link("own", "Own", "cars", many: true)],
      [StoreModels.link("cars", "Car", "own", many: true), StoreModels.link("trucks", "Truck", "own", many: true)],
      [StoreModels.link("own", "Own", "trucks", many: true)])
    let new = Self.model(
      "Vehicle", [StoreModels.link("own", "Own", "vehicles", many: true)],
      [StoreModels.link("vehicles", "Vehicle", "own", many: true)])
    let store = try RuleStore(old, new, Self.rows("Car", "Truck", "Own"))
    try Self.link(store, old, [(1, 1), (2, 1)])
    let merge = "  - from: [Car, Truck]\n    to: Vehicle\n  - from: Own\n    relationships: { vehicles: "
    let failure = try store.failure(merge + "$source.cars }")
    #expect(
      failure.contains("Own.vehicles takes over Own.cars, and its inverse Vehicle.own takes over Truck.own, too")
        && failure.contains("write vehicles: null for Own.vehicles"), "\(failure)")
    #expect(try Self.links(store.migrated(merge + "null }"), new) == 4)
  }

  @Test("A to-one that takes over another relationship leaves out the links of its inverse only if that says so")
  func replaced() throws {
    let user = [
      StoreModels.link("books", "Book", "owner", many: true), StoreModels.link("edits", "Book", "ed", many: true),
    ]
    let book = [StoreModels.link("owner", "User", "books"), StoreModels.link("ed", "User", "edits")]
    let entities = [StoreModels.entity("Book", [], book), StoreModels.entity("User", [], user)]
    let store = try RuleStore(
      entities, entities + [StoreModels.entity("More", [("a", .string)])],
      [("Book", "Z_PK, ZOWNER, ZED", "1, 1, 2"), ("User", "Z_PK", "1"), ("User", "Z_PK", "2")])
    let file = "  - from: Book\n    relationships: { owner: $source.ed }\n  - from: User\n"
    let failure = try store.failure(file)
    #expect(
      failure.contains("User.books takes over User.books, and its inverse Book.owner takes over ed")
        && failure.contains("write books: null in the relationships of UserToUser"), "\(failure)")
    let result = try store.migrated(file + "    relationships: { books: null }")
    #expect(try MigrationFolder.rows(result, "SELECT ZOWNER, ZED FROM ZBOOK") == ["int64(2)|int64(2)"])
  }

  @Test("A to-many that had no inverse and gets one is noted: applications that mend their models do that")
  func mended() throws {
    let old = Self.model(
      "Car", [StoreModels.link("own", "Own", nil)], [StoreModels.link("cars", "Car", nil, many: true)])
    let new = Self.model(
      "Car", [StoreModels.link("own", "Own", "cars")], [StoreModels.link("cars", "Car", "own", many: true)])
    let store = try RuleStore(old, new, Self.rows("Car", "Own"))
    let request = store.folder.request(try store.folder.copy(store.store, as: "mended"))
    let report = try store.folder.migrate(request)
    #expect(report.notes.contains { $0.contains("Own.cars had no inverse") }, "\(report.notes)")
  }

  private static func pair(_ first: (String, String, Bool), _ second: (String, String, Bool)) -> [EntityDescription] {
    [
      StoreModels.entity(
        "T", [("a", .string)],
        [first, second].map { StoreModels.link($0.0, "T", $0.1, many: $0.2) })
    ]
  }

  @Test(
    "Links in one direction do not become those of a relationship that is its own inverse",
    arguments: [(true, true), (false, false), (false, true)])
  func ownInverse(_ shape: (Bool, Bool)) throws {
    let old = Self.pair(("f", "g", shape.0), ("g", "f", shape.1))
    let new = [StoreModels.entity("T", [("a", .string)], [StoreModels.link("f", "T", "f", many: shape.0)])]
    let store = try RuleStore(old, new, Self.rows("T"))
    #expect {
      try store.inferred()
    } throws: {
      "\($0)".contains("T.f is its own inverse") || "\($0)".contains("only one side would hold a key")
    }
    let text = try store.failure("  - T")
    #expect(text.lowercased().contains("write f: null"), "\(text)")
    _ = try store.migrated("  - from: T\n    relationships: { f: null }")
  }

  @Test("One-to-one relationships whose sides are exchanged on one side only are refused, not a fault of the tool")
  func exchanged() throws {
    func entities(_ renames: Bool) -> [EntityDescription] {
      var links = [StoreModels.link("x", "U", "p"), StoreModels.link("y", "U", "q")]
      if renames { (links[0].renamingIdentifier, links[1].renamingIdentifier) = ("y", "x") }
      return [
        StoreModels.entity("T", renames ? [("a", .string)] : [], links),
        StoreModels.entity("U", [], [StoreModels.link("p", "T", "x"), StoreModels.link("q", "T", "y")]),
      ]
    }
    let store = try RuleStore(
      entities(false), entities(true),
      [("T", "Z_PK, ZX, ZY", "1, 1, 2"), ("U", "Z_PK, ZP", "1, 1"), ("U", "Z_PK, ZQ", "2, 1")])
    #expect {
      try store.inferred()
    } throws: {
      "\($0)".contains("only one side would hold a key")
    }
  }

  @Test("An expression that names no entity mapping, or one of other objects, is refused with those that fit")
  func named() throws {
    let old = Self.model(
      "Car", [StoreModels.link("own", "Own", "cars")], [StoreModels.link("cars", "Car", "own", many: true)])
    let store = try RuleStore(old, old + [StoreModels.entity("More")], Self.rows("Car", "Own"))
    try MigrationFolder.execute(store.store, "UPDATE ZCAR SET ZOWN = 1")
    func file(_ name: String) -> String {
      "  - from: Car\n    relationships:\n      own: 'FUNCTION($manager, "
        + "\"destinationInstancesForEntityMappingNamed:sourceInstances:\", \"\(name)\", $source.own)'\n  - Own"
    }
    for (name, words) in [("Nope", "which the step does not have"), ("CarToCar", "which makes no such objects of Own")]
    {
      let failure = try store.failure(file(name))
      #expect(
        failure.contains("names the entity mapping \(name), \(words)") && failure.contains("for Own: OwnToOwn"),
        "\(failure)")
    }
    let result = try store.migrated(file("OwnToOwn"))
    #expect(try MigrationFolder.rows(result, "SELECT DISTINCT ZOWN FROM ZCAR") == ["int64(1)"])
  }

  @Test(
    "A side that takes over the links, and one that a rule sets, are refused: each would leave out some of the other's")
  func ruled() throws {
    for (many, back) in [(false, false), (true, false), (true, true)] {
      let links = [StoreModels.link("x", "Own", "u", many: many)]
      let old = Self.model("Item", links, [StoreModels.link("u", "Item", "x", many: back)])
      let store = try RuleStore(old, old + [StoreModels.entity("More")], Self.rows("Item", "Own"))
      // What is found comes to the links of a join table.
      let found = many && back ? [] : ["{ find: Own, by: { n: $source.a } }"]
      for rule in found + ["{ target: $source.x, when: \"a == 'x'\" }"] {
        let item = "  - from: Item\n    relationships: { x: \(rule) }\n"
        let failure = try store.failure("  - Own\n" + item)
        #expect(
          failure.contains("Own.u is carried over for each object, and a rule")
            && failure.contains("u: null in the relationships of OwnToOwn"), "\(many) \(back) \(failure)")
        _ = try store.migrated("  - from: Own\n    relationships: { u: null }\n" + item)
      }
    }
  }

  @Test("An expression that calls a policy which the mapping does not name is refused before anything is read")
  func unnamedPolicy() throws {
    let old = [StoreModels.entity("Item", [("a", .string)])]
    let store = try RuleStore(old, old + [StoreModels.entity("More")], [])
    let failure = try store.failure(
      "  - from: Item\n    attributes: { a: 'FUNCTION($entityPolicy, \"name:\", $source.a)' }")
    #expect(failure.contains("calls name: of the policy, and the entity mapping names none"), "\(failure)")
  }

  @Test("Links that several mappings read count once, and are left out where none of them takes them")
  func counted() throws {
    func model() -> [EntityDescription] {
      [
        StoreModels.entity("Media", [("kind", .string)], [StoreModels.link("tags", "Tag", "media", many: true)]),
        StoreModels.entity("Tag", [("n", .string)], [StoreModels.link("media", "Media", "tags", many: true)]),
      ]
    }
    let old = model()
    let store = try RuleStore(old, old + [StoreModels.entity("More")], Self.rows("Media", "Tag"))
    try MigrationFolder.execute(store.store, "UPDATE ZMEDIA SET ZKIND = iif(Z_PK = 3, 'v', 'p')")
    try Self.link(store, old, [(1, 1), (1, 2), (2, 1), (2, 2), (3, 1), (3, 2)])
    let photos = "  - { name: P, from: Media, to: Media, filter: 'kind == \"p\"' }\n"
    let all = "  - { name: V, from: Media, to: Media }\n"
    let videos = "  - { name: V, from: Media, to: Media, filter: 'kind == \"v\"' }\n"
    for (file, leftOut, written) in [
      (photos + all, 0, 10), (photos + videos, 0, 6), (photos, 2, 4),
      (photos + photos.replacing("name: P", with: "name: Q"), 2, 8),
    ] {
      let report = try store.folder.migrate(store.request(file + "  - Tag\n"))
      let links = try #require(report.accounts.first?.links.first)
      #expect(
        links.read == 6 && links.leftOut == UInt64(leftOut) && links.written == UInt64(written), "\(file) \(links)")
      let line = try #require(report.accounts.first?.versions.first?.lines.first { $0.path == "Media.tags" })
      #expect(line.count == 6 && line.leftOut ?? 0 == UInt64(leftOut), "\(file) \(line)")
    }
  }

  @Test("Objects of an entity that becomes abstract are not dropped unless a mapping file says so")
  func placeless() throws {
    var parent = StoreModels.entity("P", [("x", .string)])
    let child = StoreModels.entity("Q", parent: "P", [("y", .string)])
    let old = [parent, child]
    parent.isAbstract = true
    let store = try RuleStore(old, [parent, child], [("P", "Z_PK", "1")])
    let failure = try store.failure("  - Q")
    #expect(failure.contains("P may have objects of its own, and is abstract in B"), "\(failure)")
    #expect(try MigrationFolder.rows(store.migrated("  - Q\n  - remove: [P]"), "SELECT * FROM ZP").isEmpty)
    let kept = try store.migrated("  - Q\n  - { from: P, to: Q }")
    #expect(try MigrationFolder.rows(kept, "SELECT Z_PK FROM ZP").count == 1)
  }
}
