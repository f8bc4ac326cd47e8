import Foundation
import Testing

@testable import CoreDataModel
@testable import MigrationJobs
@testable import Migrations

/// Objects of one table are made in the order of their keys, whatever the order of the mapping file.
@Suite("Rules that look for objects which rows of the same table make")
struct LateRuleTests {
  /// Cars and trucks, which are in one table.
  private static func model(
    _ attributes: [(String, AttributeType)], _ links: [RelationshipDescription]
  ) -> [EntityDescription] {
    var vehicle = StoreModels.entity("Vehicle", attributes, links)
    vehicle.isAbstract = true
    return [
      vehicle, StoreModels.entity("Car", parent: "Vehicle"), StoreModels.entity("Truck", parent: "Vehicle"),
    ]
  }

  /// The truck with the least key and the one with the greatest follow the car between them, which follows the last.
  private static func store() throws -> RuleStore {
    let links = [
      StoreModels.link("lead", "Vehicle", "followers"), StoreModels.link("followers", "Vehicle", "lead", many: true),
    ]
    let store = try RuleStore(
      model([("plate", .string), ("leads", .string)], []), model([("plate", .string)], links),
      [(1, "T1", "C2"), (2, "C2", "T3"), (3, "T3", "C2")].map { key, plate, leads in
        (entity: "Vehicle", columns: "Z_PK, ZPLATE, ZLEADS", values: "\(key), '\(plate)', '\(leads)'")
      })
    try MigrationFolder.execute(
      store.store,
      "UPDATE ZVEHICLE SET Z_ENT = (SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = iif(Z_PK = 2, 'Car', 'Truck'))")
    return store
  }

  private static let leads = "    relationships: { lead: { find: Vehicle, by: { plate: $source.leads } } }\n"

  @Test(
    "A relationship leads to the object that is looked for, whichever has the greater key, also to one of its own kind")
  func found() throws {
    let store = try Self.store()
    for (first, second) in [("Car", "Truck"), ("Truck", "Car")] {
      let result = try store.migrated("  - from: \(first)\n\(Self.leads)  - from: \(second)\n\(Self.leads)")
      let rows = try MigrationFolder.rows(result, "SELECT Z_PK, ZLEAD FROM ZVEHICLE ORDER BY Z_PK")
      #expect(rows == ["int64(1)|int64(2)", "int64(2)|int64(3)", "int64(3)|int64(2)"], "\(rows)")
    }
  }

  @Test("An object rule that would find one or not by its key is refused, with what to write")
  func refused() throws {
    let store = try Self.store()
    let rule = "    objects: [{ find: Car, by: { plate: $source.leads }, link: lead }]\n"
    let failure = try store.failure("  - Car\n  - from: Truck\n\(rule)")
    #expect(
      failure.contains("objects of Car are looked for while CarToCar makes them")
        && failure.contains("relationships: { NAME: { find: Car"), "\(failure)")
  }

  /// Owners that rules make of texts, by vehicles of both kinds.
  private static let owned = """
      - from: Car
        objects: [{ findOrCreate: Owner, by: { name: $source.leads }, link: owner }]
      - from: Truck
        relationships: { owner: { find: Owner, by: { name: $source.leads } } }
    """

  private static func ownedStore() throws -> RuleStore {
    let links = [StoreModels.link("owner", "Owner", "vehicles")]
    let owner = StoreModels.entity(
      "Owner", [("name", .string), ("number", .integer64)],
      [StoreModels.link("vehicles", "Vehicle", "owner", many: true)])
    let store = try RuleStore(
      model([("plate", .string), ("leads", .string)], []), model([("plate", .string)], links) + [owner],
      (1...3).map { (entity: "Vehicle", columns: "Z_PK, ZPLATE, ZLEADS", values: "\($0), 'p', 'O'") })
    try MigrationFolder.execute(
      store.store,
      "UPDATE ZVEHICLE SET Z_ENT = (SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = iif(Z_PK = 2, 'Car', 'Truck'))")
    return store
  }

  @Test("What an object rule of another row makes is found whichever row comes first")
  func madeByRule() throws {
    let store = try Self.ownedStore()
    let rows = try MigrationFolder.rows(store.migrated(Self.owned), "SELECT Z_PK, ZOWNER FROM ZVEHICLE ORDER BY Z_PK")
    #expect(rows == ["int64(1)|int64(1)", "int64(2)|int64(1)", "int64(3)|int64(1)"], "\(rows)")
  }

  @Test("A value that cannot be looked for is rejected with its object, as one that is looked for at once")
  func rejected() throws {
    let store = try Self.ownedStore()
    try MigrationFolder.execute(store.store, "UPDATE ZVEHICLE SET ZLEADS = '7' WHERE Z_PK > 1")
    var request = try store.request(
      Self.owned.replacing(
        "by: { name: $source.leads } } }", with: "by: { number: { cast: $source.leads, to: integer } } } }"))
    request.rejects = RejectLimit(.count(1))
    let report = try store.folder.migrate(request)
    #expect(report.accounts.first?.objects.map(\.rejected) == [0, 1], "\(report.notes)")
    #expect(
      try MigrationFolder.rows(request.source, "SELECT Z_PK FROM ZVEHICLE ORDER BY Z_PK") == ["int64(2)", "int64(3)"])
  }
}
