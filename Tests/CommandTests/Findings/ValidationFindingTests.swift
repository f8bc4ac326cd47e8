import Foundation
import Testing

/// Objects that a mapping makes and the model does not allow.
@Suite("Faults that were found: rules of the model in mapped steps")
struct ValidationFindingTests {
  private static let title = #"<attribute name="title" attributeType="String"/>"#

  /// A store of V1 whose second object has no name, and a mapping file to V2.
  private func folder(_ second: String, _ rules: String, first: String = FindingFolder.name) throws -> (
    FindingFolder, [String]
  ) {
    let folder = try FindingFolder([first, second])
    let store = folder.file("s.sqlite")
    try folder.runWell(["sample", folder.models, "--version", "V1", "--rows", "4", "--seed", "7", "--output", store])
    try folder.execute(store, "UPDATE ZA SET ZNAME = CASE WHEN Z_PK <> 2 THEN 'name' END")
    let path = folder.folder.newPath("m.yaml")
    try "from: V1\nto: V2\nentities:\n\(rules)\n".write(toFile: path, atomically: false, encoding: .utf8)
    return (
      folder,
      [
        "migrate", store, "--models", folder.models, "--mappings", path, "--accept-loss", "--output",
        folder.file("o.sqlite"),
      ]
    )
  }

  /// Ways in which rows are migrated: by a recipe, by an expression, by rules with and without objects.
  private static let ways = [
    "  - from: A\n    attributes: { title: $source.name }",
    "  - from: A\n    attributes: { title: 'uppercase($source.name)' }",
    "  - from: A\n    attributes: { title: { prefix: $source.name, length: 2 } }",
  ]

  @Test(
    "Finding A4a: a required value that a mapping leaves out ends the run with entity, key, property and mapping",
    arguments: ways
  )
  func required(rules: String) throws {
    let (folder, migrate) = try folder(FindingFolder.name + Self.title, rules)
    let refused = try folder.run(migrate)
    #expect(refused.code == 1 && refused.error.contains("A 2: A.title is required"), "\(refused)")
    #expect(refused.error.contains("1570") && refused.error.contains("the entity mapping is "), "\(refused)")
    try folder.runWell(["clean", "--all", folder.file("o.sqlite")])
    let rejected = try folder.run(migrate + ["--max-rejects", "1"])
    #expect(rejected.code == 10, "\(rejected)")
    #expect(try folder.texts(folder.file("o.sqlite"), "SELECT ZTITLE FROM ZA").count == 3)
  }

  @Test("Finding A4a: --validate none writes such objects, and the report says so", arguments: ways)
  func none(rules: String) throws {
    let (folder, migrate) = try folder(FindingFolder.name + Self.title, rules)
    try folder.runWell(migrate + ["--validate", "none"])
    #expect(try folder.texts(folder.file("o.sqlite"), "SELECT count(*) FROM ZA WHERE ZTITLE IS NULL") == ["1"])
    let report = try folder.run(["report", folder.file("o.sqlite")])
    #expect(report.code == 0 && report.output.contains("validation: none"), "\(report)")
  }

  @Test(
    "A value that a mapping leaves out and a later inferred step requires ends the run, too",
    arguments: [[], ["--no-fuse"]])
  func requiredLater(words: [String]) throws {
    let note = ManyEntities.attribute("note")
    let folder = try FindingFolder([
      FindingFolder.name, FindingFolder.name + note,
      FindingFolder.name + #"<attribute name="note" attributeType="String"/>"#,
    ])
    let store = folder.file("s.sqlite")
    try folder.runWell(["sample", folder.models, "--version", "V1", "--rows", "4", "--seed", "7", "--output", store])
    try folder.execute(store, "UPDATE ZA SET ZNAME = 'n' || Z_PK")
    let path = folder.folder.newPath("m.yaml")
    let rules = "  - from: A\n    attributes: { note: { if: 'name == \"n1\"', then: $source.name, else: null } }"
    try "from: V1\nto: V2\nentities:\n\(rules)\n".write(toFile: path, atomically: false, encoding: .utf8)
    let refused = try folder.run(["migrate", store, "--models", folder.models, "--mappings", path] + words)
    #expect(refused.code == 1 && refused.error.contains("A.note is required"), "\(refused)")
    #expect(try folder.isStore(store, at: "V1"))
  }

  @Test("A part that is skipped leaves required relationships to it empty, as the plan says")
  func skipped() throws {
    let author = #"<entity name="Author" representedClassName="Author" syncable="YES">"# + FindingFolder.name
    let books =
      #"<relationship name="books" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="Book" "#
      + #"inverseName="author" inverseEntity="Book"/>"#
    let writer =
      #"<relationship name="author" maxCount="1" deletionRule="Nullify" destinationEntity="Author" "#
      + #"inverseName="books" inverseEntity="Author"/>"#
    let book = #"<entity name="Book" representedClassName="Book" syncable="YES">"# + FindingFolder.name + writer
    let version = { (more: String) in author + more + books + "</entity>" + book + more + "</entity>" }
    let (folder, store) = try FindingFolder.entities([version(""), version(ManyEntities.attribute("extra"))], rows: 6)
    let path = folder.folder.newPath("m.yaml")
    let rules =
      "  - from: Author\n    attributes: { extra: $source.name }\n  - from: Book\n    attributes: { extra: $source.name }"
    try "from: V1\nto: V2\nentities:\n\(rules)\n".write(toFile: path, atomically: false, encoding: .utf8)
    let output = folder.file("o.sqlite")
    try folder.runWell(
      ["migrate", store, "--models", folder.models, "--mappings", path, "--skip", "AuthorToAuthor", "--output", output])
    #expect(try folder.texts(output, "SELECT count(*) FROM ZBOOK WHERE ZAUTHOR IS NOT NULL") == ["0"])
  }

