import Foundation
import Testing

/// What `--identity` keeps, and indexes over the object itself.
@Suite("Faults that were found: identity")
struct IdentityFindingTests {
  private static let family =
    #"<entity name="P" representedClassName="P" isAbstract="YES" syncable="YES"/>"#
    + #"<entity name="A" representedClassName="A" parentEntity="P" syncable="YES">"#
    + #"<attribute name="x" optional="YES" attributeType="Integer 64" usesScalarValueType="YES"/>"#
    + #"<relationship name="next" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="A"/></entity>"#
    + #"<entity name="B" representedClassName="B" parentEntity="P" syncable="YES">"#
    + #"<attribute name="y" optional="YES" attributeType="String"/></entity>"#

  @Test(
    "Values that rows have in attributes of sister entities, as Core Data leaves them, stay in an identity migration")
  func sisters() throws {
    let (folder, store) = try FindingFolder.entities([Self.family], rows: 20)
    let other = "Z_ENT = (SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = 'B')"
    try folder.execute(store, "UPDATE ZP SET ZX = 0 WHERE \(other); UPDATE ZP SET ZY = 'kept' WHERE NOT \(other)")
    let all =
      "SELECT Z_PK || ' ' || Z_ENT || ' ' || Z_OPT || ' ' || quote(ZX) || quote(ZNEXT) || quote(ZY) FROM ZP ORDER BY 1"
    let before = try folder.texts(store, all)
    #expect(
      before.count == 20 && before.contains { $0.contains(" 0NULL") } && before.contains { $0.hasSuffix("'kept'") })
    for words in [["--identity"], ["--identity", "--index-builder", "sqlite"]] {
      try folder.runWell(["migrate", store, "--models", folder.models] + words)
      #expect(try folder.texts(store, all) == before)
      try folder.runWell(["verify", store, "--models", folder.models])
    }
  }

  @Test("An index over the object itself is made of its key", arguments: ["engine", "sqlite"])
  func object(builder: String) throws {
    let text = #"<attribute name="p" optional="YES" attributeType="String"/>"#
    func entity(_ contents: String) -> String {
      #"<entity name="A" representedClassName="A" syncable="YES">"# + text + contents
        + #"<fetchIndex name="byObject"><fetchIndexElement property="p" type="Binary" order="descending"/>"#
        + #"<fetchIndexElement property="self" type="Binary" order="ascending"/></fetchIndex>"#
        + #"<fetchIndex name="alone"><fetchIndexElement property="self" type="Binary" order="descending"/></fetchIndex></entity>"#
    }
    let (folder, store) = try FindingFolder.entities(
      [entity(""), entity(text.replacing("\"p\"", with: "\"q\""))], rows: 20)
    try folder.execute(store, "UPDATE ZA SET ZP = CASE WHEN Z_PK % 2 = 0 THEN 'even' END")
    for words in [["--to", "V2"], ["--identity"]] {
      try folder.runWell(["migrate", store, "--models", folder.models, "--index-builder", builder] + words)
      #expect(
        try folder.texts(store, "SELECT sql FROM sqlite_master WHERE name LIKE 'Z_A_%' ORDER BY name") == [
          "CREATE INDEX Z_A_alone ON ZA (Z_PK COLLATE BINARY DESC)",
          "CREATE INDEX Z_A_byObject ON ZA (ZP COLLATE BINARY DESC, Z_PK COLLATE BINARY ASC)",
        ])
      #expect(try folder.texts(store, "PRAGMA integrity_check") == ["ok"])
      let found =
        "SELECT group_concat(Z_PK) FROM (SELECT Z_PK FROM ZA INDEXED BY Z_A_byObject WHERE ZP = 'even' ORDER BY Z_PK)"
      #expect(try folder.texts(store, found) == ["2,4,6,8,10,12,14,16,18,20"])
      try folder.runWell(["verify", store, "--models", folder.models])
    }
    let tables = try folder.run(["migrate", store, "--models", folder.models, "--ddl-only"])
    #expect(tables.code == 0 && tables.output.contains("ON public.a (p DESC, id)"), "\(tables)")
  }
}
