import Testing

@testable import CoreDataModel
@testable import MigrationJobs
@testable import RunSupport

/// Both sides of a one-to-one hold a key, so rules and mappings have to agree about them.
@Suite("One object of several, and the two sides of a one-to-one")
struct RuleTakeTests {
  /// Persons with several addresses, which become one.
  private static func addresses(isOrdered: Bool = false) throws -> RuleStore {
    func entities(many: Bool) -> [EntityDescription] {
      var address = StoreModels.link("address", "Address", "person", many: many)
      address.isOrdered = many && isOrdered
      return [
        StoreModels.entity("Person", [("name", .string)], [address]),
        StoreModels.entity("Address", [("city", .string)], [StoreModels.link("person", "Person", "address")]),
      ]
    }
    let places = isOrdered ? [3, 1, 2] : [nil, nil, nil]
    return try RuleStore(
      entities(many: true), entities(many: false),
      [("Person", "Z_PK, ZNAME", "1, 'a'"), ("Person", "Z_PK, ZNAME", "2, 'b'")]
        + places.enumerated().map { number, place in
          let order = place.map { (", Z_FOK_PERSON", ", \($0 * 1024)") } ?? ("", "")
          return ("Address", "Z_PK, ZCITY, ZPERSON" + order.0, "\(number + 1), 'c\(number + 1)', 1" + order.1)
        } + [("Address", "Z_PK, ZCITY", "4, 'c4'")])
  }

  private static func mapping(_ address: String, _ person: String = "null") -> String {
    """
      - from: Person
        relationships: { address: \(address) }
      - from: Address
        relationships: { person: \(person) }
    """
  }

