import Foundation
import Testing

@Suite("Faults that were found: duplicates under a new constraint")
struct ConstraintFindingTests {
  private static let key = ManyEntities.attribute("key", "Integer 64")
  private static let more = ManyEntities.attribute("more")

  private static func unique(_ names: String...) -> String {
    "<uniquenessConstraints><uniquenessConstraint>" + names.map { #"<constraint value="\#($0)"/>"# }.joined()
      + "</uniquenessConstraint></uniquenessConstraints>"
  }

  /// Four objects: two with one name, one with another, one without.
  private func folder(_ versions: [String]) throws -> (FindingFolder, store: String) {
    let folder = try FindingFolder(versions)
    let store = try folder.sample("a.sqlite")
    try folder.execute(store, "UPDATE ZA SET ZNAME = CASE WHEN Z_PK IN (2, 4) THEN 'same' WHEN Z_PK = 1 THEN 'one' END")
    return (folder, store)
  }

  @Test("Duplicates under a new constraint are found by plan and migrate, with their keys, before anything is written")
  func found() throws {
    let (folder, store) = try folder([
      FindingFolder.name, FindingFolder.name + Self.more, FindingFolder.name + Self.unique("name"),
    ])
    let before = try Data(contentsOf: URL(fileURLWithPath: store))
    for command in ["plan", "migrate"] {
      let outcome = try folder.run([command, store, "--models", folder.models])
      #expect(outcome.code == 20, "\(outcome)")
      #expect(
        outcome.error.contains(
          "1 object has the same name as another one (4 as 2), which a uniqueness constraint of V3"))
    }
    #expect(try Data(contentsOf: URL(fileURLWithPath: store)) == before && !folder.exists(store + ".godwit"))
  }

  @Test("The query of the message lists the objects; once they are changed the migration goes through")
  func advice() throws {
    let (folder, store) = try folder([FindingFolder.name, FindingFolder.name + Self.unique("name")])
    let outcome = try folder.run(["migrate", store, "--models", folder.models])
    let query = try #require(outcome.error.split(separator: "'").first { $0.hasPrefix("SELECT ") })
    #expect(try folder.texts(store, String(query)) == ["same"])
    try folder.execute(store, "UPDATE ZA SET ZNAME = 'other' WHERE Z_PK = 4")
    try folder.runWell(["migrate", store, "--models", folder.models])
  }

  @Test("Attributes that a mapping file with rules copies are looked at, too; those that rules compute are not")
  func ruled() throws {
    let (folder, store) = try folder([FindingFolder.name, FindingFolder.name + Self.more + Self.unique("name")])
    for (attribute, code) in [
      ("more: { prefix: $source.name, length: 1 }", Int32(20)), ("name: { cast: { uuid: repeatable }, to: text }", 0),
    ] {
      let file = folder.models + "-rules.yaml"
      let text = "from: V1\nto: V2\nentities:\n  - from: A\n    attributes: { \(attribute) }\n"
      try text.write(toFile: file, atomically: false, encoding: .utf8)
      let outcome = try folder.run(["plan", store, "--models", folder.models, "--mappings", file])
      #expect(outcome.code == code, "\(outcome)")
      #expect(outcome.error.contains("1 object has the same name as another one (4 as 2)") == (code == 20))
    }
  }

  @Test("A default that makes values equal is seen through")
  func computed() throws {
    let required = #"<attribute name="name" attributeType="String" defaultValueString="same"/>"#
    let (folder, store) = try folder([FindingFolder.name, required + Self.unique("name")])
    try folder.execute(store, "UPDATE ZA SET ZNAME = 'n' || Z_PK WHERE Z_PK > 2")
    var outcome = try folder.run(["plan", store, "--models", folder.models])
    #expect(outcome.code == 0, "\(outcome)")
    try folder.execute(store, "UPDATE ZA SET ZNAME = NULL WHERE Z_PK > 2")
    outcome = try folder.run(["plan", store, "--models", folder.models])
    #expect(outcome.code == 20 && outcome.error.contains("2 objects have the same name"), "\(outcome)")

  }

  @Test("A conversion that makes values equal is seen through")
  func converted() throws {
    let other = try FindingFolder([ManyEntities.attribute("key", "Double"), Self.key + Self.unique("key")])
    let numbers = try other.sample("a.sqlite")
    try other.execute(numbers, "UPDATE ZA SET ZKEY = Z_PK + 0.25")
    #expect(try other.run(["plan", numbers, "--models", other.models]).code == 0)
    try other.execute(numbers, "UPDATE ZA SET ZKEY = 7 + Z_PK / 10.0")
    let outcome = try other.run(["plan", numbers, "--models", other.models])
    #expect(outcome.code == 20 && outcome.error.contains("3 objects have the same key"), "\(outcome)")
  }

  @Test("A new attribute with a default under a constraint is refused, one without is not")
  func constant() throws {
    let base = FindingFolder.name
    let filled = #"<attribute name="key" attributeType="Integer 64" defaultValueString="0"/>"#
    let (folder, store) = try folder([base, base + filled + Self.unique("key")])
    #expect(try folder.run(["plan", store, "--models", folder.models]).error.contains("3 objects have the same key"))
    let (other, empty) = try self.folder([base, base + Self.key + Self.unique("key")])
    #expect(try other.run(["plan", empty, "--models", other.models]).code == 0)
  }

  @Test("A constraint over two properties forbids equal pairs alone; one that the store keeps is not looked at")
  func pairs() throws {
    let base = FindingFolder.name + Self.key
    let (folder, store) = try folder([
      base, base + Self.unique("name", "key"), base + Self.more + Self.unique("name", "key"),
    ])
    try folder.execute(store, "UPDATE ZA SET ZKEY = Z_PK")
    try folder.runWell(["migrate", store, "--models", folder.models, "--to", "V2"])
    try folder.runWell(["migrate", store, "--models", folder.models])
    let (other, equal) = try self.folder([base, base + Self.unique("name", "key")])
    try other.execute(equal, "UPDATE ZA SET ZKEY = 1")
    #expect(try other.run(["plan", equal, "--models", other.models]).code == 20)
  }
}
