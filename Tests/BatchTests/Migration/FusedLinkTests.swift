import Testing

@testable import CoreDataModel
@testable import MappingModels
@testable import MigrationJobs
@testable import Migrations
@testable import RunSupport

/// Links that are keys in one version and rows of a join table in a later one, held against the steps one after the other.
@Suite("Keys that become links of join tables, in one pass")
struct FusedLinkTests {
  static func book(_ links: [RelationshipDescription]) -> EntityDescription {
    MigrationModels.entity("Book", [MigrationModels.attribute("title")], links)
  }

  static func reader(
    _ links: [RelationshipDescription], _ more: [AttributeDescription] = []
  ) -> EntityDescription {
    MigrationModels.entity("Reader", [MigrationModels.attribute("name")] + more, links)
  }

  private static let size = [MigrationModels.attribute("size", .integer32)]

  static func books(_ name: String = "books", ordered: Bool = false) -> RelationshipDescription {
    StoreModels.link(name, "Book", "readers", many: true, ordered: ordered)
  }

  static func readers(many: Bool, inverse: String = "books") -> RelationshipDescription {
    StoreModels.link("readers", "Reader", inverse, many: many)
  }

  /// The two sides of a relationship of which only the readers' side has the name that it has in ``keys``.
  static let owners = StoreModels.link("owners", "Reader", "books", many: true)
  static let ownedBooks = StoreModels.link("books", "Book", "owners", many: true)

  /// What a book and a reader have of each other in one version.
  typealias Links = (book: [RelationshipDescription], reader: [RelationshipDescription])
  static let keys: Links = ([readers(many: false)], [books()])
  static let rows: Links = ([readers(many: true)], [books()])

  /// The plan for a store of the first version, after its pass was compared with one step after the other. The last
  /// version's readers have one attribute more.
  static func passes(_ versions: [Links]) throws -> MigrationPlan {
    try FusedMigrationTests.passes(
      FusedMigrationTests.versions(
        versions.enumerated().map { [book($1.book), reader($1.reader, $0 == versions.count - 1 ? size : [])] }))
  }

  /// In one pass and step by step, a store of the first version is refused with the same message.
  private static func refused(_ versions: [ManagedObjectModel], _ mappings: [MappingModel] = [], saying text: String)
    throws
  {
    let folder = try MigrationFolder(versions, mappings: mappings)
    var request = folder.request(try folder.sample("V1", rows: 60, seed: 1), output: try folder.place("output"))
    request.inference = .stepwise
    let errors = [true, false].map { fuses in
      request.fuses = fuses
      return #expect(throws: BatchError.self) { try folder.migrate(request) }
    }
    #expect(errors[0]?.message.contains(text) == true)
    #expect(errors[0]?.message == errors[1]?.message)
  }

  @Test("I8: keys that become rows in one of the versions take one pass, whether the last version has the links or not")
  func joined() throws {
    let (keys, rows) = (Self.keys, Self.rows)
    for path in [[keys, rows, rows], [keys, keys, rows], [keys, rows, ([], [])], [keys, keys, rows, rows]] {
      let plan = try Self.passes(path)
      #expect(plan.steps.count == 1 && plan.notes.allSatisfy { !$0.contains("needs another pass") }, "\(plan.notes)")
    }
  }

  @Test("I8: so do keys of which only one side keeps its name; the plan counts the links that a later version drops")
  func oneSide() throws {
    let novels = [StoreModels.link("novels", "Book", "readers", many: true)]
    for rows in [([Self.owners], [Self.ownedBooks]), ([Self.readers(many: true, inverse: "novels")], novels)] {
      let plans = try [rows, ([], [])].map { try Self.passes([Self.keys, rows, $0]) }
      #expect(plans.allSatisfy { $0.steps.count == 1 && $0.steps[0].passed.isEmpty }, "\(plans.map(\.notes))")
      let notes = plans.map { $0.accounts.flatMap(\.notes).joined() }
      #expect(!notes[0].contains("links of") && notes[1].contains("links of Book.readers"), "\(notes)")
    }
  }

  @Test("I8: so do the keys of relationships that get another name later")
  func renamed() throws {
    var renamed = Self.books("novels")
    renamed.renamingIdentifier = "books"
    let other: Links = ([Self.readers(many: true, inverse: "novels")], [renamed])
    #expect(try Self.passes([Self.keys, Self.rows, other]).steps.count == 1)
  }

  @Test("I8: where objects have places, a version keeps a stage or a pass of its own")
  func apart() throws {
    let placed: Links = ([Self.readers(many: false)], [Self.books(ordered: true)])
    let ordered: Links = ([Self.readers(many: true)], [Self.books(ordered: true)])
    let (keys, rows) = (Self.keys, Self.rows)
    for path in [[placed, rows, rows], [keys, rows, ordered], [keys, ordered, ordered]] {
      let plan = try Self.passes(path)
      #expect(plan.steps.count > 1 || !plan.steps[0].passed.isEmpty, "\(plan.notes)")
    }
  }

