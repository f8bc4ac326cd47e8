import Foundation
import Testing

/// What `mapping check` says of mapping files that a migration would refuse.
@Suite("Faults that were found: mapping files that fit in name only")
struct MappingCheckFindingTests {
  /// Two versions of A, and what else they have behind A's end.
  struct Pair: CustomTestStringConvertible {
    let testDescription: String
    let versions: [String]

    init(_ name: String, _ first: String, _ second: String) { (testDescription, versions) = (name, [first, second]) }
  }

  private static func attribute(_ name: String, _ type: String = "String", _ rest: String = #"optional="YES""#)
    -> String
  {
    #"<attribute name="\#(name)" \#(rest) attributeType="\#(type)"/>"#
  }

  private static func link(_ name: String, _ entity: String, _ inverse: String? = nil, many: Bool = false) -> String {
    let end = inverse.map { #" inverseName="\#($0)" inverseEntity="\#(entity)""# } ?? ""
    let many = many ? #"toMany="YES""# : #"maxCount="1""#
    return
      #"<relationship name="\#(name)" optional="YES" \#(many) deletionRule="Nullify" destinationEntity="\#(entity)"\#(end)/>"#
  }

  private static func other(_ contents: String, _ name: String = "K") -> String {
    #"</entity><entity name="\#(name)" representedClassName="\#(name)" syncable="YES">\#(contents)"#
  }

  private static let own = attribute("name")
  static let undecided = [
    Pair("a text becomes a number", own + attribute("x"), own + attribute("x", "Integer 32")),
    Pair("a number becomes a text", own + attribute("x", "Boolean"), own + attribute("x")),
    Pair("a date becomes a number", own + attribute("x", "Date"), own + attribute("x", "Double")),
    Pair("a text becomes a URI", own + attribute("x"), own + attribute("x", "URI")),
    Pair("a required attribute is new", own, own + attribute("y", "String", "")),
    Pair(
      "a to-many becomes a to-one", own + link("k", "K", "a", many: true) + other(link("a", "A", "k")),
      own + link("k", "K", "a") + other(link("a", "A", "k"))),
  ]

  private func folder(_ pair: Pair) throws -> (FindingFolder, draft: String, store: String) {
    let folder = try FindingFolder(pair.versions)
    let draft = try folder.run(["mapping", "init", folder.models + ":V1", folder.models + ":V2"])
    try #require(draft.code == 0, "\(draft)")
    return (folder, try write(folder, draft.output, "draft.yaml"), try folder.sample("b.sqlite"))
  }

  private func write(_ folder: FindingFolder, _ text: String, _ name: String) throws -> String {
    let path = folder.folder.newPath(name)
    try text.write(toFile: path, atomically: false, encoding: .utf8)
    return path
  }

  @Test(
    "Finding 17: a draft with values that only its author knows is taken by check; a migration is refused",
    arguments: undecided)
  func drafts(pair: Pair) throws {
    let (folder, draft, store) = try folder(pair)
    let check = try folder.run(["mapping", "check", draft, "--models", folder.models])
    #expect(check.code == 0 && check.output.contains("1 property to decide"), "\(check)")
    let refused = try folder.run(folder.migrate(store) + ["--mappings", draft])
    #expect(refused.code == 20 && refused.error.contains("still to be decided"), "\(refused)")
  }

  @Test(
    "Finding 17: what cannot be migrated for the models alone, mapping check refuses",
    arguments: undecided.filter { $0.testDescription != "a required attribute is new" })
  func pairs(pair: Pair) throws {
    let (folder, draft, _) = try folder(pair)
    let text = try String(contentsOfFile: draft, encoding: .utf8).replacing(#/: \{ undecided: .* \}/#, with: ": $same")
    let named = try write(folder, text, "named.yaml")
    let check = try folder.run(["mapping", "check", named, "--models", folder.models])
    #expect(check.code == 20 && !check.error.contains("mapping check"), "\(text)\(check)")
  }

  @Test(
    "Finding 17: what mapping check finds nothing wrong with, migrates",
    arguments: [
      Pair("an attribute is new", own, own + attribute("y")),
      Pair(
        "an inverse goes", own + link("k", "K", "a", many: true) + other(link("a", "A", "k")),
        own + link("k", "K", many: true) + other(link("a", "A"))),
      Pair("a number becomes another", own + attribute("x", "Integer 64"), own + attribute("x", "Decimal")),
    ])
  func fitting(pair: Pair) throws {
    let (folder, draft, store) = try folder(pair)
    try folder.runWell(["mapping", "check", draft, "--models", folder.models])
    try folder.runWell(folder.migrate(store) + ["--mappings", draft])
  }

  @Test(
    "A misspelt attribute in an expression is unknown, and the nearest name is told",
    arguments: [
      "extra: $source.nam", "extra: FUNCTION($source.nam, 'uppercase')", "extra: { cast: $source.nam, to: text }",
    ])
  func misspelt(line: String) throws {
    let folder = try FindingFolder()
    let path = try write(
      folder, "from: V1\nto: V2\nentities:\n  - from: A\n    to: A\n    attributes:\n      \(line)\n", "m.yaml")
    let check = try folder.run(["mapping", "check", path, "--models", folder.models])
    #expect(check.code == 20, "\(check)")
    guard !line.contains("FUNCTION") else { return }
    #expect(check.error.contains("nam") && check.error.contains("did you mean name?"), "\(check)")
    #expect(!check.error.contains("not supported") && !check.error.contains("mapping check"), "\(check)")
  }

  @Test("All faults of a mapping file are told at once")
  func all() throws {
    let folder = try FindingFolder()
    let lines = ["extra: \"$source.nam\"", "name: \"FUNCTION('UUID', 'UUID')\"", "bin: \"$source.bn\""]
    let path = try write(
      folder,
      "from: V1\nto: V2\nentities:\n  - from: A\n    to: A\n    attributes:\n"
        + lines.map { "      \($0)\n" }.joined(), "m.yaml")
    let check = try folder.run(["mapping", "check", path, "--models", folder.models])
    #expect(check.code == 20 && check.error.contains("did you mean name?"), "\(check)")
    #expect(check.error.contains("did you mean bin?"), "\(check)")
  }

  @Test(
    "Finding A4: a required attribute that a mapping gives no value is refused, whether the object is the mapping's or a rule's"
  )
  func required() throws {
    let required = Self.attribute("time", "Date", "")
    let folder = try FindingFolder([Self.own, Self.own + required + Self.other(required)])
    let texts = [
      "from: V1\nto: V2\nentities:\n  - A\n",
      "from: V1\nto: V2\nentities:\n  - from: A\n    to: A\n    attributes:\n      time: now()\n    objects:\n      - create: K\n",
    ]
    for (text, missing) in zip(texts, ["A.time", "K.time"]) {
      let path = try write(folder, text, "\(missing).yaml")
      let check = try folder.run(["mapping", "check", path, "--models", folder.models])
      #expect(check.code == 20 && check.error.contains("\(missing) is required in V2"), "\(check)")
    }
  }

  @Test("Several mapping models are checked together: they may share a step")
  func several() throws {
    let second = Self.own + Self.attribute("y") + Self.other(Self.own)
    let folder = try FindingFolder([Self.own + Self.other(Self.own), second])
    let paths = try ["A", "K"].map { try write(folder, "from: V1\nto: V2\nentities: [\($0)]\n", "\($0).yaml") }
    try folder.runWell(["mapping", "check"] + paths + ["--models", folder.models])
    let one = try folder.run(["mapping", "check", paths[0], "--models", folder.models])
    let said =
      "does not name K: if another mapping model of the step has it, name that one as well; else carry it with - K in the "
      + "entities of a mapping file, or with others: true; to drop it, write - remove: [K] there"
    #expect(one.code == 20 && one.error.contains(said), "\(one)")
    let words = try #require(FindingFolder.advice(one), "\(one)")
    #expect(words == ["mapping", "check"] + paths + ["--models", folder.models])
    try folder.runWell(words)
    for line in ["entities: [A, K]\n", "others: true\nentities: [A]\n", "entities:\n  - A\n  - remove: [K]\n"] {
      let path = try write(folder, "from: V1\nto: V2\n\(line)", "Whole.yaml")
      try folder.runWell(["mapping", "check", path, "--models", folder.models])
      try FileManager.default.removeItem(atPath: path)
    }
  }
}
