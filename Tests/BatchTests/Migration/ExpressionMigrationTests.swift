import Foundation
import GRDB
import Streams
import Testing

@testable import CoreDataStore
@testable import MappingModels
@testable import MigrationJobs
@testable import Migrations
@testable import RunSupport

/// Filters and expressions of mapping models, compared with SQL on the old store.
@Suite struct ExpressionMigrationTests {
  private static func folder(_ mappings: MappingModel) throws -> (MigrationFolder, String) {
    let folder = try MigrationFolder([ExpressionModels.first, ExpressionModels.second], mappings: [mappings])
    let store = try folder.sample("E1", rows: 1200, seed: 5)
    let queue = try DatabaseQueue(path: store)
    defer { try? queue.close() }
    try queue.write { db in
      try db.execute(
        sql: """
          UPDATE ZMODEL SET ZKIND = CASE Z_PK % 4 WHEN 0 THEN NULL ELSE Z_PK % 4 + 5 END, ZPRICE = Z_PK + 0.5,
            ZNAME = 'm' || Z_PK, ZNOTE = CASE Z_PK % 3 WHEN 0 THEN NULL ELSE 'n' END;
          UPDATE ZPART SET ZWEIGHT = Z_PK % 5;
          """)
    }
    return (folder, store)
  }

  private static let cars = "ZMODEL WHERE ZKIND = 7"
  private static let others = "ZMODEL WHERE ZKIND <> 7 OR ZKIND IS NULL"

  @Test("Filters part the objects, expressions give what SQL gives, and no link leads to what was left out")
  func values() throws {
    let (folder, store) = try Self.folder(try ExpressionModels.mappings())
    let report = try folder.migrate(folder.request(store))
    let backup = try #require(report.backup)
    #expect(report.isVerified)
    func expectEqual(_ old: String, _ new: String) throws {
      let (expected, found) = (try MigrationFolder.rows(backup, old), try MigrationFolder.rows(store, new))
      #expect(!expected.isEmpty && expected == found, "\(new)")
    }
    try expectEqual(
      """
      SELECT m.Z_PK, m.ZNAME, upper(m.ZNAME), (SELECT coalesce(sum(ZWEIGHT), 0) FROM ZPART WHERE ZMODEL = m.Z_PK),
        (SELECT count(*) FROM ZPART WHERE ZMODEL = m.Z_PK), m.ZPRICE * 2 + 2, CAST(m.ZPRICE AS INTEGER),
        CASE WHEN m.ZNOTE IS NULL THEN '7' ELSE p.ZNAME END, (SELECT min(ZWEIGHT) FROM ZPART WHERE ZMODEL = m.Z_PK),
        (SELECT count(*) FROM ZPART WHERE ZMODEL = m.Z_PK), 'corner',
        (SELECT count(*) FROM ZPART WHERE ZMODEL = m.Z_PK AND ZWEIGHT > 0), m.ZOWNER,
        (SELECT Z_PK FROM \(Self.cars) AND Z_PK = m.ZTWIN)
      FROM ZMODEL m LEFT JOIN ZPERSON p ON p.Z_PK = m.ZOWNER WHERE m.ZKIND = 7 ORDER BY 1
      """,
      """
      SELECT Z_PK, ZNAME, ZLABEL, ZWEIGHT, ZCOUNT, ZPRICE, ZROUNDED, ZVERDICT, ZFIRST, ZTOTAL, ZORIGIN, ZHEAVY, ZOWNER, ZTWIN
      FROM ZCAR ORDER BY 1
      """)
    try expectEqual(
      "SELECT Z_PK, ZNAME, ZOWNER FROM \(Self.others) ORDER BY 1",
      "SELECT Z_PK, ZNAME, ZOWNER FROM ZACCESSORY ORDER BY 1")
    try expectEqual(
      """
      SELECT p.Z_PK, ZWEIGHT, (SELECT Z_PK FROM \(Self.cars) AND Z_PK = p.ZMODEL),
        (SELECT Z_PK FROM (SELECT * FROM \(Self.others)) WHERE Z_PK = p.ZMODEL), m.ZOWNER
      FROM ZPART p LEFT JOIN ZMODEL m ON m.Z_PK = p.ZMODEL ORDER BY 1
      """, "SELECT Z_PK, ZWEIGHT, ZCAR, ZACCESSORY, ZPAYER FROM ZPART ORDER BY 1")
    try links(folder, store, backup)
  }

