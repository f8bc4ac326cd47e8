import Foundation
import Testing

/// Parents and children in two versions: the second one's parents derive what their children are.
private enum Kin {
  static let derived =
    ManyEntities.derived("cnt", "kids.@count") + ManyEntities.derived("total", "kids.@sum.age")
    + ManyEntities.derived("least", "kids.age.@min") + ManyEntities.derived("most", "max:(kids.age)")
    + ManyEntities.derived("mean", "kids.@avg.age", "Double")
  static let manyToMany =
    ManyEntities.name + ManyEntities.attribute("age", "Integer 32")
    + #"<relationship name="parents" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="P" "#
    + #"inverseName="kids" inverseEntity="P"/>"#
  static let kids = ManyEntities.kids.replacing("parent", with: "parents")

  static func version(_ parent: String, others: (name: String, contents: String)...) -> String {
    version(parent + ManyEntities.kids, child: ManyEntities.child, others)
  }

  static func joined(_ parent: String, others: (name: String, contents: String)...) -> String {
    version(parent + kids, child: manyToMany, others)
  }

  private static func version(_ parent: String, child: String, _ others: [(name: String, contents: String)]) -> String {
    let family = ManyEntities.version(ManyEntities.name, ("P", parent), ("K", child))
    return others.reduce(family) { $0 + ManyEntities.version("", $1) }
  }
}

@Suite("Faults that were found: triggers of new derived attributes")
struct DerivedTriggerFindingTests {
  private func triggers(_ folder: FindingFolder, _ store: String) throws -> [String] {
    try folder.texts(store, "SELECT name FROM sqlite_master WHERE type = 'trigger' ORDER BY name")
  }

  /// A store of V1 with parents and children, migrated.
  private func migrated(_ versions: [String], to version: String, _ words: [String] = []) throws -> (
    FindingFolder, String, said: String
  ) {
    let folder = try FindingFolder(versions)
    let store = folder.file("a.sqlite")
    try folder.runWell(["sample", folder.models, "--version", "V1", "--rows", "12", "--seed", "7", "--output", store])
    try folder.execute(store, "UPDATE ZK SET ZAGE = Z_PK * 10")
    let outcome = try folder.run(folder.migrate(store, to: version) + words)
    try #require(outcome.code == 0, "\(outcome)")
    return (folder, store, outcome.output + outcome.error)
  }

