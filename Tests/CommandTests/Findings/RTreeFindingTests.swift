import Foundation
import Testing

@Suite("Faults that were found: R-trees")
struct RTreeFindingTests {
  private static func tree(_ name: String, _ properties: String...) -> String {
    let elements = properties.map { #"<fetchIndexElement property="\#($0)" type="RTree" order="ascending"/>"# }.joined()
    return #"<fetchIndex name="\#(name)">\#(elements)</fetchIndex>"#
  }

  private static func version(_ more: String = "", _ trees: String) -> String {
    let place =
      ManyEntities.attribute("lat", "Double") + ManyEntities.attribute("lon", "Float") + FindingFolder.name + more
      + tree("byPlace", "lat", "lon")
    return #"<entity name="Place" representedClassName="Place" syncable="YES">\#(place)</entity>"#
      + #"<entity name="Town" parentEntity="Place" syncable="YES">\#(ManyEntities.attribute("people", "Integer 32"))\#(trees)</entity>"#
      + #"<entity name="Other" syncable="YES">\#(FindingFolder.name)</entity>"#
  }

  private static let people = tree("byPeople", "people")

  /// V1 to V3: V2 has one R-tree more, V3 only that of places.
  private func places() throws -> (FindingFolder, store: String) {
    let (folder, store) = try FindingFolder.entities(
      [
        Self.version("", ""), Self.version(ManyEntities.attribute("q"), Self.people),
        Self.version(ManyEntities.attribute("r"), ""),
      ],
      rows: 900)
    for (key, lat) in [
      (1, "NULL"), (2, "1e300"), (3, "5e-324"), (4, "-1e300"), (5, "0.1"), (6, "-0.1"), (7, "16777217"),
    ] {
      try folder.execute(store, "UPDATE ZPLACE SET ZLAT = \(lat), ZLON = 0.1 WHERE Z_PK = \(key)")
    }
    return (folder, store)
  }

  /// Rows that an R-tree which SQLite filled from the table would have otherwise.
  private func differences(
    _ folder: FindingFolder, _ store: String, _ tree: String, _ columns: [String], where rows: String
  ) throws -> [String] {
    let bounds = columns.map { ", \($0)_MIN, \($0)_MAX" }.joined()
    let values = columns.map { ", \($0), \($0)" }.joined()
    try folder.execute(
      store,
      "CREATE VIRTUAL TABLE wanted USING rtree(Z_PK\(bounds)); INSERT INTO wanted SELECT Z_PK\(values) FROM ZPLACE WHERE \(rows)"
    )
    defer { try? folder.execute(store, "DROP TABLE wanted") }
    return try folder.texts(
      store,
      "SELECT Z_PK || '' FROM (SELECT * FROM wanted EXCEPT SELECT * FROM \(tree)) UNION ALL "
        + "SELECT Z_PK || '' FROM (SELECT * FROM \(tree) EXCEPT SELECT * FROM wanted)")
  }

  @Test(
    "An R-tree of the model is written with the rows and bounds that SQLite gives it, in one pass and step by step",
    arguments: [[], ["--no-fuse"], ["--index-builder", "sqlite"]])
  func written(words: [String]) throws {
    let (folder, store) = try places()
    let outcome = try folder.run(folder.migrate(store) + words)
    #expect(outcome.code == 0 && !(outcome.output + outcome.error).contains("R-tree"), "\(outcome)")
    #expect(
      try folder.texts(store, "SELECT sql FROM sqlite_master WHERE name LIKE 'Z_RT_%' AND rootpage = 0") == [
        "CREATE VIRTUAL TABLE Z_RT_Place_byPlace USING RTREE (Z_PK INTEGER PRIMARY KEY, ZLAT_MIN FLOAT, ZLAT_MAX FLOAT, "
          + "ZLON_MIN FLOAT, ZLON_MAX FLOAT)",
        "CREATE VIRTUAL TABLE Z_RT_Town_byPeople USING RTREE (Z_PK INTEGER PRIMARY KEY, ZPEOPLE_MIN FLOAT, ZPEOPLE_MAX FLOAT)",
      ])
    #expect(try differences(folder, store, "Z_RT_Place_byPlace", ["ZLAT", "ZLON"], where: "1").isEmpty)
    let town = "Z_ENT = (SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = 'Town')"
    #expect(try differences(folder, store, "Z_RT_Town_byPeople", ["ZPEOPLE"], where: town).isEmpty)
    #expect(try folder.texts(store, "PRAGMA integrity_check; ") == ["ok"])
    #expect(try folder.texts(store, "SELECT rtreecheck('Z_RT_Place_byPlace')") == ["ok"])
    // Still in use.
    try folder.execute(store, "INSERT INTO Z_RT_Town_byPeople VALUES (100000, 1, 1)")
    try folder.execute(store, "DELETE FROM Z_RT_Town_byPeople WHERE Z_PK = 100000")
    let verified = try folder.run(["verify", store, "--models", folder.models])
    #expect(verified.code == 0, "\(verified)")
  }

  @Test("An R-tree whose index the new version drops goes, with a note and a line of the account")
  func dropped() throws {
    let (folder, store) = try places()
    try folder.runWell(folder.migrate(store))
    let outcome = try folder.run(folder.migrate(store, to: "V3"))
    let said = outcome.output + outcome.error
    #expect(outcome.code == 0 && said.contains("R-tree indexes are dropped: Z_RT_Town_byPeople"), "\(outcome)")
    #expect(try folder.texts(store, "SELECT name FROM sqlite_master WHERE name LIKE 'Z_RT_Town%'").isEmpty)
  }

  @Test("inspect, plan and verify of a store with R-trees are not surprised by them")
  func looked() throws {
    let (folder, store) = try places()
    for words in [["inspect", store], ["verify", store], ["plan", store]] {
      let outcome = try folder.run(words + (words[0] == "inspect" ? [] : ["--models", folder.models]))
      #expect(outcome.code == 0 && !outcome.output.contains("is not the model's"), "\(outcome)")
    }
  }
}