  @Test("I8: links that lead nowhere, with a sub-entity in the version between, become what they become step by step")
  func subentity() throws {
    let special = MigrationModels.entity("Special", parent: "Reader", [])
    for (first, sql) in [
      (Self.keys, "UPDATE ZBOOK SET ZREADERS = 99999 WHERE Z_PK % 7 = 0"),
      (Self.rows, "UPDATE OR IGNORE Z_1READERS SET Z_2READERS = 99999 WHERE Z_1BOOKS % 7 = 0"),
    ] {
      let versions = FusedMigrationTests.versions([
        [Self.book(first.book), Self.reader(first.reader)],
        [Self.book(Self.rows.book), Self.reader(Self.rows.reader), special],
        [Self.book(Self.rows.book), Self.reader(Self.rows.reader, Self.size)],
      ])
      let plan = try FusedMigrationTests.passes(versions) { try MigrationFolder.execute($0, sql) }
      let areKeys = plan.notes.contains { $0.contains("were keys in the version before") }
      #expect(plan.steps.count == (areKeys ? 2 : 1) && areKeys == !first.book[0].isToMany, "\(plan.notes)")
    }
  }

  @Test("A mapping model that says nothing of a sub-entity with links is refused in one pass as it is step by step")
  func forgotten() throws {
    let special = MigrationModels.entity("Special", parent: "Reader", [])
    let versions = FusedMigrationTests.versions([
      [Self.book(Self.rows.book), Self.reader(Self.rows.reader), special],
      [Self.book(Self.rows.book), Self.reader(Self.rows.reader, Self.size), special],
      [Self.book(Self.rows.book), Self.reader(Self.rows.reader, Self.size)],
    ])
    var model = MappingModel(
      name: "TwoToThree",
      entityMappings: ["Book", "Reader"].map { name in
        var mapping = EntityMapping(sourceEntity: name, destinationEntity: name)
        let (attributes, relationships) = (versions[2].attributes(of: name), versions[2].relationships(of: name))
        mapping.attributeMappings = attributes.map { PropertyMapping(name: $0.name, valueExpression: nil) }
        mapping.relationshipMappings = relationships.map { PropertyMapping(name: $0.name, valueExpression: nil) }
        return mapping
      })
    (model.sourceModelName, model.destinationModelName) = ("V2", "V3")
    try Self.refused(versions, [model], saying: "may belong to Special")
  }

  @Test("I8: links of two sub-entities that become rows of one join table keep the order that they have step by step")
  func twoSubentities() throws {
    func versions(_ last: String, areKeys: Bool) -> [ManagedObjectModel] {
      func child(_ name: String, _ links: [RelationshipDescription]) -> EntityDescription {
        MigrationModels.entity(name, parent: "Book", id: name == last ? "Comic" : nil, [], links)
      }
      func link(_ inverse: String) -> [RelationshipDescription] {
        [StoreModels.link("readers", "Reader", inverse, many: !areKeys)]
      }
      let (old, rows) = (["Comic", "Novel"], Self.rows)
      return FusedMigrationTests.versions([
        [Self.book([]), child("Comic", link("comics")), child("Novel", link("novels"))]
          + [Self.reader(old.map { StoreModels.link($0.lowercased() + "s", $0, "readers", many: true) })],
        [Self.book(rows.book), child("Comic", []), child("Novel", []), Self.reader(rows.reader)],
        [Self.book(rows.book), child(last, []), child("Novel", []), Self.reader(rows.reader, Self.size)],
      ])
    }
    for (last, areKeys) in [("Comic", true), ("Zine", true), ("Comic", false), ("Zine", false)] {
      let plan = try FusedMigrationTests.passes(versions(last, areKeys: areKeys))
      #expect(areKeys || plan.steps.count == 2 || plan.steps[0].passed.count == 1)
    }
  }

  @Test("Links that a later version gives to another relationship are refused in one pass as they are step by step")
  func crossed() throws {
    let fan = StoreModels.link("fan", "Reader", "favorites")
    let favorites = StoreModels.link("favorites", "Book", "fan", many: true)
    let given = StoreModels.link("owners", "Reader", "favorites", many: true)
    let first: Links = ([Self.readers(many: false), fan], [Self.books(), favorites])
    let between: Links = ([Self.owners, fan], [Self.ownedBooks, favorites])
    let ownersOfFavorites: Links = ([given], [StoreModels.link("favorites", "Book", "owners", many: true)])
    var formerFan = Self.owners
    formerFan.renamingIdentifier = "fan"
    let ownersOnceFans: Links = ([formerFan], [Self.ownedBooks])
    let paths: [[Links]] = [
      [first, between, ownersOfFavorites], [first, ownersOnceFans, ([], [])], [first, ownersOnceFans, ownersOnceFans],
    ]
    for path in paths {
      let versions = FusedMigrationTests.versions(path.map { [Self.book($0.book), Self.reader($0.reader)] })
      try Self.refused(versions, saying: "those links would be lost")
    }
  }

  @Test("What one step after the other refuses is refused in one pass, though the last version has no links any more")
  func refused() throws {
    let single: Links = ([Self.readers(many: false)], [StoreModels.link("books", "Book", "readers")])
    let paths: [[Links]] = [[single, Self.rows, ([], [])], [single, Self.rows, Self.rows]]
    for path in paths {
      let versions = FusedMigrationTests.versions(path.map { [Self.book($0.book), Self.reader($0.reader)] })
      try Self.refused(versions, saying: "those links would be lost")
    }
  }
}
