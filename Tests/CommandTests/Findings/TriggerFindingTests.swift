import Foundation
import Testing

/// Stores of several entities: triggers, derived attributes, entity numbers.
enum ManyEntities {
  static let name = FindingFolder.name
  static let kids =
    #"<relationship name="kids" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="K" "#
    + #"inverseName="parent" inverseEntity="K"/>"#
  static let child =
    name + #"<attribute name="age" optional="YES" attributeType="Integer 32"/>"#
    + #"<relationship name="parent" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="P" "#
    + #"inverseName="kids" inverseEntity="P"/>"#

  static func attribute(_ name: String, _ type: String = "String") -> String {
    #"<attribute name="\#(name)" optional="YES" attributeType="\#(type)"/>"#
  }

  static func derived(_ name: String, _ expression: String, _ type: String = "Integer 64") -> String {
    #"<attribute name="\#(name)" optional="YES" attributeType="\#(type)" derived="YES" derivationExpression="\#(expression)"/>"#
  }

  /// A version with the entity A and others, each with its contents.
  static func version(_ first: String, _ others: (name: String, contents: String)...) -> String {
    // The folder writes the beginning of the first entity, and the end of the last.
    first
      + others.map {
        #"</entity><entity name="\#($0.name)" representedClassName="\#($0.name)" syncable="YES">\#($0.contents)"#
      }
      .joined()
  }

  /// The trigger that counts the children of P, in Core Data's manner.
  static let counting =
    "CREATE TRIGGER Z_DA_ZP_P_cnt_SOURCE_INSERT AFTER INSERT ON ZK FOR EACH ROW BEGIN UPDATE ZP SET ZCNT = "
    + "(SELECT IFNULL(COUNT(ZPARENT), 0) FROM ZK WHERE ZPARENT = ZP.Z_PK) WHERE Z_PK = NEW.ZPARENT; SELECT "
    + "NSCoreDataDATriggerUpdatedAffectedObjectValue('ZP', Z_ENT, Z_PK, 'cnt', ZCNT) FROM ZP WHERE Z_PK = NEW.ZPARENT; END"
}

@Suite("Faults that were found: triggers and derived attributes")
struct TriggerFindingTests {
  private static let count = ManyEntities.derived("cnt", "kids.@count")

  private static func family(_ first: String = ManyEntities.name, parent: String, more: String? = nil) -> String {
    let family = ManyEntities.version(first, ("P", parent + ManyEntities.kids), ("K", ManyEntities.child))
    guard let more else { return family }
    return family + ManyEntities.version("", (more, ManyEntities.name))
  }

  private func triggers(_ folder: FindingFolder, _ store: String) throws -> [String] {
    try folder.texts(store, "SELECT name FROM sqlite_master WHERE type = 'trigger' ORDER BY name")
  }

  @Test(
    "Finding 6d: triggers without entity numbers survive a renumbering, in one pass and step by step",
    arguments: [[], ["--no-fuse"]])
  func renumbered(words: [String]) throws {
    let folder = try FindingFolder([
      Self.family(parent: Self.count), Self.family(parent: Self.count + ManyEntities.attribute("q")),
      Self.family(parent: Self.count + ManyEntities.attribute("q"), more: "C"),
    ])
    let store = try folder.sample("a.sqlite")
    try folder.execute(store, ManyEntities.counting)
    try folder.execute(
      store,
      "CREATE TRIGGER own AFTER UPDATE OF ZNAME ON ZA BEGIN UPDATE ZA SET Z_OPT = Z_OPT + 1 WHERE Z_PK = NEW.Z_PK; END")
    try folder.execute(store, "CREATE TRIGGER numbered AFTER UPDATE ON ZK WHEN NEW.Z_ENT = 2 BEGIN SELECT 1; END")
    let outcome = try folder.run(folder.migrate(store, to: "V3") + words)
    #expect(outcome.code == 0 && (outcome.output + outcome.error).contains("numbered"), "\(outcome)")
    #expect(try triggers(folder, store) == ["Z_DA_ZP_P_cnt_SOURCE_INSERT", "own"])
  }

  @Test(
    "Finding 6a: a trigger that a later step drops is noted, in the plan and in the summary",
    arguments: [[], ["--no-fuse"]])
  func noted(words: [String]) throws {
    let gone = ManyEntities.attribute("gone")
    let folder = try FindingFolder([
      Self.family(ManyEntities.name + gone, parent: Self.count),
      Self.family(ManyEntities.name + gone, parent: Self.count + ManyEntities.attribute("q")),
      Self.family(parent: Self.count + ManyEntities.attribute("q")),
    ])
    let store = try folder.sample("a.sqlite")
    try folder.execute(store, "CREATE TRIGGER mytrig AFTER UPDATE OF ZGONE ON ZA BEGIN SELECT 1; END")
    for command in ["plan", "migrate"] {
      let outcome = try folder.run([command, store, "--models", folder.models, "--to", "V3"] + words)
      #expect(outcome.code == 0 && (outcome.output + outcome.error).contains("dropped: mytrig"), "\(outcome)")
    }
    #expect(try triggers(folder, store).isEmpty)
  }

