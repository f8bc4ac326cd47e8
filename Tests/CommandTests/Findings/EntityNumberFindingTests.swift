import Foundation
import Testing

@Suite("Faults that were found: entity numbers that are not the model's")
struct EntityNumberFindingTests {
  private static let sub = #"</entity><entity name="Sub" parentEntity="A" representedClassName="Sub" syncable="YES">"#

  /// A is number 1, Oth 3, and Sub, a sub-entity of A, 2; the new version has an attribute more.
  private func folder() throws -> FindingFolder {
    let first =
      FindingFolder.name + Self.sub + ManyEntities.attribute("m")
      + ManyEntities.version("", ("Oth", FindingFolder.name))
    return try FindingFolder([first, ManyEntities.attribute("extra") + first])
  }

  private func kinds(_ folder: FindingFolder, _ store: String) throws -> [String] {
    try folder.texts(
      store, "SELECT Z_PK || ' ' || Z_NAME FROM ZA, Z_PRIMARYKEY WHERE ZA.Z_ENT = Z_PRIMARYKEY.Z_ENT ORDER BY Z_PK")
  }

  /// The store's own numbers of A and Sub change places, in rows and in Z_PRIMARYKEY.
  private func renumber(_ folder: FindingFolder, _ store: String) throws {
    try folder.execute(
      store,
      """
      UPDATE Z_PRIMARYKEY SET Z_ENT = 99 WHERE Z_ENT = 1; UPDATE Z_PRIMARYKEY SET Z_ENT = 1, Z_SUPER = 2 WHERE Z_ENT = 2;
      UPDATE Z_PRIMARYKEY SET Z_ENT = 2 WHERE Z_ENT = 99; UPDATE ZA SET Z_ENT = 3 - Z_ENT
      """)
  }

  @Test("Finding 5: a store that numbers its entities otherwise is read as it says")
  func otherNumbers() throws {
    let folder = try folder()
    let store = try folder.sample("a.sqlite")
    let before = try kinds(folder, store)
    #expect(Set(before.map { $0.split(separator: " ")[1] }) == ["A", "Sub"])
    try renumber(folder, store)
    #expect(try kinds(folder, store) == before)
    try folder.runWell(["verify", store, "--models", folder.models])
    let inspected = try folder.run(["inspect", store, "--models", folder.models])
    #expect(inspected.code == 0 && !inspected.output.contains("Z_PRIMARYKEY gives"), "\(inspected)")
    let exported = try folder.run(["export", store, "Sub", "--models", folder.models, "--format", "csv"])
    let lines = exported.output.split(whereSeparator: \.isNewline)
    #expect(lines.count == 1 + before.filter { $0.hasSuffix("Sub") }.count, "\(exported)")
    let same = folder.file("same.sqlite")
    try folder.runWell(["migrate", store, "--models", folder.models, "--identity", "--output", same])
    #expect(try kinds(folder, same) == before)
    #expect(try folder.texts(same, "SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = 'A'") == ["2"])
    try folder.runWell(folder.migrate(store))
    #expect(try kinds(folder, store) == before)
    #expect(try folder.texts(store, "SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = 'A'") == ["1"])
  }

  @Test(
    "Finding 5: numbers that contradict the model are refused before anything is written",
    arguments: [
      ("DELETE FROM Z_PRIMARYKEY", "A: Z_PRIMARYKEY has no row for the entity, whose number is 1"),
      ("DELETE FROM Z_PRIMARYKEY WHERE Z_ENT = 3", "Oth: Z_PRIMARYKEY has no row for the entity, whose number is 3"),
      ("UPDATE Z_PRIMARYKEY SET Z_NAME = 'A'", "A: Z_PRIMARYKEY gives the entity several numbers, 1 and 2 and 3"),
      (
        "UPDATE Z_PRIMARYKEY SET Z_NAME = 'Sub' WHERE Z_ENT = 3",
        "Sub: Z_PRIMARYKEY gives the entity several numbers, 2 and 3"
      ),
      (
        "UPDATE Z_PRIMARYKEY SET Z_ENT = 7 WHERE Z_ENT = 3",
        "Oth: Z_PRIMARYKEY gives the entity the number 7, and the model 3"
      ),
      (
        "UPDATE Z_PRIMARYKEY SET Z_NAME = CASE Z_NAME WHEN 'A' THEN 'Sub' WHEN 'Sub' THEN 'A' ELSE Z_NAME END",
        "A: Z_PRIMARYKEY gives the entity the number 2, the model 1, and its parent is 1 instead of 0"
      ),
    ])
  func contradictions(sql: String, message: String) throws {
    let folder = try folder()
    let store = try folder.sample("a.sqlite")
    try folder.execute(store, sql)
    for command in ["plan", "migrate"] {
      let refused = try folder.run([command, store, "--models", folder.models])
      #expect(refused.code == 30 && refused.error.contains(message), "\(refused)")
      #expect(refused.error.contains("nothing was written"), "\(refused)")
    }
    #expect(try folder.jobs().isEmpty)
    #expect(try folder.run(["verify", store, "--models", folder.models]).code == 12)
  }

  @Test("Names that a chain of renames left behind are no contradiction")
  func staleChain() throws {
    let folder = try folder()
    let store = try folder.sample("a.sqlite")
    let before = try folder.texts(store, "SELECT Z_PK || ' ' || Z_ENT FROM ZA ORDER BY Z_PK")
    // Before, and then A, were renamed.
    try folder.execute(
      store, "UPDATE Z_PRIMARYKEY SET Z_NAME = CASE Z_ENT WHEN 1 THEN 'Before' WHEN 2 THEN 'A' ELSE 'Oth' END")
    try folder.runWell(folder.migrate(store))
    #expect(try folder.texts(store, "SELECT Z_PK || ' ' || Z_ENT FROM ZA ORDER BY Z_PK") == before)
    #expect(try folder.texts(store, "SELECT Z_NAME FROM Z_PRIMARYKEY ORDER BY Z_ENT") == ["A", "Sub", "Oth"])
  }

  @Test("A name that a rename left behind is no contradiction")
  func staleName() throws {
    let folder = try folder()
    let store = try folder.sample("a.sqlite")
    try folder.execute(store, "UPDATE Z_PRIMARYKEY SET Z_NAME = 'Before' WHERE Z_ENT = 3")
    try folder.runWell(folder.migrate(store))
    #expect(try folder.texts(store, "SELECT Z_NAME FROM Z_PRIMARYKEY WHERE Z_ENT = 3") == ["Oth"])
  }
}