  @Test(
    "take leads to the first or the last object, by key or in the relationship's order, and its inverse leads back",
    arguments: [
      (false, "first", 1), (false, "last", 3), (true, "first", 2), (true, "last", 1),
    ])
  func taken(isOrdered: Bool, place: String, wanted: Int) throws {
    let store = try Self.addresses(isOrdered: isOrdered)
    let result = try store.migrated(Self.mapping("{ target: $source.address, take: \(place) }"))
    #expect(
      try MigrationFolder.rows(result, "SELECT Z_PK, ZADDRESS FROM ZPERSON ORDER BY 1") == [
        "int64(1)|int64(\(wanted))", "int64(2)|null",
      ])
    #expect(
      try MigrationFolder.rows(result, "SELECT Z_PK FROM ZADDRESS WHERE ZPERSON IS NOT NULL ORDER BY 1") == [
        "int64(\(wanted))"
      ])
  }

  @Test(
    "What would lead several objects to one, or set one side alone, is refused, and the advice is taken",
    arguments: [
      // One of several, and no word which.
      ("$source.address", "null", "{ target: $source.address, take: first }"),
      ("{ target: $source.address, when: name != nil }", "null", "add take: first, or take: last"),
      ("{ target: $source.address, take: both }", "null", "take has to be first or last"),
      ("{ target: $source.address, take: first, last: true }", "null", "target goes with take and when alone"),
      // Addresses would all keep their person.
      ("null", "$source.person", "only one side would hold a key. Write null for both"),
      (
        "{ target: $source.address, take: first }", "$source.person",
        "Write person: null in the relationships of AddressToAddress: the rule sets both sides"
      ),
      ("{ undecided: which is the main one }", "null", "PersonToPerson.address is still to be decided"),
    ])
  func refused(address: String, person: String, wanted: String) throws {
    let store = try Self.addresses()
    let found = try store.failure(Self.mapping(address, person))
    #expect(found.contains(wanted), "\(found)")
    #expect(try !store.migrated(Self.mapping("null")).isEmpty)
  }

  @Test("A one-to-one is carried over on both sides, dropped on both, and refused on one", arguments: [0, 1])
  func sides(side: Int) throws {
    let entities = [
      StoreModels.entity("Person", [("name", .string)], [StoreModels.link("address", "Address", "person")]),
      StoreModels.entity("Address", [("city", .string)], [StoreModels.link("person", "Person", "address")]),
    ]
    var newer = entities
    newer[0].attributes[0].name = "title"
    let store = try RuleStore(
      entities, newer,
      [("Person", "Z_PK, ZNAME, ZADDRESS", "1, 'a', 1"), ("Address", "Z_PK, ZCITY, ZPERSON", "1, 'c', 1")])
    let sides = ["$source.address", "$source.person"]
    func keys(_ address: String, _ person: String) throws -> [String] {
      try MigrationFolder.rows(
        store.migrated(Self.mapping(address, person)),
        "SELECT ZADDRESS FROM ZPERSON UNION ALL SELECT ZPERSON FROM ZADDRESS")
    }
    #expect(try keys(sides[0], sides[1]) == ["int64(1)", "int64(1)"])
    #expect(try keys("null", "null") == ["null", "null"])
    let found = try store.failure(Self.mapping(side == 0 ? sides[0] : "null", side == 1 ? sides[1] : "null"))
    #expect(found.contains("is null: only one side would hold a key"), "\(found)")
  }

  /// A person and an address; the newer version has another name for the person's side, without a renaming identifier.
  private static func renamed(many: Bool) throws -> RuleStore {
    func entities(_ name: String, many: Bool) -> [EntityDescription] {
      [
        StoreModels.entity("Person", [("name", .string)], [StoreModels.link(name, "Address", "person", many: many)]),
        StoreModels.entity("Address", [("city", .string)], [StoreModels.link("person", "Person", name)]),
      ]
    }
    let person = ("Person", many ? "Z_PK, ZNAME" : "Z_PK, ZNAME, ZADDRESS", many ? "1, 'a'" : "1, 'a', 7")
    return try RuleStore(
      entities("address", many: many), entities("home", many: false),
      [person, ("Address", "Z_PK, ZCITY, ZPERSON", "7, 'c', 1")])
  }

  private static let sides = "SELECT ZHOME FROM ZPERSON UNION ALL SELECT ZPERSON FROM ZADDRESS"

  @Test("Inference carries both sides of a one-to-one over, also where one of them has a new name")
  func inferredSides() throws {
    let store = try Self.renamed(many: false)
    let result = try store.inferred()
    #expect(try MigrationFolder.rows(result, Self.sides) == ["int64(7)", "int64(1)"])
  }

  @Test("No mapping file sets one side of a one-to-one alone; the advice is taken")
  func oneSide() throws {
    let store = try Self.renamed(many: false)
    // By name alone, each for itself.
    let found = try store.failure("  - Person\n  - Address")
    #expect(found.contains("its inverse Person.home comes from nothing: only one side would hold a key"), "\(found)")
    #expect(found.contains("In the relationships of PersonToPerson, write home: $source.address"), "\(found)")
    let result = try store.migrated("  - from: Person\n    relationships: { home: $source.address }\n  - Address")
    #expect(try MigrationFolder.rows(result, Self.sides) == ["int64(7)", "int64(1)"])
  }

  @Test("Of several objects nobody says which one is meant: the plan says that one side stays empty, and what says it")
  func severalObjects() throws {
    let store = try Self.renamed(many: true)
    let notes = try store.folder.job().plan(store.folder.request(store.store), for: .plan).notes
    let note = try #require(notes.first { $0.contains("Person.home comes from nothing: it stays empty") }, "\(notes)")
    #expect(note.contains("home: { target: $source.address, take: first } of Person, and person: null of Address"))
    #expect(try MigrationFolder.rows(store.inferred(), Self.sides) == ["null", "int64(1)"])
    let result = try store.migrated(
      "  - from: Person\n    relationships: { home: { target: $source.address, take: first } }\n"
        + "  - from: Address\n    relationships: { person: null }")
    #expect(try MigrationFolder.rows(result, Self.sides) == ["int64(7)", "int64(1)"])
  }

  @Test("Steps in one pass leave empty what they leave empty one by one, and say the same of it")
  func severalObjectsInOnePass() throws {
    func entities(_ name: String, many: Bool, _ attributes: [(String, AttributeType)]) -> [EntityDescription] {
      [
        StoreModels.entity("Person", [("name", .string)], [StoreModels.link(name, "Address", "person", many: many)]),
        StoreModels.entity("Address", attributes, [StoreModels.link("person", "Person", name)]),
      ]
    }
    let folder = try MigrationFolder([
      ManagedObjectModel(name: "A", entities: entities("address", many: true, [("city", .string)])),
      ManagedObjectModel(name: "B", entities: entities("home", many: false, [("city", .string)])),
      ManagedObjectModel(name: "C", entities: entities("home", many: false, [("city", .string), ("zip", .string)])),
    ])
    let store = try folder.sample("A", rows: 20, seed: 3)
    let plan = try folder.job().plan(folder.request(store), for: .plan)
    #expect(plan.steps.count == 1)
    #expect(plan.notes.contains { $0.contains("Person.home comes from nothing: it stays empty") }, "\(plan.notes)")
    _ = try folder.migrate(folder.request(store))
    #expect(try MigrationFolder.rows(store, "SELECT count(ZHOME) FROM ZPERSON") == ["int64(0)"])
    #expect(try MigrationFolder.rows(store, "SELECT count(ZPERSON) > 0 FROM ZADDRESS") == ["int64(1)"])
  }

  @Test("A to-one that becomes required is told with the number of objects that have none")
  func requiredToOne() throws {
    func entities(optional: Bool) -> [EntityDescription] {
      var link = StoreModels.link("person", "Person", "addresses")
      link.isOptional = optional
      return [
        StoreModels.entity("Person", [], [StoreModels.link("addresses", "Address", "person", many: true)]),
        StoreModels.entity("Address", [("city", .string)], [link]),
      ]
    }
    let store = try RuleStore(
      entities(optional: true), entities(optional: false),
      [("Person", "Z_PK", "1"), ("Address", "Z_PK, ZPERSON", "1, 1"), ("Address", "Z_PK", "2")])
    let notes = try store.folder.job().plan(store.folder.request(store.store), for: .plan).notes
    let note = "Address.person is required in B, and 1 object has none. Core Data refuses to save such objects"
    #expect(notes.contains { $0.hasPrefix(note) }, "\(notes)")
    #expect(try !store.inferred().isEmpty)
  }
}
