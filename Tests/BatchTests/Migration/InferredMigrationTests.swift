import Foundation
import GRDB
import Streams
import Testing

@testable import CoreDataModel
@testable import CoreDataStore
@testable import MigrationJobs
@testable import Migrations
@testable import RunSupport

/// Inferred steps through the library, every value compared with SQL on the old store.
@Suite struct InferredMigrationTests {
  /// Queries on the old and the new store that must give the same rows.
  static func pairs(_ old: StoreLayout, _ new: StoreLayout) throws -> [(old: String, new: String)] {
    let (home, newHome) = (old.entityNumbers["Place"] ?? 0, new.entityNumbers["Place"] ?? 0)
    let ageIsReal = new.model.attribute("age", of: "Human")?.type == .double
    var pairs = [
      (
        """
        SELECT Z_PK, \(new.entityNumbers["Human"] ?? 0), Z_OPT, ZNAME, \(ageIsReal ? "CAST(ZAGE AS REAL)" : "ZAGE"),
          CAST(ZHEIGHT AS REAL), 7, 'none', ZBORN, ZIMAGE, ZHOME, ZFAVORITE FROM ZPERSON ORDER BY Z_PK
        """,
        """
        SELECT Z_PK, Z_ENT, Z_OPT, ZFULLNAME, ZAGE, ZHEIGHT, ZLEVEL, ZMOTTO, ZBORN, ZIMAGE, ZHOME, ZFAVORITE
        FROM ZHUMAN ORDER BY Z_PK
        """
      ),
      (
        "SELECT p.Z_PK, q.Z_ENT FROM ZPERSON p JOIN ZPLACE q ON q.Z_PK = p.ZHOME WHERE p.Z\(home)_HOME = q.Z_ENT ORDER BY 1",
        "SELECT p.Z_PK, p.Z\(newHome)_HOME FROM ZHUMAN p WHERE p.ZHOME IS NOT NULL ORDER BY 1"
      ),
      (
        "SELECT Z_PK, Z_ENT, Z_OPT, ZTITLE, ZPOPULATION, ZMAYOR, iif(Z_ENT = \(old.entityNumbers["City"] ?? 0), 'calm', NULL)"
          + " FROM ZPLACE ORDER BY Z_PK",
        "SELECT Z_PK, Z_ENT, Z_OPT, ZTITLE, ZPOPULATION, ZMAYOR, ZMOOD FROM ZPLACE ORDER BY Z_PK"
      ),
      (
        "SELECT Z_PK, \(new.entityNumbers["Book"] ?? 0), Z_OPT, ZTITLE, ZPAGES, ZAUTHOR FROM ZBOOK ORDER BY Z_PK",
        "SELECT Z_PK, Z_ENT, Z_OPT, ZTITLE, ZPAGES, ZWRITER FROM ZBOOK ORDER BY Z_PK"
      ),
      (
        "SELECT Z_PK, Z_OPT, ZHEADING, ZBOOK, Z_FOK_BOOK FROM ZCHAPTER ORDER BY Z_PK",
        "SELECT Z_PK, Z_OPT, ZHEADING, ZBOOK, Z_FOK_BOOK FROM ZCHAPTER ORDER BY Z_PK"
      ),
      ("SELECT Z_PK, ZWORD FROM ZTAG ORDER BY Z_PK", "SELECT Z_PK, ZWORD FROM ZTAG ORDER BY Z_PK"),
      ("SELECT Z_UUID FROM Z_METADATA", "SELECT Z_UUID FROM Z_METADATA"),
    ]
    // Entity numbers of a hierarchy change row by row.
    let numbers = ["Place", "City", "Village"].map {
      "WHEN \(old.entityNumbers[$0] ?? 0) THEN \(new.entityNumbers[$0] ?? 0)"
    }
    for index in [1, 2] {
      pairs[index].0 = pairs[index].0.replacingOccurrences(
        of: index == 1 ? "SELECT p.Z_PK, q.Z_ENT" : "SELECT Z_PK, Z_ENT",
        with: (index == 1 ? "SELECT p.Z_PK, CASE q.Z_ENT " : "SELECT Z_PK, CASE Z_ENT ")
          + numbers.joined(separator: " ") + " END")
    }
    return pairs
  }

