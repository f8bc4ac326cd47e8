import Foundation
import Testing

/// History that would become untrue is refused before anything is written, in every step; or emptied, on a resume as
/// well.
@Suite("Faults that were found: history")
struct HistoryFindingTests {
  private static let number =
    #"<attribute name="n" optional="YES" attributeType="Integer 64" usesScalarValueType="YES"/>"#
  private static let extra = #"<attribute name="extra" optional="YES" attributeType="String"/>"#

  private static func entity(_ name: String, _ contents: String = "", renamed: String? = nil) -> String {
    let identifier = renamed.map { " elementID=\"\($0)\"" } ?? ""
    return
      "<entity name=\"\(name)\" representedClassName=\"\(name)\" syncable=\"YES\"\(identifier)>\(contents)</entity>"
  }

  private static func text(_ names: String...) -> String {
    names.map { "<attribute name=\"\($0)\" optional=\"YES\" attributeType=\"String\"/>" }.joined()
  }

  /// Versions V1, V2, … with these entities, and a store of V1 with ten objects of each entity.
  private func store(_ versions: [String]) throws -> (FindingFolder, String) {
    try FindingFolder.entities(versions, rows: 10 * versions[0].split(separator: "<entity").count)
  }

  /// Says of every object of a table that it was inserted, and of the first one that the property of bit 2 was changed.
  private func addHistory(
    _ folder: FindingFolder, _ store: String, _ table: String, entity: Int, hasBitmap: Bool = false
  ) throws {
    try folder.execute(
      store,
      """
      CREATE TABLE ACHANGE (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZCHANGETYPE INTEGER, ZENTITY INTEGER, \
      ZENTITYPK INTEGER, ZTRANSACTIONID INTEGER, ZCOLUMNS BLOB);
      INSERT INTO Z_PRIMARYKEY VALUES (16001, 'CHANGE', 0, 100);
      INSERT INTO ACHANGE SELECT Z_PK, 16001, 1, 0, \(entity), Z_PK, 1, NULL FROM \(table);
      """)
    guard hasBitmap else { return }
    try folder.execute(store, "INSERT INTO ACHANGE VALUES (100, 16001, 1, 1, \(entity), 1, 1, x'04')")
  }

  private func changes(_ folder: FindingFolder, _ store: String) throws -> [String] {
    try folder.texts(store, "SELECT ZENTITY || ' ' || count(*) FROM ACHANGE GROUP BY ZENTITY")
  }

  private func expectRefused(_ folder: FindingFolder, _ store: String, _ words: [String], _ says: String) throws {
    let before = try folder.folder.tree()
    for command in ["plan", "migrate"] {
      let refused = try folder.run([command, store, "--models", folder.models] + words)
      #expect(refused.code == 20 && refused.error.contains("would become untrue: \(says)"), "\(refused)")
      #expect(refused.error.contains("--history empty"), "\(refused)")
    }
    #expect(try folder.folder.tree() == before)
  }

  @Test(
    "Finding H1: a filter that may leave objects out is refused, for their insert rows would stay; without history it is not"
  )
  func filter() throws {
    let (folder, store) = try self.store([Self.entity("A", Self.number), Self.entity("A", Self.number + Self.extra)])
    try folder.execute(store, "UPDATE ZA SET ZN = Z_PK")
    try addHistory(folder, store, "ZA", entity: 1)
    let mapping = folder.folder.newPath("m.yaml")
    try "from: V1\nto: V2\nentities:\n  - {from: A, to: A, filter: \"n > 5\"}\n"
      .write(toFile: mapping, atomically: false, encoding: .utf8)
    let words = ["--mappings", mapping, "--accept-loss"]
    try expectRefused(folder, store, words, "A has a filter")
    try folder.runWell(["migrate", store, "--models", folder.models, "--history", "empty"] + words)
    #expect(try folder.texts(store, "SELECT count(*) FROM ZA") == ["5"] && changes(folder, store).isEmpty)
  }

