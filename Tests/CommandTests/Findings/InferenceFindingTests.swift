import Foundation
import Testing

/// Steps that Core Data infers.
@Suite("Faults that were found: what Core Data infers")
struct InferenceFindingTests {
  private static let name = FindingFolder.name

  private static func number(_ rest: String, type: String = "Integer 64") -> String {
    #"<attribute name="n" \#(rest) attributeType="\#(type)" usesScalarValueType="YES"/>"#
  }

  private static func text(_ rest: String) -> String { #"<attribute name="text" \#(rest) attributeType="String"/>"# }

  private static let optional = name + text(#"optional="YES""#) + number(#"optional="YES""#)
  private static let required =
    name + text(#"defaultValueString="DEF""#) + number(#"defaultValueString="7""#, type: "Integer 32")

  private func sample(_ folder: FindingFolder) throws -> String {
    let store = try folder.sample("b.sqlite")
    try folder.execute(
      store,
      "UPDATE ZA SET ZTEXT = CASE Z_PK WHEN 1 THEN NULL WHEN 2 THEN '' ELSE 't' || Z_PK END, "
        + "ZN = CASE WHEN Z_PK <= 2 THEN NULL ELSE Z_PK END")
    return store
  }

  @Test("Finding 7: an optional attribute that becomes required with a default gives that to objects without value")
  func filled() throws {
    let folder = try FindingFolder([Self.optional, Self.required])
    let store = try sample(folder)
    let plan = try folder.run(["plan", store, "--models", folder.models])
    #expect(plan.code == 0, "\(plan)")
    #expect(plan.output.contains("A.text is required in V2: 1 object without a value gets the default"), "\(plan)")
    #expect(plan.output.contains("A.n is required in V2: 2 objects without a value get the default"), "\(plan)")
    try folder.runWell(folder.migrate(store))
    #expect(
      try folder.texts(store, "SELECT ZTEXT || ' ' || ZN FROM ZA ORDER BY Z_PK") == ["DEF 7", " 7", "t3 3", "t4 4"])
  }

  @Test("Finding 7: the default fills what is missing on the way, whether steps are made in one pass or not")
  func filledOnTheWay() throws {
    let third =
      Self.name + Self.text(#"optional="YES" defaultValueString="OTHER""#) + Self.number(#"optional="YES""#)
      + #"<attribute name="more" optional="YES" attributeType="String"/>"#
    let results = try [[], ["--no-fuse"]].map { options in
      let folder = try FindingFolder([Self.optional, Self.required, third])
      let store = try sample(folder)
      try folder.runWell(folder.migrate(store, to: "V3") + options)
      return try folder.texts(store, "SELECT ZTEXT || ' ' || ZN FROM ZA ORDER BY Z_PK")
    }
    #expect(results == Array(repeating: ["DEF 7", " 7", "t3 3", "t4 4"], count: 2))
  }

  @Test("Without a default, an attribute that becomes required is refused while objects lack a value")
  func refused() throws {
    let folder = try FindingFolder([Self.optional, Self.name + Self.text("") + Self.number(#"optional="YES""#)])
    let store = try sample(folder)
    let refused = try folder.run(folder.migrate(store))
    #expect(refused.code == 20 && refused.error.contains("the required attribute text of V2"), "\(refused)")
  }

  // Relationships.
  private static func end(_ name: String, _ entity: String, _ inverse: String?, many: Bool, ordered: Bool = false)
    -> String
  {
    let other = inverse.map { #" inverseName="\#($0)" inverseEntity="\#(entity)""# } ?? ""
    let count = many ? #"toMany="YES""# : #"maxCount="1""#
    return
      #"<relationship name="\#(name)" optional="YES" \#(count)\#(ordered ? #" ordered="YES""# : "") deletionRule="Nullify" "#
      + #"destinationEntity="\#(entity)"\#(other)/>"#
  }

  private static func version(_ own: String, _ other: String, sub: Bool = false) -> String {
    let head = #"<entity name="K" representedClassName="K" syncable="YES">"#
    let below = sub ? #"</entity><entity name="S" representedClassName="S" parentEntity="A" syncable="YES">"# : ""
    return name + own + "</entity>" + head + #"<attribute name="m" optional="YES" attributeType="String"/>"# + other
      + below
  }

  @Test(
    "Finding 18: a to-many keeps its objects when it loses its inverse, or the other end goes",
    arguments: [(keepsOther: true, sub: false), (false, false), (true, true), (false, true)], [false, true])
  func inverse(_ shape: (keepsOther: Bool, sub: Bool), ordered: Bool) throws {
    let first = Self.version(
      Self.end("k", "K", "a", many: true, ordered: ordered), Self.end("a", "A", "k", many: false), sub: shape.sub)
    let second = Self.version(
      Self.end("k", "K", nil, many: true, ordered: ordered),
      shape.keepsOther ? Self.end("a", "A", nil, many: false) : "", sub: shape.sub)
    let folder = try FindingFolder([first, second])
    let store = try folder.sample("b.sqlite")
    let before = try folder.texts(store, "SELECT Z_PK || ' ' || coalesce(ZA, '-') FROM ZK ORDER BY Z_PK")
    try #require(before.contains { !$0.hasSuffix("-") })
    let output = folder.file("o.sqlite")
    try folder.runWell(folder.migrate(store, output: output))
    let column = try #require(
      try folder.texts(output, "SELECT name FROM pragma_table_info('ZK') WHERE name GLOB 'Z[0-9]*K'").first)
    #expect(try folder.texts(output, "SELECT Z_PK || ' ' || coalesce(\(column), '-') FROM ZK ORDER BY Z_PK") == before)
    if shape.keepsOther {
      #expect(try folder.texts(output, "SELECT Z_PK || ' ' || coalesce(ZA, '-') FROM ZK ORDER BY Z_PK") == before)
    }
    try folder.runWell(["verify", output, "--models", folder.models])
  }

  @Test("Finding 18: a to-many without inverse that gains a new one keeps its objects")
  func gained() throws {
    let folder = try FindingFolder([
      Self.version(Self.end("k", "K", nil, many: true), ""),
      Self.version(Self.end("k", "K", "a", many: true), Self.end("a", "A", "k", many: false)),
    ])
    let store = try folder.sample("b.sqlite")
    let column = try #require(
      try folder.texts(store, "SELECT name FROM pragma_table_info('ZK') WHERE name GLOB 'Z[0-9]*K'").first)
    let before = try folder.texts(store, "SELECT Z_PK || ' ' || coalesce(\(column), '-') FROM ZK ORDER BY Z_PK")
    try folder.runWell(folder.migrate(store))
    #expect(try folder.texts(store, "SELECT Z_PK || ' ' || coalesce(ZA, '-') FROM ZK ORDER BY Z_PK") == before)
  }
}