  /// Pairs of keys of a many-to-many, seen from one entity.
  static func links(_ layout: StoreLayout, _ entity: String, _ name: String) throws -> String {
    let join = try #require(
      layout.joinTables.first {
        $0.relationship == PropertyReference(entity: entity, name: name)
          || $0.inverse == PropertyReference(entity: entity, name: name)
      })
    let isSource = join.relationship.entity == entity && join.relationship.name == name
    let (own, other) =
      isSource ? (join.sourceColumn, join.destinationColumn) : (join.destinationColumn, join.sourceColumn)
    return "SELECT \(own), \(other) FROM \(join.name) ORDER BY 1, 2"
  }

  @Test(
    "An inferred step gives every value that SQL gives: renames, defaults, conversions, numbers, links",
    arguments: [
      ("V2", UInt64(1)), ("V3", 2), ("V2", 3),
    ])
  func values(target: String, seed: UInt64) throws {
    let folder = try MigrationFolder(MigrationModels.all)
    let store = try folder.sample("V1", rows: 1500, seed: seed)
    var request = folder.request(store)
    request.target = .version(target)
    let report = try folder.migrate(request)
    #expect(report.isVerified && report.targetVersion == target)
    let backup = try #require(report.backup)
    let (old, new) = (try StoreLayout(model: folder.model("V1")), try StoreLayout(model: folder.model(target)))
    #expect(old.entityNumbers["Book"] != new.entityNumbers["Book"] || target == "V3")
    for (before, after) in try Self.pairs(old, new) {
      let (expected, found) = (try MigrationFolder.rows(backup, before), try MigrationFolder.rows(store, after))
      #expect(!expected.isEmpty && expected == found, "seed \(seed): \(after)")
    }
    for (entity, newEntity, name) in [("Book", "Book", "tags"), ("Person", "Human", "friends")] {
      let expected = try MigrationFolder.rows(backup, Self.links(old, entity, name))
      let found = try MigrationFolder.rows(store, Self.links(new, newEntity, name))
      #expect(!expected.isEmpty && expected == found, "seed \(seed): \(name)")
    }
    #expect(try MigrationFolder.rows(store, "SELECT name FROM sqlite_schema WHERE name = 'ZGHOST'").isEmpty)
    let reader = try StoreReader(path: store, fileSystem: LocalFileSystem(), locking: .none)
    let cached = try StoreModel.find(of: reader, in: nil)
    reader.close()
    #expect(cached.versionHashes == new.model.versionHashes)
    #expect(try MigrationFolder.rows(store, "PRAGMA integrity_check") == ["string(\"ok\")"])
  }

  @Test("A number that does not fit its new type is an error that names entity and key; the source stays")
  func conversion() throws {
    let wide = ManagedObjectModel(
      name: "V1", entities: [StoreModels.entity("Item", [("size", .integer64), ("name", .string)])])
    let narrow = ManagedObjectModel(
      name: "V2", entities: [StoreModels.entity("Item", [("size", .integer16), ("name", .string)])])
    let folder = try MigrationFolder([wide, narrow])
    let store = try folder.sample("V1", rows: 50, seed: 1)
    let queue = try DatabaseQueue(path: store)
    try queue.write {
      try $0.execute(sql: "UPDATE ZITEM SET ZSIZE = Z_PK; UPDATE ZITEM SET ZSIZE = 32768 WHERE Z_PK = 37")
    }
    try queue.close()
    let bytes = try MigrationFolder.bytes(store)
    let error = #expect(throws: BatchError.self) { try folder.migrate(folder.request(store)) }
    #expect(error?.entity == "Item" && error?.key == 37)
    #expect(try MigrationFolder.bytes(store) == bytes)
  }

  @Test(
    "Trap 13: rows that are only in the -wal are migrated, and the source's folder stays as it was until the cut-over (I1)"
  )
  func writeAheadLog() throws {
    let folder = try MigrationFolder(MigrationModels.all)
    let store = try folder.sample("V1", rows: 400, seed: 5)
    let queue = try DatabaseQueue(path: store)
    try queue.writeWithoutTransaction { db in
      try db.execute(sql: "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0")
      try db.execute(sql: "UPDATE ZTAG SET ZWORD = 'changed ' || Z_PK WHERE Z_PK % 2 = 0")
      try db.execute(
        sql:
          "INSERT INTO ZTAG (Z_PK, Z_ENT, Z_OPT, ZWORD) SELECT 1000000, Z_ENT, 1, 'only in the log' FROM ZTAG LIMIT 1")
    }
    // A copy of both files is a store whose program has crashed.
    let crashed = try folder.copy(store, as: "crashed")
    try queue.close()
    let sourceFolder = FilePaths.directory(of: crashed)
    let before = try MigrationFolder.tree(sourceFolder)
    #expect(before.count == 2)
    let output = try folder.place("output")
    _ = try folder.migrate(folder.request(crashed, output: output))
    #expect(try MigrationFolder.tree(sourceFolder) == before)
    let words = try MigrationFolder.rows(output, "SELECT Z_PK, ZWORD FROM ZTAG ORDER BY Z_PK")
    #expect(words == (try MigrationFolder.rows(store, "SELECT Z_PK, ZWORD FROM ZTAG ORDER BY Z_PK")))
    #expect(words.last?.contains("only in the log") == true)
    #expect(!FileManager.default.fileExists(atPath: output + "-wal"))
    let report = try folder.migrate(folder.request(crashed))
    #expect(
      try MigrationFolder.rows(crashed, "SELECT count(*) FROM ZTAG WHERE ZWORD LIKE 'changed %' OR Z_PK = 1000000")
        == MigrationFolder.rows(store, "SELECT count(*) FROM ZTAG WHERE ZWORD LIKE 'changed %' OR Z_PK = 1000000"))
    // The old log stays with the old store, never beside the new one.
    #expect(!FileManager.default.fileExists(atPath: crashed + "-wal"))
    #expect(
      try MigrationFolder.rows(#require(report.backup), "SELECT count(*) FROM ZTAG WHERE Z_PK = 1000000") == [
        "int64(1)"
      ])
  }

  @Test("Trap 1: planning writes nothing")
  func planning() throws {
    let folder = try MigrationFolder(MigrationModels.all)
    let store = try folder.sample("V1", rows: 200, seed: 6)
    let before = try MigrationFolder.tree(folder.path)
    let plan = try folder.job().plan(folder.request(store))
    #expect(plan.steps.count == 1 && plan.steps[0].isInferred && plan.steps[0].passedVersions == ["V2"])
    #expect(plan.rows.reduce(0) { $0 + $1.rows } == 200)
    #expect(try MigrationFolder.tree(folder.path) == before)
  }
}