  @Test(
    "Finding H1: an object to be rejected ends the run where history names its entity; a resume may empty the history")
  func reject() throws {
    let small = Self.number.replacing("64", with: "16")
    let (folder, store) = try self.store([Self.entity("A", Self.number), Self.entity("A", small)])
    try folder.execute(store, "UPDATE ZA SET ZN = CASE WHEN Z_PK = 4 THEN 70000 ELSE Z_PK END")
    try addHistory(folder, store, "ZA", entity: 1)
    let words = ["migrate", store, "--models", folder.models, "--max-rejects", "5"]
    let refused = try folder.run(words)
    #expect(
      refused.code == 20 && refused.error.contains("may become untrue") && refused.error.contains("A"), "\(refused)")
    #expect(try folder.isStore(store, at: "V1"))
    let again = try folder.run(["resume", store])
    #expect(again.code == 20, "\(again)")
    let advice = try #require(FindingFolder.advice(again))
    #expect(advice == ["resume", store, "--history", "empty"])
    let done = try folder.run(advice)
    #expect(done.code == 10, "\(done)")
    #expect(try folder.isStore(store, at: "V2") && folder.texts(store, "SELECT count(*) FROM ZA") == ["9"])
    #expect(try changes(folder, store).isEmpty && folder.jobs().isEmpty)
  }

  @Test("An object is rejected as before where no history names its entity, and history stays without rejects")
  func harmless() throws {
    let small = Self.number.replacing("64", with: "16")
    let (folder, store) = try self.store([
      Self.entity("A", Self.number) + Self.entity("B", Self.text("p")),
      Self.entity("A", small) + Self.entity("B", Self.text("p")),
    ])
    try folder.execute(store, "UPDATE ZA SET ZN = CASE WHEN Z_PK = 4 THEN 70000 ELSE Z_PK END")
    try addHistory(folder, store, "ZB", entity: 2)
    let done = try folder.run(["migrate", store, "--models", folder.models, "--max-rejects", "5"])
    #expect(done.code == 10, "\(done)")
    #expect(try changes(folder, store) == ["2 10"])
  }

  @Test("Finding H1: a part that is left out has no objects, so its history is refused")
  func skipped() throws {
    let (folder, store) = try self.store([
      Self.entity("A", Self.text("p")) + Self.entity("B", Self.text("p")),
      Self.entity("A", Self.text("p", "q")) + Self.entity("B", Self.text("p")),
    ])
    try addHistory(folder, store, "ZA", entity: 1)
    let output = folder.file("o.sqlite")
    let words = ["migrate", store, "--models", folder.models, "--output", output]
    let refused = try folder.run(words + ["--skip", "AToA"])
    #expect(refused.code == 20 && refused.error.contains("A belongs to a part that is left out"), "\(refused)")
    try folder.runWell(words + ["--skip", "BToB"])
    #expect(try changes(folder, output) == ["1 10"])
  }

  @Test("Finding H2: a bitmap over an entity whose name another one takes over is refused", arguments: [true, false])
  func swapped(hasBitmap: Bool) throws {
    let (folder, store) = try self.store([
      Self.entity("Aa", Self.text("p", "q", "r")) + Self.entity("Bb", Self.text("p", "q")),
      Self.entity("Aa", Self.text("p", "q", "r"), renamed: "Bb")
        + Self.entity("Bb", Self.text("a0", "q", "r"), renamed: "Aa"),
    ])
    try addHistory(folder, store, "ZAA", entity: 1, hasBitmap: hasBitmap)
    guard !hasBitmap else {
      return try expectRefused(folder, store, ["--accept-loss"], "Aa has other properties in V2")
    }
    try folder.runWell(["migrate", store, "--models", folder.models, "--accept-loss"])
    #expect(try changes(folder, store) == ["2 10"])
  }

  @Test(
    "Finding H3: history that a later step makes untrue is refused before the first row, under the name that it has there"
  )
  func laterStep() throws {
    let a = Self.entity("A", Self.text("p"))
    let (folder, store) = try self.store([
      a + Self.entity("User", Self.text("p")), a + Self.entity("Zuser", Self.text("p"), renamed: "User"), a,
    ])
    try addHistory(folder, store, "ZUSER", entity: 2)
    try expectRefused(folder, store, ["--no-fuse"], "Zuser has no objects in V3")
    try expectRefused(folder, store, [], "User has no objects in V3")
    try folder.runWell([
      "migrate", store, "--models", folder.models, "--to", "V2", "--output", folder.file("v2.sqlite"),
    ])
    #expect(try changes(folder, folder.file("v2.sqlite")) == ["2 10"])
    try folder.runWell(["migrate", store, "--models", folder.models, "--history", "empty"])
    #expect(try folder.isStore(store, at: "V3") && changes(folder, store).isEmpty)
  }

  @Test("A resume with another --history gives the bytes of a run that had it from the beginning")
  func resumed() throws {
    let a = Self.entity("A", Self.text("p"))
    let (folder, store) = try self.store([a, Self.entity("A", Self.text("p", "q"))])
    try addHistory(folder, store, "ZA", entity: 1)
    try FileManager.default.copyItem(atPath: store, toPath: folder.file("c.sqlite"))
    try folder.runWell([
      "migrate", folder.file("c.sqlite"), "--models", folder.models, "--history", "empty", "--output",
      folder.file("d.sqlite"),
    ])
    let output = folder.file("o.sqlite")
    let resume = ["resume", output, "--history", "empty"]
    // All is written when the run is killed; then its successor is, between the end of the checkpoints and the new
    // plan.
    let words = ["migrate", store, "--models", folder.models, "--output", output, "--checkpoint-every", "1"]
    try folder.kill(words, before: "rename cutover.json")
    try folder.kill(resume, before: "rename plan.json")
    #expect(try folder.run(["status", output]).code == 0)
    try folder.runWell(resume)
    #expect(try changes(folder, output).isEmpty && folder.texts(output, "SELECT count(*) FROM ZA") == ["10"])
    #expect(try CommandFolder.bytes(output) == CommandFolder.bytes(folder.file("d.sqlite")))
    #expect(try folder.jobs().isEmpty)
  }
}