  @Test(
    "Finding 6b: the trigger of an attribute that is not derived any more, or in another way, goes",
    arguments: [ManyEntities.attribute("cnt", "Integer 64"), ManyEntities.derived("cnt", "kids.@sum.age")])
  func derivation(attribute: String) throws {
    let folder = try FindingFolder([Self.family(parent: Self.count), Self.family(parent: attribute)])
    let store = try folder.sample("a.sqlite")
    try folder.execute(store, ManyEntities.counting)
    let outcome = try folder.run(folder.migrate(store))
    #expect(
      outcome.code == 0 && (outcome.output + outcome.error).contains("dropped: Z_DA_ZP_P_cnt_SOURCE_INSERT"),
      "\(outcome)")
    #expect(try !triggers(folder, store).contains("Z_DA_ZP_P_cnt_SOURCE_INSERT"))
  }

  @Test(
    "Finding 6c: new derived attributes have their values, in one pass and step by step",
    arguments: [[], ["--no-fuse"]])
  func values(words: [String]) throws {
    let derived =
      Self.count + ManyEntities.derived("total", "kids.@sum.age") + ManyEntities.derived("least", "kids.age.@min")
      + ManyEntities.derived("most", "kids.@max.age") + ManyEntities.derived("upper", "uppercase:(name)", "String")
      + ManyEntities.derived("lower", "lowercase:(name)", "String")
      + ManyEntities.derived("plain", "canonical:(name)", "String")
      + ManyEntities.derived("same", "name", "String") + ManyEntities.derived("changed", "now()", "Date")
    let folder = try FindingFolder([
      Self.family(parent: ManyEntities.name), Self.family(parent: ManyEntities.name + derived),
      Self.family(parent: ManyEntities.name + derived + ManyEntities.attribute("q")),
    ])
    let store = folder.file("a.sqlite")
    try folder.runWell(["sample", folder.models, "--version", "V1", "--rows", "12", "--seed", "7", "--output", store])
    try folder.execute(store, "UPDATE ZP SET ZNAME = 'Éa' || Z_PK")
    try folder.execute(store, "UPDATE ZK SET ZAGE = Z_PK * 10, ZPARENT = CASE WHEN Z_PK < 4 THEN 1 ELSE 2 END")
    let outcome = try folder.run(folder.migrate(store, to: "V3") + words)
    #expect(outcome.code == 0 && (outcome.output + outcome.error).contains("no triggers of Core Data's"), "\(outcome)")
    let columns = "ZCNT || ' ' || IFNULL(ZTOTAL, 0) || ' ' || IFNULL(ZLEAST, '-') || ' ' || IFNULL(ZMOST, '-')"
    #expect(
      try folder.texts(store, "SELECT \(columns) FROM ZP ORDER BY Z_PK") == [
        "3 60 10 30", "1 40 40 40", "0 0 - -", "0 0 - -",
      ])
    #expect(
      try folder.texts(store, "SELECT ZUPPER || ' ' || ZLOWER || ' ' || ZPLAIN || ' ' || ZSAME FROM ZP WHERE Z_PK = 1")
        == ["ÉA1 éa1 ea1 Éa1"])
    #expect(try folder.texts(store, "SELECT COUNT(*) FROM ZP WHERE ZCHANGED > 700000000") == ["4"])
  }

  @Test("A trigger goes where a column that it names goes, though another table has one of that name")
  func namesakes() throws {
    let folder = try FindingFolder([
      ManyEntities.version(FindingFolder.name + ManyEntities.attribute("k"), ("B", FindingFolder.name)),
      ManyEntities.version(ManyEntities.attribute("k"), ("B", FindingFolder.name)),
    ])
    let store = try folder.sample("a.sqlite")
    try folder.execute(store, "CREATE TRIGGER mine AFTER UPDATE ON ZA WHEN OLD.ZNAME = 'x' BEGIN SELECT 1; END")
    try folder.execute(store, "CREATE TRIGGER stays AFTER UPDATE ON ZB WHEN OLD.ZNAME = 'x' BEGIN SELECT 1; END")
    let outcome = try folder.run(folder.migrate(store))
    #expect(outcome.code == 0 && (outcome.output + outcome.error).contains("dropped: mine"), "\(outcome)")
    #expect(try triggers(folder, store) == ["stays"])
  }

  @Test("A trigger goes where its table gets the objects of another entity, or its column another entity's values")
  func otherOwners() throws {
    let renamed =
      #"<entity name="A" representedClassName="A" elementID="B" syncable="YES">"# + FindingFolder.name + "</entity>"
    let plain = { (name: String) in
      #"<entity name="\#(name)" representedClassName="\#(name)" syncable="YES">"# + FindingFolder.name + "</entity>"
    }
    let (folder, store) = try FindingFolder.entities([plain("A") + plain("B"), renamed], rows: 6)
    try folder.execute(store, "CREATE TRIGGER mine AFTER UPDATE ON ZA BEGIN SELECT NEW.ZNAME; END")
    try folder.runWell(folder.migrate(store) + ["--accept-loss"])
    #expect(try triggers(folder, store).isEmpty)

    let child = { (name: String) in
      #"<entity name="\#(name)" parentEntity="Item" representedClassName="\#(name)" syncable="YES">"#
        + FindingFolder.name
        + "</entity>"
    }
    let item =
      #"<entity name="Item" representedClassName="Item" syncable="YES">"# + ManyEntities.attribute("k") + "</entity>"
    let (other, sisters) = try FindingFolder.entities(
      [item + child("Beta"), item + child("Alpha") + child("Beta")], rows: 6)
    try other.execute(sisters, "CREATE TRIGGER mine AFTER UPDATE OF ZNAME ON ZITEM BEGIN SELECT 1; END")
    try other.execute(
      sisters, "CREATE TRIGGER kind AFTER UPDATE ON ZITEM BEGIN SELECT CASE NEW.Z_ENT WHEN 2 THEN 1 END; END")
    try other.execute(sisters, "CREATE TRIGGER stays AFTER UPDATE OF ZK ON ZITEM BEGIN SELECT NEW.Z_ENT; END")
    try other.runWell(other.migrate(sisters))
    #expect(try triggers(other, sisters) == ["stays"])
  }

  @Test("A derived attribute that cannot be computed is named in a note")
  func uncomputed() throws {
    let odd = ManyEntities.derived("odd", "FUNCTION(name, &quot;strange:&quot;)", "String")
    let folder = try FindingFolder([
      Self.family(parent: ManyEntities.name), Self.family(parent: ManyEntities.name + odd),
    ])
    let store = try folder.sample("a.sqlite")
    let outcome = try folder.run(folder.migrate(store))
    #expect(outcome.code == 0)
    #expect((outcome.output + outcome.error).contains("are not computed, and have no triggers"), "\(outcome)")
    #expect((outcome.output + outcome.error).contains("P.odd"), "\(outcome)")
  }

  @Test(
    "CloudKit's rows of a removed entity go with it and are counted; the others get new numbers under their unique index"
  )
  func cloudKit() throws {
    let folder = try FindingFolder([
      ManyEntities.version(FindingFolder.name, ("B", FindingFolder.name), ("C", FindingFolder.name)),
      ManyEntities.version(FindingFolder.name, ("C", FindingFolder.name)),
    ])
    let store = folder.file("a.sqlite")
    try folder.runWell(["sample", folder.models, "--version", "V1", "--rows", "9", "--seed", "7", "--output", store])
    try folder.execute(
      store,
      """
      CREATE TABLE ANSCKRECORDMETADATA (Z_PK INTEGER PRIMARY KEY, ZENTITYID INTEGER, ZENTITYPK INTEGER);
      CREATE UNIQUE INDEX Z_NSCKRecordMetadata_UNIQUE_entityId_entityPK ON ANSCKRECORDMETADATA (ZENTITYID, ZENTITYPK);
      INSERT INTO ANSCKRECORDMETADATA (ZENTITYID, ZENTITYPK) SELECT Z_ENT, Z_PK FROM ZA UNION ALL SELECT Z_ENT, Z_PK FROM ZB
        UNION ALL SELECT Z_ENT, Z_PK FROM ZC
      """)
    let outcome = try folder.run(folder.migrate(store) + ["--allow-cloudkit"])
    #expect(outcome.code == 0, "\(outcome)")
    #expect(
      (outcome.output + outcome.error).contains("3 rows of ANSCKRECORDMETADATA are dropped with their entities"),
      "\(outcome)")
    #expect(
      try folder.texts(
        store, "SELECT ZENTITYID || ' ' || ZENTITYPK FROM ANSCKRECORDMETADATA ORDER BY ZENTITYID, ZENTITYPK")
        == ["1 1", "1 2", "1 3", "2 1", "2 2", "2 3"])
    #expect(try folder.texts(store, "PRAGMA integrity_check") == ["ok"])
  }
}
