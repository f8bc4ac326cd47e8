import Foundation
import GRDB
import Streams
import Testing

@testable import Codecs
@testable import CoreDataModel
@testable import MigrationJobs
@testable import Migrations
@testable import StoreSamples

/// Migrations of applications that were policies in code, by the mapping files of the cookbook.
@Suite("Mapping files in place of policies")
struct RuleExampleTests {
  private static let mappings = ExampleLibrary.root + "/Examples/Mappings"

  /// A store of the first version with rows that `fill` makes of the sample's, migrated by a file.
  private func migrated(
    _ versions: [ManagedObjectModel], by file: String, rows: UInt64 = 40, _ fill: String
  ) throws -> (path: String, report: MigrationJob.Report) {
    let folder = try MigrationFolder(versions)
    let store = try folder.sample(versions[0].name, rows: rows, seed: 3)
    try MigrationFolder.execute(store, fill)
    var request = folder.request(store)
    request.mappings = [Self.mappings + file]
    let report = try folder.migrate(request)
    #expect(report.isVerified)
    // The folder goes with the test; the result stays for its checks.
    let result = FileManager.default.temporaryDirectory.appendingPathComponent("rule-\(UUID().uuidString).sqlite").path
    try FileManager.default.copyItem(atPath: store, toPath: result)
    return (result, report)
  }

  @Test("Every post gets a color with a UUID of its own, and a repeatable one itself")
  func colors() throws {
    let old = [StoreModels.entity("Post", [("hexColor", .string)])]
    let new = [
      StoreModels.entity("Post", [("hexColor", .string), ("id", .uuid)], [StoreModels.link("color", "Color", "post")]),
      StoreModels.entity(
        "Color", [("colorID", .string), ("hex", .string)], [StoreModels.link("post", "Post", "color")]),
    ]
    let (path, report) = try migrated(
      [ManagedObjectModel(name: "Posts 1", entities: old), ManagedObjectModel(name: "Posts 2", entities: new)],
      by: "/Colors.yaml", "UPDATE ZPOST SET ZHEXCOLOR = Z_PK")
    defer { try? FileManager.default.removeItem(atPath: path) }
    #expect(report.rows["Color"] == report.rows["Post"])
    let sql = """
      SELECT count(*) = count(DISTINCT ZCOLORID), min(length(ZCOLORID)), count(DISTINCT ZID) = count(*),
        sum(ZHEX = ZHEXCOLOR) = count(*) FROM ZCOLOR c JOIN ZPOST p ON p.ZCOLOR = c.Z_PK AND c.ZPOST = p.Z_PK
      """
    #expect(try MigrationFolder.rows(path, sql) == ["int64(1)|int64(36)|int64(1)|int64(1)"])
  }