  @Test(
    "Objects that rules make beside are looked at, too",
    arguments: [
      "create: B\n        attributes: { label: $source.name }",
      "create: B\n        attributes: { label: 'lowercase($source.name)' }",
    ])
  func further(rule: String) throws {
    let other =
      #"</entity><entity name="B" representedClassName="B" syncable="YES"><attribute name="label" attributeType="String"/>"#
    let (folder, migrate) = try folder(
      FindingFolder.name + other,
      "  - from: A\n    attributes: { name: $same }\n    objects:\n      - \(rule)\n  - to: B")
    let refused = try folder.run(migrate)
    #expect(refused.code == 1 && refused.error.contains("A 2: B.label is required"), "\(refused)")
    try folder.runWell(["clean", "--all", folder.file("o.sqlite")])
    let rejected = try folder.run(migrate + ["--max-rejects", "1"])
    #expect(rejected.code == 10, "\(rejected)")
    #expect(try folder.texts(folder.file("o.sqlite"), "SELECT ZLABEL FROM ZB") == ["name", "name", "name"])
  }

  private static let bounded =
    #"<attribute name="n" optional="YES" attributeType="Integer 32" minValueString="10" maxValueString="20"/>"#
    + #"<attribute name="when" optional="YES" attributeType="Date" minDateTimeInterval="100" maxDateTimeInterval="200"/>"#
    + #"<attribute name="code" optional="YES" attributeType="String" minValueString="2" maxValueString="4" "#
    + #"regularExpressionString="[a-z]+"/>"#

  @Test(
    "Bounds, lengths and patterns of the model hold for objects of mapped steps",
    arguments: [
      ("ZN = 9", "A.n is below", "1620"), ("ZN = 21", "A.n is above", "1610"),
      ("ZWHEN = 99.5", "A.when is before", "1640"),
      ("ZWHEN = 201", "A.when is after", "1630"), ("ZCODE = 'a'", "A.code is shorter", "1670"),
      ("ZCODE = 'abcde'", "A.code is longer", "1660"), ("ZCODE = 'a1'", "A.code does not match", "1680"),
    ])
  func bounds(change: String, says: String, number: String) throws {
    let attributes = "{ n: $same, when: $same, code: $same, name: $same }"
    let (folder, migrate) = try folder(
      FindingFolder.name + Self.bounded + #"<attribute name="more" optional="YES" attributeType="String"/>"#,
      "  - from: A\n    attributes: \(attributes)", first: FindingFolder.name + Self.bounded)
    try folder.execute(
      folder.file("s.sqlite"),
      "UPDATE ZA SET ZN = 10, ZWHEN = 200, ZCODE = 'abcd'; UPDATE ZA SET \(change) WHERE Z_PK = 3")
    let refused = try folder.run(migrate)
    #expect(refused.code == 1 && refused.error.contains("A 3: \(says)") && refused.error.contains(number), "\(refused)")
    try folder.runWell(["clean", "--all", folder.file("o.sqlite")])
    try folder.runWell(migrate + ["--validate", "required"])
    #expect(try folder.texts(folder.file("o.sqlite"), "SELECT count(*) FROM ZA") == ["4"])
  }

  @Test(
    "A date that is computed from a number without saying its epoch is refused with the right way to write it",
    arguments: [
      "$source.n / 1000", "{ cast: $source.n, to: double }", "{ sum: [$source.n, $source.n] }", "$source.n",
      "{ if: 'n > 1', then: $source.n, else: $source.n }",
    ])
  func epoch(value: String) throws {
    let number = #"<attribute name="n" optional="YES" attributeType="Integer 64"/>"#
    let (folder, migrate) = try folder(
      FindingFolder.name + #"<attribute name="when" optional="YES" attributeType="Date"/>"#,
      "  - from: A\n    attributes: { when: \(value) }", first: FindingFolder.name + number)
    let refused = try folder.run(migrate)
    #expect(refused.code != 0 && refused.error.contains("$source.NAME / 1000.0 - 978307200"), "\(refused)")
    #expect(!folder.exists(folder.file("o.sqlite")))
    try folder.execute(folder.file("s.sqlite"), "UPDATE ZA SET ZN = 978307205500")
    for (right, seconds) in [
      ("$source.n / 1000.0 - 978307200", "5.5"), ("'CAST($source.n, \"NSDate\")'", "978307205500"),
    ] {
      let path = folder.folder.newPath("right.yaml")
      try "from: V1\nto: V2\nentities:\n  - from: A\n    attributes: { when: \(right) }\n"
        .write(toFile: path, atomically: false, encoding: .utf8)
      let output = folder.folder.newPath("right.sqlite")
      try folder.runWell([
        "migrate", folder.file("s.sqlite"), "--models", folder.models, "--mappings", path, "--accept-loss", "--output",
        output,
      ])
      #expect(try Set(folder.texts(output, "SELECT ZWHEN FROM ZA")) == [seconds])
    }
  }
}
