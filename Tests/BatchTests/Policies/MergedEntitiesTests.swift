import Testing

@testable import CoreDataModel
@testable import CoreDataStore
@testable import MappingModels
@testable import MigrationJobs
@testable import RunSupport

/// Two entities become one, and one entity two: no link and no object goes without a word.
@Suite("Entities that become one, or two")
struct MergedEntitiesTests {
  /// A and B, each with objects of D, become C. `many` says whether they have several.
  private static func merging(many: Bool) throws -> RuleStore {
    func owner(_ name: String, _ inverse: String) -> EntityDescription {
      StoreModels.entity(name, [("n", .string)], [StoreModels.link("ds", "D", inverse, many: many)])
    }
    let links = [StoreModels.link("a", "A", "ds"), StoreModels.link("b", "B", "ds")]
    return try RuleStore(
      [owner("A", "a"), owner("B", "b"), StoreModels.entity("D", [("t", .string)], links)],
      [owner("C", "c"), StoreModels.entity("D", [("t", .string)], [StoreModels.link("c", "C", "ds")])],
      ["A", "B"].map {
        ($0, many ? "Z_PK, ZN" : "Z_PK, ZN, ZDS", many ? "1, '\($0)'" : "1, '\($0)', \($0 == "A" ? 1 : 2)")
      }
        + [("D", "Z_PK, ZT, ZA", "1, 'of A', 1"), ("D", "Z_PK, ZT, ZB", "2, 'of B', 1")])
  }

  private static let owners = "SELECT D.ZT, C.ZN FROM ZD D LEFT JOIN ZC C ON C.Z_PK = D.ZC ORDER BY 1"
  private static let twice = """
      - from: [A, B]
        to: C
      - name: DOfA
        from: D
        to: D
        filter: a != nil
        relationships: { c: $source.a }
      - name: DOfB
        from: D
        to: D
        filter: a == nil
        relationships: { c: $source.b }
    """

  @Test("To-many relationships whose keys lie in two columns are refused, not half carried; the advice carries both")
  func toMany() throws {
    let store = try Self.merging(many: true)
    let found = try store.failure("  - from: [A, B]\n    to: C\n  - D")
    #expect(found.contains("map D twice: with filter: a != nil and relationships: { c: $source.a }"), "\(found)")
    #expect(
      try MigrationFolder.rows(store.migrated(Self.twice), Self.owners) == [
        "string(\"of A\")|string(\"A\")", "string(\"of B\")|string(\"B\")",
      ])
  }

  @Test("A one-to-one whose other side comes from another relationship is refused; the advice leaves nothing half set")
  func oneToOne() throws {
    let store = try Self.merging(many: false)
    let mapping = "  - from: A\n    to: C\n  - from: B\n    to: C%\n  - from: D\n    relationships: { c: $source.a }"
    let found = try store.failure(mapping.replacing("%", with: ""))
    #expect(found.contains("C.ds takes over B.ds, and its inverse D.c takes over a: only one side would"), "\(found)")
    #expect(found.contains("write ds: null in the relationships of BToC"), "\(found)")
    let result = try store.migrated(mapping.replacing("%", with: "\n    relationships: { ds: null }"))
    #expect(
      try MigrationFolder.rows(result, Self.owners) == [
        "string(\"of A\")|string(\"A\")", "string(\"of B\")|null",
      ])
    #expect(try MigrationFolder.rows(result, "SELECT count(ZDS) FROM ZC") == ["int64(1)"])
  }

  @Test("Two ordered to-many relationships that become one keep no common order, which is noted")
  func ordered() throws {
    func owner(_ links: [RelationshipDescription]) -> EntityDescription { StoreModels.entity("Own", [], links) }
    let store = try RuleStore(
      ["Car", "Truck"].map {
        StoreModels.entity($0, [("a", .string)], [StoreModels.link("own", "Own", $0.lowercased())])
      }
        + [owner(["Car", "Truck"].map { StoreModels.link($0.lowercased(), $0, "own", many: true, ordered: true) })],
      [
        StoreModels.entity("Vehicle", [("a", .string)], [StoreModels.link("own", "Own", "vehicles")]),
        owner([StoreModels.link("vehicles", "Vehicle", "own", many: true, ordered: true)]),
      ], [("Own", "Z_PK", "1")])
    let report = try store.folder.migrate(store.request("  - from: [Car, Truck]\n    to: Vehicle\n  - Own"))
    #expect(
      report.notes.contains { $0.contains("Own.vehicles is ordered, and takes the places of Car.own and Truck.own") },
      "\(report.notes)")
  }

  @Test(
    "An entity that becomes itself and a sub-entity by opposite filters loses no object, whichever comes first",
    arguments: [("z > 1", "z <= 1"), ("z <= 1", "z > 1")])
  func split(big: String, small: String) throws {
    let entity = StoreModels.entity("B", [("z", .integer32)])
    let store = try RuleStore(
      [entity], [entity, StoreModels.entity("Big", parent: "B", [("w", .string)])],
      (1...3).map { ("B", "Z_PK, ZZ", "\($0), \($0)") })
    let request = try store.request("  - from: B\n    to: Big\n    filter: \(big)\n  - from: B\n    filter: \(small)")
    let report = try store.folder.migrate(request)
    #expect(report.isVerified)
    #expect(!report.notes.contains { $0.contains("some objects") }, "\(report.notes)")
    #expect(try MigrationFolder.rows(request.source, "SELECT count(*) FROM ZB") == ["int64(3)"])
    let lines = report.accounts.flatMap(\.versions).flatMap(\.lines).filter { $0.kind == .entity }
    #expect(lines.map(\.leftOut) == [0] && lines.map(\.count) == [3])
  }
}
