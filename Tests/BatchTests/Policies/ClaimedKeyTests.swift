import Testing

@testable import CoreDataModel
@testable import Migrations

/// A key in the other object's row leads to one object; a rule that gives it to two would leave out a link, and nobody
/// would know.
@Suite("Rules that link two objects with one whose inverse is a to-one")
struct ClaimedKeyTests {
  /// Vehicles with what they are to lead to, and owners with a code each.
  private static func store(leadsToMany: Bool, backToMany: Bool, _ wanted: [String]) throws -> RuleStore {
    func model(_ links: [RelationshipDescription], _ inverse: [RelationshipDescription]) -> [EntityDescription] {
      [
        StoreModels.entity("Vehicle", [("ref", .string)], links),
        StoreModels.entity("Owner", [("code", .string)], inverse),
      ]
    }
    let new = model(
      [StoreModels.link("lead", "Owner", "back", many: leadsToMany)],
      [StoreModels.link("back", "Vehicle", "lead", many: backToMany)])
    let vehicles = wanted.enumerated().map {
      (entity: "Vehicle", columns: "Z_PK, ZREF", values: "\($0 + 1), '\($1)'")
    }
    let owners = ["k", "l"].enumerated().map {
      (entity: "Owner", columns: "Z_PK, ZCODE", values: "\($0 + 1), '\($1)'")
    }
    return try RuleStore(model([], []), new, vehicles + owners)
  }

  private static let found = """
      - Owner
      - from: Vehicle
        relationships: { lead: { find: Owner, by: { code: $source.ref } } }
    """
  private static let linked = """
      - Owner
      - from: Vehicle
        objects: [{ findOrCreate: Owner, by: { code: $source.ref }, link: lead }]
    """

  @Test(
    "Two objects that find one are refused with both keys, of a one-to-one and of a to-many", arguments: [false, true])
  func refused(leadsToMany: Bool) throws {
    for rules in [Self.found, Self.linked] {
      let store = try Self.store(leadsToMany: leadsToMany, backToMany: false, ["k", "l", "k"])
      let failure = try store.failure(rules)
      #expect(
        failure.contains("Vehicle.lead of the objects with the keys 1 and 3 leads to it, and its inverse Owner.back")
          && failure.contains("make Owner.back a to-many relationship"), "\(failure)")
    }
  }

  @Test("Each object that is found once is linked from both sides", arguments: [false, true])
  func once(leadsToMany: Bool) throws {
    for rules in [Self.found, Self.linked] {
      let store = try Self.store(leadsToMany: leadsToMany, backToMany: false, ["l", "k", "none"])
      let result = try store.migrated(rules)
      let rows = try MigrationFolder.rows(result, "SELECT ZREF, ZCODE FROM ZOWNER JOIN ZVEHICLE v ON v.Z_PK = ZBACK")
      #expect(Set(rows).isSuperset(of: [#"string("k")|string("k")"#, #"string("l")|string("l")"#]), "\(rows)")
    }
  }

  @Test("With a to-many as inverse, as the error advises, both objects have it")
  func advised() throws {
    let store = try Self.store(leadsToMany: false, backToMany: true, ["k", "l", "k"])
    for rules in [Self.found, Self.linked] {
      let rows = try MigrationFolder.rows(store.migrated(rules), "SELECT ZREF FROM ZVEHICLE WHERE ZLEAD IS NOT NULL")
      #expect(rows.count == 3, "\(rows)")
    }
  }
}