  /// Makes one change after the other, and compares each time what is stored with what the children are.
  private func expectCurrent(_ folder: FindingFolder, _ store: String, kids: String, _ changes: [String]) throws {
    let stored = "ZCNT || ' ' || ZTOTAL || ' ' || ifnull(ZLEAST, '-') || ' ' || ifnull(ZMOST, '-') || ' ' || ZMEAN"
    let wanted =
      "count(k.Z_PK) || ' ' || ifnull(sum(k.ZAGE), 0) || ' ' || ifnull(min(k.ZAGE), '-') || ' ' || ifnull(max(k.ZAGE), '-') "
      + "|| ' ' || ifnull(CAST(sum(k.ZAGE) AS REAL) / count(k.Z_PK), 0.0)"
    try folder.runWell(["verify", store, "--models", folder.models])
    for change in ["SELECT 1"] + changes {
      try folder.execute(store, change)
      #expect(
        try folder.texts(store, "SELECT \(stored) FROM ZP ORDER BY Z_PK")
          == folder.texts(
            store,
            "SELECT \(wanted) FROM ZP p LEFT JOIN (\(kids)) k ON k.OWNER = p.Z_PK GROUP BY p.Z_PK ORDER BY p.Z_PK"),
        "\(change)")
    }
    #expect(try folder.texts(store, "PRAGMA integrity_check") == ["ok"])
  }

  private static let changes = [
    "INSERT INTO ZK (Z_PK, Z_ENT, Z_OPT, ZAGE, ZPARENT) SELECT 100, Z_ENT, 1, 7, 2 FROM ZK LIMIT 1",
    "UPDATE ZK SET ZPARENT = 1 WHERE Z_PK = 100", "UPDATE ZK SET ZAGE = 99 WHERE Z_PK = 100",
    "UPDATE ZK SET ZAGE = NULL WHERE Z_PK = 2", "UPDATE ZK SET ZPARENT = NULL WHERE Z_PK = 1",
    "UPDATE ZK SET ZPARENT = 3, ZAGE = 5 WHERE Z_PK IN (1, 3)", "DELETE FROM ZK WHERE Z_PK = 100",
    // A child is there before its parent.
    "INSERT INTO ZK (Z_PK, Z_ENT, Z_OPT, ZAGE, ZPARENT) SELECT 101, Z_ENT, 1, 8, 50 FROM ZK LIMIT 1",
    "INSERT INTO ZP (Z_PK, Z_ENT, Z_OPT) SELECT 50, Z_ENT, 1 FROM ZP LIMIT 1", "DELETE FROM ZK",
  ]

  @Test("Aggregates of an inferred step stay current under any change of the children", arguments: [[], ["--no-fuse"]])
  func toOne(words: [String]) throws {
    let (folder, store, said) = try migrated(
      [Kin.version(ManyEntities.name), Kin.version(ManyEntities.name + Kin.derived)], to: "V2", words)
    #expect(
      said.contains(
        "kept up to date by triggers in plain SQL, which are not Core Data's: P.cnt, P.least, P.mean, P.most, P.total"))
    #expect(!said.contains("no triggers of Core Data's"))
    let names = [
      "ZK_P_cnt_SOURCE_DELETE", "ZK_P_cnt_SOURCE_INSERT", "ZK_P_cnt_SOURCE_UPDATE", "ZP_P_cnt_PARAMETER_INSERT",
    ]
    #expect(try triggers(folder, store).filter { $0.contains("_cnt_") } == names.map { "Z_DA_" + $0 })
    try expectCurrent(folder, store, kids: "SELECT Z_PK, ZAGE, ZPARENT AS OWNER FROM ZK", Self.changes)
  }

  @Test("They survive a later version that renumbers entities and adds tables", arguments: [[], ["--no-fuse"]])
  func renumbered(words: [String]) throws {
    let more = Kin.version(
      ManyEntities.name + Kin.derived + ManyEntities.attribute("q"), others: ("C", ManyEntities.name))
    let (folder, store, _) = try migrated(
      [Kin.version(ManyEntities.name), Kin.version(ManyEntities.name + Kin.derived), more], to: "V2", words)
    let again = try folder.run(folder.migrate(store, to: "V3"))
    #expect(again.code == 0 && !(again.output + again.error).contains("dropped:"), "\(again)")
    try expectCurrent(folder, store, kids: "SELECT Z_PK, ZAGE, ZPARENT AS OWNER FROM ZK", Self.changes)
  }

  @Test(
    "Those over a join table do so, too, also when the table's name and columns change their numbers",
    arguments: [[], ["--no-fuse"]])
  func joined(words: [String]) throws {
    let versions = [
      Kin.joined(ManyEntities.name), Kin.joined(ManyEntities.name + Kin.derived),
      Kin.joined(ManyEntities.name + Kin.derived, others: ("C", ManyEntities.name)),
    ]
    for version in ["V2", "V3"] {
      let (folder, store, said) = try migrated(versions, to: version, words)
      #expect(!said.contains("dropped:"), "\(said)")
      let table = try #require(
        try folder.texts(store, "SELECT name FROM sqlite_master WHERE name GLOB 'Z_[0-9]*' AND type = 'table'").first)
      let columns = try folder.texts(store, "SELECT name FROM pragma_table_info('\(table)') ORDER BY cid")
      let (owner, child) = columns[0].hasSuffix("PARENTS") ? (columns[0], columns[1]) : (columns[1], columns[0])
      try expectCurrent(
        folder, store,
        kids: "SELECT k.Z_PK, k.ZAGE, l.\(owner) AS OWNER FROM \(table) l JOIN ZK k ON k.Z_PK = l.\(child)",
        [
          "DELETE FROM \(table)", "INSERT INTO \(table) (\(owner), \(child)) VALUES (1, 1), (1, 2), (2, 1)",
          "UPDATE ZK SET ZAGE = 44 WHERE Z_PK = 1", "UPDATE \(table) SET \(owner) = 3 WHERE \(child) = 2",
          "DELETE FROM \(table) WHERE \(owner) = 1",
          "DELETE FROM ZK WHERE Z_PK = 1; DELETE FROM \(table) WHERE \(child) = 1",
        ])
    }
  }

  @Test(
    "Where entities share a table, only objects of the attribute's entity get values; the text has no entity numbers")
  func inheritance() throws {
    func entities(_ more: String) -> String {
      #"<entity name="P" syncable="YES">\#(ManyEntities.name + ManyEntities.kids)</entity>"#
        + #"<entity name="Q" parentEntity="P" syncable="YES">\#(ManyEntities.attribute("own") + more)</entity>"#
        + #"<entity name="K" syncable="YES">\#(ManyEntities.child)</entity>"#
    }
    let (folder, store) = try FindingFolder.entities(
      [entities(""), entities(ManyEntities.derived("cnt", "kids.@count"))], rows: 60)
    try folder.runWell(folder.migrate(store))
    let numbers = try folder.texts(store, "SELECT Z_NAME || Z_ENT FROM Z_PRIMARYKEY ORDER BY Z_ENT")
    #expect(numbers == ["K1", "P2", "Q3"])
    try folder.execute(store, "UPDATE ZK SET ZPARENT = (SELECT Z_PK FROM ZP WHERE Z_ENT = 2 LIMIT 1) WHERE Z_PK < 4")
    try folder.execute(store, "UPDATE ZK SET ZPARENT = (SELECT Z_PK FROM ZP WHERE Z_ENT = 3 LIMIT 1) WHERE Z_PK >= 4")
    try folder.execute(store, "INSERT INTO ZP (Z_PK, Z_ENT, Z_OPT) VALUES (500, 2, 1), (501, 3, 1)")
    #expect(try folder.texts(store, "SELECT count(*) FROM ZP WHERE Z_ENT = 2 AND ZCNT IS NOT NULL") == ["0"])
    #expect(
      try folder.texts(
        store,
        "SELECT Z_PK FROM ZP WHERE Z_ENT = 3 AND ZCNT IS NOT (SELECT count(*) FROM ZK WHERE ZPARENT = ZP.Z_PK)"
      ).isEmpty)
  }

  @Test("They go with the derivation, whichever table they are on, and Core Data's of the same name go before them")
  func gone() throws {
    let plain = Kin.version(ManyEntities.name + ManyEntities.attribute("cnt", "Integer 64"))
    let count = Kin.version(ManyEntities.name + ManyEntities.derived("cnt", "kids.@count"))
    let (folder, store, _) = try migrated([Kin.version(ManyEntities.name), count, plain], to: "V2")
    let outcome = try folder.run(folder.migrate(store, to: "V3"))
    #expect(
      outcome.code == 0 && (outcome.output + outcome.error).contains("dropped: Z_DA_ZK_P_cnt_SOURCE"), "\(outcome)")
    #expect(try triggers(folder, store).isEmpty)
  }

  @Test(
    "Values that only Core Data's functions keep, and aggregates that do not fit their type, get no trigger, and a note says so"
  )
  func without() throws {
    let derived =
      ManyEntities.derived("upper", "uppercase:(name)", "String") + ManyEntities.derived("changed", "now()", "Date")
      + ManyEntities.derived("share", "kids.@avg.age") + ManyEntities.derived("deep", "kids.parent.@count")
    let (folder, store, said) = try migrated(
      [Kin.version(ManyEntities.name), Kin.version(ManyEntities.name + derived)], to: "V2")
    #expect(said.contains("but have no triggers of Core Data's that keep them up to date: P.changed"), "\(said)")
    #expect(!said.contains("plain SQL"))
    #expect(try triggers(folder, store).isEmpty)
  }
}
