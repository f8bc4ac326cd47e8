import Foundation
import Streams
import Testing

@testable import CoreDataStore
@testable import MappingModels
@testable import MigrationJobs
@testable import Migrations
@testable import RunSupport
@testable import StoreVerification

/// Steps with policies through the library, compared with SQL on the old store.
@Suite struct PolicyMigrationTests {
  static func folder() throws -> MigrationFolder {
    try MigrationFolder(
      [PolicyModels.first, PolicyModels.second], mappings: PolicyModels.mappings,
      policies: [OrderPolicy.self, LinePolicy.self])
  }

  /// Lines that the policy keeps, in SQL on the old store.
  private static func kept(_ folder: MigrationFolder) throws -> (join: JoinTable, sql: String) {
    let layout = try StoreLayout(model: folder.model("P1"))
    let join = try #require(layout.joinTables.first)
    let line = join.relationship.entity == "Line" ? join.sourceColumn : join.destinationColumn
    return (
      join,
      "SELECT * FROM ZLINE l WHERE NOT (Z_PK % 5 = 0 AND NOT EXISTS (SELECT 1 FROM \(join.name) WHERE \(line) = l.Z_PK))"
    )
  }

  @Test("Mapping models run in the order of their look-ups, wherever they stand")
  func order() throws {
    let folder = try Self.folder()
    let store = try folder.sample("P1", rows: 20, seed: 1)
    let plan = try folder.job().plan(folder.request(store))
    #expect(plan.steps.map { $0.mappingModels.map(\.name) } == [["B_Orders", "A_Lines"]])
  }

  @Test("Objects that policies drop, make, find and relate are those that SQL gives", arguments: [UInt64(1), 2])
  func values(seed: UInt64) throws {
    let folder = try Self.folder()
    let store = try folder.sample("P1", rows: 2500, seed: seed)
    let report = try folder.migrate(folder.request(store))
    let backup = try #require(report.backup)
    #expect(report.isVerified)
    let (join, kept) = try Self.kept(folder)
    let newJoin = try #require(try StoreLayout(model: folder.model("P2")).joinTables.first)
    let orders = try MigrationFolder.rows(backup, "SELECT count(*) FROM ZORDER")
    #expect(orders != ["int64(0)"])
    func expectEqual(_ old: String, _ new: String) throws {
      let (expected, found) = (try MigrationFolder.rows(backup, old), try MigrationFolder.rows(store, new))
      #expect(!expected.isEmpty && expected == found, "seed \(seed): \(new)")
    }
    try expectEqual(
      """
      SELECT Z_PK, ZNUMBER, (SELECT coalesce(sum(ZQUANTITY), 0) FROM ZLINE WHERE ZORDER = o.Z_PK), 'shop & co', ZCUSTOMER
      FROM ZORDER o ORDER BY Z_PK
      """,
      """
      SELECT o.Z_PK, ZNUMBER, ZTOTAL, ZORIGIN, c.ZNAME FROM ZORDER o LEFT JOIN ZCUSTOMER c ON c.Z_PK = o.ZCUSTOMER
      WHERE ZORIGIN <> 'copy' ORDER BY o.Z_PK
      """)
    // Further objects get the keys above, in the order of their sources.
    try expectEqual(
      "SELECT (SELECT max(Z_PK) FROM ZORDER) + row_number() OVER (ORDER BY Z_PK), -Z_PK FROM ZORDER WHERE Z_PK % 7 = 0 ORDER BY Z_PK",
      "SELECT Z_PK, ZNUMBER FROM ZORDER WHERE ZORIGIN = 'copy' ORDER BY Z_PK")
    // A customer each, in the order of the first order that names it.
    try expectEqual(
      "SELECT ZCUSTOMER, row_number() OVER (ORDER BY min(Z_PK)) FROM ZORDER WHERE ZCUSTOMER IS NOT NULL GROUP BY 1 ORDER BY 2",
      "SELECT ZNAME, Z_PK FROM ZCUSTOMER ORDER BY Z_PK")
    try expectEqual(
      """
      WITH kept AS (\(kept)),
        numbered AS (SELECT *, row_number() OVER w AS n, count(*) OVER (PARTITION BY ZORDER) AS total
          FROM kept WHERE ZORDER IS NOT NULL WINDOW w AS (PARTITION BY ZORDER ORDER BY Z_PK))
      SELECT k.Z_PK, k.ZSKU, k.ZQUANTITY, k.ZORDER, m.Z_PK, o.ZCUSTOMER FROM kept k
        LEFT JOIN numbered n ON n.Z_PK = k.Z_PK LEFT JOIN numbered m ON m.ZORDER = n.ZORDER AND m.n = n.total + 1 - n.n
        LEFT JOIN ZORDER o ON o.Z_PK = k.ZORDER ORDER BY 1
      """,
      """
      SELECT l.Z_PK, ZSKU, ZQUANTITY, ZORDER, ZMIRROR, c.ZNAME FROM ZLINE l LEFT JOIN ZCUSTOMER c ON c.Z_PK = l.ZBUYER
      ORDER BY 1
      """)
    try expectEqual("SELECT * FROM \(join.name) ORDER BY 1, 2", "SELECT * FROM \(newJoin.name) ORDER BY 1, 2")
    try firstWords(folder, store, backup, join)
    let dropped = try MigrationFolder.rows(
      backup, "SELECT (SELECT count(*) FROM ZLINE) > (SELECT count(*) FROM (\(kept)))")
    #expect(dropped == ["int64(1)"])
  }