  private func links(_ folder: MigrationFolder, _ store: String, _ backup: String) throws {
    func table(_ version: String, _ ends: Set<String>) throws -> (name: String, columns: [String: String]) {
      let layout = try StoreLayout(model: folder.model(version))
      let join = try #require(layout.joinTables.first { Set([$0.relationship.entity, $0.inverse.entity]) == ends })
      return (
        join.name, [join.relationship.entity: join.sourceColumn, join.inverse.entity: join.destinationColumn]
      )
    }
    let old = try table("E1", ["Model", "Tag"])
    let (cars, people) = (try table("E2", ["Car", "Tag"]), try table("E2", ["Person", "Tag"]))
    let (model, tag) = (old.columns["Model"] ?? "", old.columns["Tag"] ?? "")
    #expect(
      try MigrationFolder.rows(
        backup, "SELECT \(tag), \(model) FROM \(old.name) JOIN ZMODEL ON Z_PK = \(model) WHERE ZKIND = 7 ORDER BY 1, 2")
        == MigrationFolder.rows(
          store, "SELECT \(cars.columns["Tag"] ?? ""), \(cars.columns["Car"] ?? "") FROM \(cars.name) ORDER BY 1, 2"))
    #expect(
      try MigrationFolder.rows(
        backup,
        "SELECT DISTINCT \(tag), ZOWNER FROM \(old.name) JOIN ZMODEL ON Z_PK = \(model) WHERE ZOWNER IS NOT NULL ORDER BY 1, 2"
      )
        == MigrationFolder.rows(
          store,
          "SELECT \(people.columns["Tag"] ?? ""), \(people.columns["Person"] ?? "") FROM \(people.name) ORDER BY 1, 2"))
  }

  @Test("Trap 15: every row and link that was read is written or left out by a filter, which is named")
  func counted() throws {
    let (folder, store) = try Self.folder(try ExpressionModels.mappings())
    let report = try folder.migrate(folder.request(store))
    let backup = try #require(report.backup)
    func count(_ what: String) throws -> String {
      let digits = try MigrationFolder.rows(backup, "SELECT count(*) FROM \(what)")[0].filter(\.isNumber).dropFirst(2)
      return try #require(Int(digits)).grouped
    }
    let (all, cars, others) = (try count("ZMODEL"), try count(Self.cars), try count(Self.others))
    // Each is taken by one of the two.
    #expect(!report.notes.contains { $0.contains("objects of Model were left out") }, "\(report.notes)")
    let shares = report.accounts.first?.objects.filter { $0.source == "Model" }.map {
      "\($0.leftOut.grouped) of \($0.read.grouped)"
    }
    #expect(shares?.contains("\(others) of \(all)") == true && shares?.contains("\(cars) of \(all)") == true)
    let account = try #require(report.accounts.first)
    #expect(account.objects.allSatisfy { $0.read == $0.written + $0.leftOut && $0.rejected == 0 })
    #expect(account.objects.filter { $0.leftOut > 0 }.allSatisfy { $0.rule == "the filter of \($0.mapping)" })
    #expect(account.links.contains { $0.leftOut > 0 })
    let twins = try count("\(Self.cars) AND ZTWIN NOT IN (SELECT Z_PK FROM \(Self.cars))")
    for link in account.links {
      #expect(link.read + link.made == link.written + link.leftOut, "\(link)")
      #expect(link.cleared.grouped == (link.relationship == "Car.twin" ? twins : "0"), "\(link)")
    }
    #expect(
      report.notes.contains(
        "\(twins) references of Car.twin were cleared: their objects were left out, or do not belong there any more"))
    #expect(report.notes.contains { $0.contains("E1 to E2 loses ") && $0.contains(" values of Model.price") })
  }

  @Test("I5, I8: a run with filters and expressions that was stopped and resumed has the undisturbed bytes")
  func interrupted() throws {
    let (folder, store) = try Self.folder(try ExpressionModels.mappings())
    let whole = try folder.copy(store, as: "whole")
    _ = try folder.migrate(folder.request(whole))
    let expected = try MigrationFolder.bytes(whole)
    let stops = try folder.stopped(every: 4) {
      folder.request(try folder.copy(store, as: "stop-\($0)"))
    } finished: { path, count in
      let bytes = try MigrationFolder.bytes(path)
      #expect(bytes == expected, "stopped at sign \(count)")
    }
    #expect(stops > 3)
  }

  @Test("Fetches, sets, sources of destinations, and arithmetic of aggregates give what SQL gives")
  func more() throws {
    let request = """
      FUNCTION($manager, "fetchRequestForSourceEntityNamed:predicateString:", "Part", "weight > 2 AND model.kind IN {6, 7}")
      """
    let attributes: [(String, String?)] = [
      ("weight", "FETCH(\(request), $manager.sourceContext, YES) + $source.parts.@max.weight"),
      ("count", "count:($source.parts MINUS FETCH(\(request), $manager.sourceContext, NO))"),
      (
        "first",
        "FUNCTION($manager, \"sourceInstancesForEntityMappingNamed:destinationInstances:\", \"ModelToCar\", $destination).@count"
      ),
      ("heavy", "TERNARY(ANY $source.parts.weight > 3, 1, 0)"),
    ]
    let (folder, store) = try Self.folder(try ExpressionModels.mappings(attributes: attributes))
    let report = try folder.migrate(folder.request(store))
    let backup = try #require(report.backup)
    let fetched =
      "SELECT p.Z_PK FROM ZPART p JOIN ZMODEL o ON o.Z_PK = p.ZMODEL WHERE p.ZWEIGHT > 2 AND o.ZKIND IN (6, 7)"
    let expected = try MigrationFolder.rows(
      backup,
      """
      SELECT Z_PK, (SELECT count(*) FROM (\(fetched))) + (SELECT max(ZWEIGHT) FROM ZPART WHERE ZMODEL = m.Z_PK),
        (SELECT count(*) FROM ZPART WHERE ZMODEL = m.Z_PK AND Z_PK NOT IN (\(fetched))), 1,
        EXISTS (SELECT 1 FROM ZPART WHERE ZMODEL = m.Z_PK AND ZWEIGHT > 3)
      FROM ZMODEL m WHERE ZKIND = 7 ORDER BY 1
      """)
    let found = try MigrationFolder.rows(store, "SELECT Z_PK, ZWEIGHT, ZCOUNT, ZFIRST, ZHEAVY FROM ZCAR ORDER BY 1")
    #expect(!expected.isEmpty && expected == found)
  }

  @Test("A to-many by an expression sets the other side where nothing else maps it")
  func toMany() throws {
    var mappings = try ExpressionModels.mappings()
    mappings.entityMappings[0].relationshipMappings.removeAll { $0.name == "owner" }
    let cars = """
      FUNCTION($manager, "destinationInstancesForEntityMappingNamed:sourceInstances:", "ModelToCar",
        SUBQUERY($source.models, $m, $m.price > 100))
      """
    mappings.entityMappings[2].relationshipMappings = [
      PropertyMapping(name: "cars", valueExpression: try .init(format: cars))
    ]
    let (folder, store) = try Self.folder(mappings)
    let report = try folder.migrate(folder.request(store))
    let backup = try #require(report.backup)
    let expected = try MigrationFolder.rows(
      backup, "SELECT Z_PK, CASE WHEN ZPRICE > 100 THEN ZOWNER END FROM \(Self.cars) ORDER BY 1")
    let found = try MigrationFolder.rows(store, "SELECT Z_PK, ZOWNER FROM ZCAR ORDER BY 1")
    #expect(report.isVerified && !expected.isEmpty && expected == found)
  }

  @Test(
    "What cannot be understood, or does not fit, is an error that names mapping, property and object",
    arguments: [
      ("label", "$source.nothing", "ModelToCar.label"), ("label", "$nobody.name", "$nobody"),
      ("count", "$source.name", "count changes"), ("count", "CAST($source.name, \"NSNumber\")", "ModelToCar.count"),
      ("weight", "$source.parts.weight", "ModelToCar.weight"), ("count", "\"x\"", "ModelToCar.count"),
      ("label", "$source.parts.@median.weight", "@median"), ("weight", "9223372036854775807 + $source.kind", "64 bits"),
    ])
  func refused(property: String, expression: String, part: String) throws {
    let attributes: [(String, String?)] = [("name", nil), (property, expression)]
    let (folder, store) = try Self.folder(try ExpressionModels.mappings(attributes: attributes))
    let before = try MigrationFolder.bytes(store)
    let error = #expect(throws: BatchError.self) { try folder.migrate(folder.request(store)) }
    #expect(error?.message.contains(part) == true && error?.entity != nil, "\(error?.description ?? "")")
    #expect(try MigrationFolder.bytes(store) == before)
  }

  @Test("A filter that cannot be read, or that compares what cannot be compared, is an error that names it")
  func badFilters() throws {
    for filter in ["kind = %@", "colour = 7", "kind < 'x'", "$manager.x = 1"] {
      let (folder, store) = try Self.folder(try ExpressionModels.mappings(filter: filter))
      let error = #expect(throws: BatchError.self) { try folder.migrate(folder.request(store)) }
      #expect(error?.message.contains("the filter of ModelToCar") == true, "\(error?.description ?? "")")
    }
  }
}
