import Foundation
import Testing

@testable import StoreVerification

/// Plans that would lose what nobody gave up.
@Suite("Faults that were found: plans that lose data")
struct LossFindingTests {
  private static let extra = #"<attribute name="extra" optional="YES" attributeType="String"/>"#
  private static let link =
    #"<relationship name="next" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="A"/>"#

  /// A store at V2 that carries its model, and a bundle that ends with V1.
  private func newer() throws -> (FindingFolder, String) {
    let folder = try FindingFolder([FindingFolder.name, FindingFolder.name + Self.extra + Self.link])
    let store = folder.file("b.sqlite")
    try folder.runWell(["sample", folder.models, "--version", "V2", "--rows", "6", "--seed", "5", "--output", store])
    try folder.execute(
      store, "UPDATE ZA SET ZEXTRA = CASE WHEN Z_PK <= 4 THEN 'x' END, ZNEXT = CASE WHEN Z_PK <= 2 THEN 1 END")
    try FileManager.default.removeItem(atPath: folder.models + "/V2.xcdatamodel")
    try FileManager.default.removeItem(atPath: folder.models + "/.xccurrentversion")
    return (folder, store)
  }

  @Test(
    "Finding A2: a store that is newer than the bundle is refused with what it would lose; what the message advises does it"
  )
  func older() throws {
    let (folder, store) = try newer()
    let before = try folder.folder.tree()
    for command in ["plan", "migrate"] {
      let refused = try folder.run([command, store, "--models", folder.models])
      #expect(refused.code == 20 && refused.error.contains("4 values of A.extra, 2 links of A.next"), "\(refused)")
      #expect(
        refused.error.contains("nothing was written") && refused.error.contains("nearest version is V1"), "\(refused)")
      #expect(try folder.folder.tree() == before)
    }
    let refused = try folder.run(["migrate", store, "--models", folder.models, "--drop", "A.extra"])
    #expect(refused.code == 20 && !refused.error.contains("4 values of A.extra"), "\(refused)")
    try folder.runWell(try #require(FindingFolder.advice(refused)))
    #expect(try folder.isStore(store, at: "V1") && folder.names(store).count == 6)
  }

  @Test(
    "Finding A2: --accept-loss, or the entity's name, allows it all", arguments: [["--accept-loss"], ["--drop", "A"]])
  func accepted(words: [String]) throws {
    let (folder, store) = try newer()
    try folder.runWell(["migrate", store, "--models", folder.models] + words)
    #expect(try folder.isStore(store, at: "V1"))
  }

  @Test("Finding A1: a store of another application is refused, whatever is allowed")
  func another() throws {
    let (folder, store) = try newer()
    let text = try String(contentsOfFile: folder.models + "/V1.xcdatamodel/contents", encoding: .utf8)
    try text.replacing("\"A\"", with: "\"Other\"")
      .write(toFile: folder.models + "/V1.xcdatamodel/contents", atomically: false, encoding: .utf8)
    for words in [[], ["--accept-loss"], ["--drop", "A"]] {
      let refused = try folder.run(["migrate", store, "--models", folder.models] + words)
      #expect(refused.code == 20 && refused.error.contains("no entity in common"), "\(refused)")
    }
    #expect(try folder.names(store).count == 6 && folder.jobs().isEmpty)
  }