  @Test("Milliseconds since 1970 become dates, and dates become seconds and texts")
  func milliseconds() throws {
    let names = ["began", "ended"]
    let old = StoreModels.entity("Ride", names.map { ($0, .integer64) } + [("synced", .date)])
    let new = StoreModels.entity("Ride", names.map { ($0, .date) } + [("synced", .integer64), ("day", .string)])
    let (path, _) = try migrated(
      [ManagedObjectModel(name: "Rides 1", entities: [old]), ManagedObjectModel(name: "Rides 2", entities: [new])],
      by: "/Milliseconds.yaml", "UPDATE ZRIDE SET ZBEGAN = 1609459200123, ZENDED = NULL, ZSYNCED = 79199.5")
    defer { try? FileManager.default.removeItem(atPath: path) }
    #expect(
      try Set(MigrationFolder.rows(path, "SELECT ZBEGAN, ZENDED, ZSYNCED, ZDAY FROM ZRIDE")) == [
        "double(631152000.123)|null|int64(978386400)|string(\"2001-01-01\")"
      ])
  }

  private func location(_ owner: String) -> EntityDescription {
    StoreModels.entity(
      "Location", [("lat", .double), ("lon", .double), ("time", .date)],
      [StoreModels.link(owner, owner.capitalized, "locations")])
  }

  private func tracks(_ more: [(String, AttributeType)]) -> [EntityDescription] {
    [
      StoreModels.entity(
        "Measurement", [("name", .string)],
        [
          StoreModels.link("track", "Track", "measurement"),
          StoreModels.link("events", "Event", "measurement", many: true),
        ]),
      StoreModels.entity(
        "Track", more,
        [
          StoreModels.link("measurement", "Measurement", "track"),
          StoreModels.link("locations", "Location", "track", many: true, ordered: true),
          StoreModels.link("events", "Event", "track", many: true),
        ]),
      StoreModels.entity(
        "Event", [("text", .string)],
        [StoreModels.link("measurement", "Measurement", "events"), StoreModels.link("track", "Track", "events")]),
      location("track"),
    ]
  }

  @Test("Tracks are made of the locations of a measurement, keep their order, and get a length in the next step")
  func tracks() throws {
    let first = [
      StoreModels.entity(
        "Measurement", [("name", .string), ("context", .string)],
        [StoreModels.link("locations", "Location", "measurement", many: true, ordered: true)]), location("measurement"),
    ]
    let models = [first, tracks([]), tracks([("length", .double), ("began", .date), ("ended", .date)])]
    let (path, _) = try migrated(
      models.enumerated().map { ManagedObjectModel(name: "Tracks \($0 + 3)", entities: $1) }, by: "/Tracks",
      """
      UPDATE ZMEASUREMENT SET ZCONTEXT = CASE Z_PK WHEN 1 THEN 'BICYCLE' END;
      UPDATE ZLOCATION SET ZMEASUREMENT = 1 + Z_PK % 2, Z_FOK_MEASUREMENT = 1024 * (100 - Z_PK), ZLAT = 0, ZLON = Z_PK, ZTIME = Z_PK
      """)
    defer { try? FileManager.default.removeItem(atPath: path) }
    let rows = { (sql: String) in try MigrationFolder.rows(path, sql) }
    #expect(try rows("SELECT count(*) FROM ZLOCATION") != ["int64(0)"])
    #expect(try rows("SELECT count(*) FROM ZTRACK") == ["int64(2)"])
    let disorder =
      "SELECT count(*) FROM ZLOCATION a JOIN ZLOCATION b ON a.ZTRACK = b.ZTRACK AND a.Z_PK < b.Z_PK AND a.Z_FOK_TRACK <= b.Z_FOK_TRACK"
    #expect(try rows(disorder) == ["int64(0)"])
    // Neighbours are two degrees of longitude apart, at the equator.
    let length =
      "SELECT count(*) FROM ZTRACK t WHERE abs(ZLENGTH / 222390.16 - (SELECT count(*) - 1 FROM ZLOCATION l WHERE l.ZTRACK = t.Z_PK)) > 0.001"
    #expect(try rows(length) == ["int64(0)"])
    #expect(try rows("SELECT count(*) FROM ZTRACK WHERE ZBEGAN <= ZENDED") == ["int64(0)"])
    #expect(
      try rows("SELECT ZTEXT, e.ZMEASUREMENT, t.ZMEASUREMENT FROM ZEVENT e JOIN ZTRACK t ON t.Z_PK = e.ZTRACK") == [
        "string(\"BICYCLE\")|int64(1)|int64(1)"
      ])
  }

  @Test("Of several addresses the first one in their order stays, and leads back to its person")
  func addresses() throws {
    func people(_ name: String, many: Bool) -> [EntityDescription] {
      [
        StoreModels.entity("Person", [], [StoreModels.link(name, "Address", "person", many: many, ordered: many)]),
        StoreModels.entity("Address", [("city", .string)], [StoreModels.link("person", "Person", name)]),
      ]
    }
    let (path, _) = try migrated(
      [
        ManagedObjectModel(name: "People 1", entities: people("addresses", many: true)),
        ManagedObjectModel(name: "People 2", entities: people("address", many: false)),
      ], by: "/Addresses.yaml", rows: 40,
      "UPDATE ZADDRESS SET ZPERSON = 1 + Z_PK % 2, Z_FOK_PERSON = 1024 * (100 - Z_PK)")
    defer { try? FileManager.default.removeItem(atPath: path) }
    let rows = { (sql: String) in try MigrationFolder.rows(path, sql) }
    let first = "SELECT max(Z_PK) FROM ZADDRESS WHERE Z_PK % 2 = "
    #expect(
      try rows("SELECT ZADDRESS FROM ZPERSON WHERE Z_PK <= 2 ORDER BY Z_PK") == rows(first + "0") + rows(first + "1"))
    #expect(try rows("SELECT count(*) FROM ZADDRESS WHERE ZPERSON IS NOT NULL") == ["int64(2)"])
    #expect(
      try rows("SELECT count(*) FROM ZADDRESS a JOIN ZPERSON p ON a.ZPERSON = p.Z_PK AND p.ZADDRESS = a.Z_PK") == [
        "int64(2)"
      ])
  }

  @Test("Texts in an array become objects that are shared")
  func tags() throws {
    let old = StoreModels.entity("Article", [("title", .string), ("tags", .transformable)])
    let new = [
      StoreModels.entity("Article", [("title", .string)], [StoreModels.link("tags", "Tag", "articles", many: true)]),
      StoreModels.entity("Tag", [("name", .string)], [StoreModels.link("articles", "Article", "tags", many: true)]),
    ]
    var builder = ArchiveBuilder()
    let words = ["swift", "sql"].map { builder.text($0) }
    let root = builder.array(words)
    let hex = builder.bytes(root: root).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    let (path, report) = try migrated(
      [ManagedObjectModel(name: "Articles 1", entities: [old]), ManagedObjectModel(name: "Articles 2", entities: new)],
      by: "/Tags.yaml", "UPDATE ZARTICLE SET ZTAGS = CASE WHEN Z_PK > 1 THEN x'\(hex)' END")
    defer { try? FileManager.default.removeItem(atPath: path) }
    #expect(report.rows["Tag"] == 2)
    #expect(
      try MigrationFolder.rows(path, "SELECT ZNAME FROM ZTAG ORDER BY Z_PK") == [
        "string(\"swift\")", "string(\"sql\")",
      ])
    let links = try MigrationFolder.rows(path, "SELECT count(*) FROM Z_1TAGS")
    #expect(try links == MigrationFolder.rows(path, "SELECT 2 * (count(*) - 1) FROM ZARTICLE"))
  }

  @Test("Five entities share one block, and what it removes is counted with the reason")
  func five() throws {
    let names = ["CarePlan", "Contact", "Outcome", "Patient", "Task"]
    let dates: [(String, AttributeType)] = [("createdDate", .date), ("deletedDate", .date)]
    let (path, report) = try migrated(
      [
        ManagedObjectModel(name: "Care 1", entities: names.map { StoreModels.entity($0, dates) }),
        ManagedObjectModel(
          name: "Care 2",
          entities: names.map {
            StoreModels.entity($0, dates + [("uuid", .uuid), ("schemaVersion", .string), ("effectiveDate", .date)])
          }),
      ], by: "/Care1_to_Care2.yaml",
      names.map { "UPDATE Z\($0.uppercased()) SET ZDELETEDDATE = CASE Z_PK WHEN 1 THEN 5 END" }.joined(separator: ";"))
    defer { try? FileManager.default.removeItem(atPath: path) }
    let all = names.map {
      "SELECT ZUUID AS u, ZSCHEMAVERSION AS v, ZEFFECTIVEDATE IS ZCREATEDDATE AS e FROM Z\($0.uppercased())"
    }
    let sql = "SELECT count(*) = count(DISTINCT u), min(v), min(e) FROM (\(all.joined(separator: " UNION ALL ")))"
    #expect(try MigrationFolder.rows(path, sql) == ["int64(1)|string(\"2.1.0\")|int64(1)"])
    for name in names {
      #expect(
        report.notes.contains {
          $0.contains("objects of \(name) was left out by remove: the server has deleted them")
        },
        "\(report.notes)")
    }
  }

  @Test(
    "Delta's policy, a UUID for each mapping of a controller, is one line in its real models",
    .enabled(if: StoreCorpus.isPresent, "no corpus: set GODWIT_CORPUS"))
  func delta() throws {
    let folder = try MigrationFolder([ManagedObjectModel(name: "Other", entities: [StoreModels.entity("Other")])])
    let models = (StoreCorpus.root ?? "") + "/cdm/rileytestut+Delta/Delta.momd"
    let store = try folder.place("delta")
    try StoreSampler(model: ModelLibrary(paths: [models]).target(named: "Delta 3"), rows: 30, seed: 2)
      .write(to: store, fileSystem: LocalFileSystem(), progress: { _ in })
    let file = folder.path + "/Delta.yaml"
    let text = """
      from: Delta 3
      to: Delta 4
      others: true
      entities:
        - { from: GameCollection, relationships: { games: null } }
        - from: Game
          relationships:
            gameCollection: { find: GameCollection, by: { identifier: { over: $source.gameCollections, first: $item.identifier } } }
        - from: GameControllerInputMapping
          attributes: { identifier: { cast: { uuid: random }, to: text } }
      """
    try Data(text.utf8).write(to: URL(fileURLWithPath: file))
    var request = folder.request(store)
    (request.models, request.mappings, request.target) = ([models], [file], .version("Delta 4"))
    #expect(try folder.migrate(request).isVerified)
    let sql = """
      SELECT count(*) > 0, count(*) = count(DISTINCT ZIDENTIFIER), min(length(ZIDENTIFIER)), max(length(ZIDENTIFIER))
      FROM ZGAMECONTROLLERINPUTMAPPING
      """
    #expect(try MigrationFolder.rows(store, sql) == ["int64(1)|int64(1)|int64(36)|int64(36)"])
    let inOne = "SELECT count(*) > 0 FROM ZGAME WHERE ZGAMECOLLECTION IN (SELECT Z_PK FROM ZGAMECOLLECTION)"
    #expect(try MigrationFolder.rows(store, inOne) == ["int64(1)"])
  }
}