  /// A to-many of an object that was fetched through another to-many.
  private func firstWords(_ folder: MigrationFolder, _ store: String, _ backup: String, _ join: JoinTable) throws {
    let isSource = join.relationship.entity == "Line"
    let (line, tag) =
      isSource ? (join.sourceColumn, join.destinationColumn) : (join.destinationColumn, join.sourceColumn)
    let expected = try MigrationFolder.rows(
      backup,
      """
      SELECT Z_PK, (SELECT ZWORD FROM ZTAG WHERE Z_PK = (SELECT min(\(tag)) FROM \(join.name)
        WHERE \(line) = (SELECT min(Z_PK) FROM ZLINE WHERE ZORDER = o.Z_PK))) FROM ZORDER o ORDER BY 1
      """)
    let found = try MigrationFolder.rows(
      store, "SELECT Z_PK, ZFIRSTWORD FROM ZORDER WHERE ZORIGIN <> 'copy' ORDER BY 1")
    #expect(expected == found)
    #expect(Set(found).count > 20)
  }

  @Test(
    "Look-ups beyond memory have their time set aside, so that the rest of the run is not foreseen as slow as they are")
  func timeOfLookups() throws {
    let folder = try Self.folder()
    let store = try folder.sample("P1", rows: 2000, seed: 5)
    var request = folder.request(store)
    (request.memory, request.interval) = (MemoryBudget(total: MemoryBudget.minimum), .seconds(1000))
    func secondsAside(_ name: String) throws -> Double {
      request.output = try folder.place(name)
      let monitor = RunMonitor(interval: request.interval)
      _ = try folder.job().migrate(request, monitor: monitor)
      return try #require(monitor.progress.estimate.entries.first { $0.part == .rows(step: 1) }).aside
    }
    #expect(try secondsAside("short-names.sqlite") == 0)
    // One table of keys takes less than 3 MB.
    try MigrationFolder.execute(store, "UPDATE ZORDER SET ZCUSTOMER = printf('%016000d', Z_PK)")
    #expect(try MigrationFolder.rows(store, "SELECT sum(length(ZCUSTOMER)) > 4000000 FROM ZORDER") == ["int64(1)"])
    #expect(try secondsAside("long-names.sqlite") > 0)
  }

  @Test("I5, I8, I11: with policies too, a run that is stopped anywhere has the undisturbed bytes")
  func stopped() throws {
    let folder = try Self.folder()
    let store = try folder.sample("P1", rows: 1200, seed: 4)
    let whole = try folder.copy(store, as: "whole")
    _ = try folder.migrate(folder.request(whole))
    let expected = try MigrationFolder.bytes(whole)
    let stops = try folder.stopped(every: 2) { count in
      var request = folder.request(try folder.copy(store, as: "stop-\(count)"))
      request.verification = .none
      return request
    } finished: { path, count in
      let bytes = try MigrationFolder.bytes(path)
      #expect(bytes == expected, "stop \(count)")
    }
    #expect(stops > 5)
  }
}