  @Test("Links of a many-to-many relationship are counted, however many objects they lead from")
  func manyToMany() throws {
    let ends = [("next", "last"), ("last", "next")].map { name, inverse in
      #"<relationship name="\#(name)" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="A" "#
        + #"inverseName="\#(inverse)" inverseEntity="A"/>"#
    }
    let folder = try FindingFolder([FindingFolder.name, FindingFolder.name + ends.joined()])
    let store = folder.file("b.sqlite")
    try folder.runWell(["sample", folder.models, "--version", "V2", "--rows", "6", "--seed", "5", "--output", store])
    let table = try #require(
      try folder.texts(store, "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'Z_1%'").first)
    let keys = "WITH RECURSIVE k(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM k WHERE n < 70000)"
    try folder.execute(store, "DELETE FROM \(table); \(keys) INSERT INTO \(table) SELECT n, n FROM k")
    try FileManager.default.removeItem(atPath: folder.models + "/V2.xcdatamodel")
    try FileManager.default.removeItem(atPath: folder.models + "/.xccurrentversion")
    let refused = try folder.run(["migrate", store, "--models", folder.models])
    #expect(refused.code == 20 && refused.error.contains("would lose 70,000 links of A.last"), "\(refused)")
  }

  private func mapping(_ folder: FindingFolder, _ text: String, _ name: String = "m.yaml") throws -> String {
    let path = folder.folder.newPath(name)
    try text.write(toFile: path, atomically: false, encoding: .utf8)
    return path
  }

  @Test(
    "Finding A3: a mapping model that is named and fits no step is refused with what it says wrong",
    arguments: [
      ("from: V01\nto: V2\nentities: [A]\n", "V01"), ("from: V1\nto: V2\nentities: [A, Bok]\n", "Bok"),
    ])
  func unused(text: String, says: String) throws {
    let folder = try FindingFolder()
    let store = try folder.store("b.sqlite")
    let path = try mapping(folder, text)
    for command in ["plan", "migrate"] {
      let refused = try folder.run([command, store, "--models", folder.models, "--to", "V2", "--mappings", path])
      #expect(refused.code == 20 && refused.error.contains(says) && refused.error.contains(path), "\(refused)")
    }
    #expect(try folder.isStore(store, at: "V1") && folder.jobs().isEmpty)
  }

  @Test("A mapping model of a folder that fits no step, and one for versions that the store does not pass, are noted")
  func noted() throws {
    let folder = try FindingFolder()
    let store = try folder.store("b.sqlite")
    let path = try mapping(folder, "from: V01\nto: V2\nentities: [A]\n", "mappings.d")
    let directory = folder.folder.newPath("maps")
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    try FileManager.default.moveItem(atPath: path, toPath: directory + "/typo.yaml")
    let plan = try folder.run(["plan", store, "--models", folder.models, "--to", "V2", "--mappings", directory])
    #expect(plan.code == 0 && plan.output.contains("V01 is not known (did you mean V1?): it is not used"), "\(plan)")
    let later = try mapping(folder, "from: V2\nto: V3\nentities: [A]\n")
    let other = try folder.run(["plan", store, "--models", folder.models, "--to", "V2", "--mappings", later])
    #expect(other.code == 0 && other.output.contains("is for V2 to V3, which is not on the path"), "\(other)")
  }

  /// A bundle whose V2 has all that V1 has, and a store of V1.
  private func mapped(_ text: String) throws -> (FindingFolder, [String]) {
    let number = #"<attribute name="rate" optional="YES" attributeType="Double"/>"#
    let (old, new) = (
      FindingFolder.name + number + Self.extra, #"<attribute name="new" optional="YES" attributeType="String"/>"#
    )
    let folder = try FindingFolder([old, old + new])
    let store = folder.file("b.sqlite")
    try folder.runWell(["sample", folder.models, "--version", "V1", "--rows", "6", "--seed", "5", "--output", store])
    try folder.execute(store, "UPDATE ZA SET ZEXTRA = CASE WHEN Z_PK <= 4 THEN 'x' END, ZRATE = Z_PK")
    return (
      folder, ["migrate", store, "--models", folder.models, "--to", "V2", "--mappings", try mapping(folder, text)]
    )
  }

  @Test(
    "A mapping file that carries an attribute of both versions nowhere is refused with the count; the advice ends it")
  func forgotten() throws {
    let (folder, words) = try mapped(
      "from: V1\nto: V2\nentities:\n  - { from: A, to: A, attributes: { extra: null } }\n")
    // Said openly: null for all.
    try folder.runWell(words + ["--output", folder.file("open.sqlite")])
    let (other, forgetful) = try mapped(
      "from: V1\nto: V2\nentities:\n  - { from: A, to: A, attributes: { extra: $source.name }, byName: false }\n")
    let refused = try other.run(forgetful)
    #expect(refused.code == 20 && refused.error.contains("no mapping carries 6 values of A.rate"), "\(refused)")
    try other.runWell(try #require(FindingFolder.advice(refused)))
    #expect(try other.isStore(other.file("b.sqlite"), at: "V2"))
  }

  @Test(
    "What a filter leaves out is refused with the count, unless it is named; an entity that the file removes is not")
  func filtered() throws {
    let (folder, words) = try mapped("from: V1\nto: V2\nentities:\n  - { from: A, to: A, filter: \"rate > 2\" }\n")
    let before = try folder.folder.tree()
    let refused = try folder.run(words)
    #expect(refused.code == 20 && refused.error.contains("leave out 2 objects of A"), "\(refused)")
    #expect(try folder.folder.tree() == before)
    try folder.runWell(words + ["--drop", "A"])
    #expect(try folder.texts(folder.file("b.sqlite"), "SELECT count(*) FROM ZA") == ["4"])
    let (other, removing) = try mapped("from: V1\nto: V2\nentities:\n  - remove: A\n")
    let plan = try other.run(["plan"] + removing.dropFirst())
    #expect(plan.code == 0 && plan.output.contains("drops 6 objects of A"), "\(plan)")
  }

  @Test(
    "What a later step's filter leaves out is refused before the cut-over; the advice goes on, and is remembered"
  )
  func filteredLater() throws {
    let rate = FindingFolder.name + #"<attribute name="rate" optional="YES" attributeType="Integer 32"/>"#
    let extra = rate + #"<attribute name="extra" optional="YES" attributeType="String"/>"#
    let folder = try FindingFolder([FindingFolder.name, rate, extra])
    let store = folder.file("b.sqlite")
    try folder.runWell(["sample", folder.models, "--version", "V1", "--rows", "6", "--seed", "5", "--output", store])
    try folder.execute(store, "UPDATE ZA SET ZNAME = CASE WHEN Z_PK <= 2 THEN 'x' ELSE 'y' END")
    let filter = try mapping(folder, "from: V2\nto: V3\nentities:\n  - { from: A, to: A, filter: \"name != 'x'\" }\n")
    let refused = try folder.run(["migrate", store, "--models", folder.models, "--mappings", filter, "--no-fuse"])
    #expect(refused.code == 20 && refused.error.contains("leave out 2 objects of A"), "\(refused)")
    #expect(try folder.isStore(store, at: "V1"))
    let advice = try #require(FindingFolder.advice(refused))
    #expect(advice == ["resume", store, "--drop", "A"])
    let misspelt = try folder.run(["resume", store, "--drop", "A.nam"])
    #expect(misspelt.code == 20 && misspelt.error.contains("a property nam, did you mean name?"), "\(misspelt)")
    // Killed at the cut-over: the consent has been written down.
    try folder.kill(advice, before: "rename cutover.json")
    try folder.runWell(["resume", store])
    #expect(try folder.isStore(store, at: "V3") && folder.texts(store, "SELECT count(*) FROM ZA") == ["4"])
  }

  @Test("Finding 16: values that a conversion changes are told with the attribute, and with how many")
  func narrowed() throws {
    let folder = try FindingFolder([
      FindingFolder.name + #"<attribute name="rate" optional="YES" attributeType="Double"/>"#,
      FindingFolder.name + #"<attribute name="rate" optional="YES" attributeType="Integer 32"/>"#,
    ])
    let store = folder.file("b.sqlite")
    try folder.runWell(["sample", folder.models, "--version", "V1", "--rows", "6", "--seed", "5", "--output", store])
    try folder.execute(store, "UPDATE ZA SET ZRATE = CASE WHEN Z_PK <= 2 THEN 1.9 ELSE 3 END")
    for command in ["plan", "migrate"] {
      let said = try folder.run([command, store, "--models", folder.models])
      #expect(said.code == 0 && (said.output + said.error).contains("changes 2 of 6 values of A.rate"), "\(said)")
    }
    let report = try folder.run(["report", store])
    #expect(report.code == 0 && report.output.contains("account: V1 to V2: 6 objects (6 carried)"), "\(report)")
  }

  @Test("README, help and report say in the same words what verified means")
  func meaning() throws {
    let folder = try FindingFolder()
    func words(_ text: String) -> String { text.split(whereSeparator: \.isWhitespace).joined(separator: " ") }
    let readme = URL(fileURLWithPath: #filePath).appending(path: "../../../../README.md").standardized
    #expect(words(try String(contentsOf: readme, encoding: .utf8)).contains(VerificationMode.meaning))
    #expect(words(try folder.run(["migrate", "--help"]).output).contains(VerificationMode.meaning))
    let store = try folder.store("b.sqlite")
    try folder.runWell(folder.migrate(store))
    #expect(words(try folder.run(["report", store]).output).contains(VerificationMode.meaning))
  }

  @Test("Finding 20: a new relationship that must have an object is told by plan and migrate, as no object has one")
  func required() throws {
    let owner = #"<relationship name="owner" maxCount="1" deletionRule="Nullify" destinationEntity="A"/>"#
    let folder = try FindingFolder([FindingFolder.name, FindingFolder.name + owner])
    let store = folder.file("b.sqlite")
    try folder.runWell(["sample", folder.models, "--version", "V1", "--rows", "6", "--seed", "5", "--output", store])
    for command in ["plan", "migrate"] {
      let said = try folder.run([command, store, "--models", folder.models])
      let text = "V1 to V2 adds required relationships that no object has: A.owner"
      #expect(said.code == 0 && (said.output + said.error).contains(text), "\(said)")
    }
  }
}
