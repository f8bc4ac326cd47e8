import Foundation
import Testing

@testable import CoreDataModel
@testable import CoreDataStore
@testable import MappingModels
@testable import MigrationJobs
@testable import RunSupport

/// Values of composite attributes follow them under new names, and become others where a mapping file says so.
@Suite("Composite attributes that change")
struct CompositeMappingTests {
  private static func composite(
    _ name: String, _ elements: [AttributeDescription], optional: Bool = true, id: String? = nil
  )
    -> AttributeDescription
  {
    var composite = AttributeDescription(name: name, type: .composite)
    (composite.elements, composite.compositeName, composite.isOptional) = (elements, name.uppercased(), optional)
    composite.renamingIdentifier = id
    return composite
  }

  private static func element(_ name: String, _ type: AttributeType = .string, optional: Bool = true)
    -> AttributeDescription
  {
    var element = AttributeDescription(name: name, type: type)
    element.isOptional = optional
    return element
  }

  /// As SwiftData stores an enumeration: one element with the attribute's name.
  private static func enumeration(_ name: String, optional: Bool = true, id: String? = nil) -> AttributeDescription {
    composite(name, [element(name)], optional: optional, id: id)
  }

  private static func entity(_ attributes: [AttributeDescription]) -> [EntityDescription] {
    var entity = EntityDescription(name: "X")
    entity.attributes = attributes
    return [entity]
  }

  private static func store(
    _ old: [AttributeDescription], _ new: [AttributeDescription], _ columns: String, _ values: String
  ) throws -> RuleStore {
    try RuleStore(entity(old), entity(new), [("X", "Z_PK, " + columns, "1, " + values)])
  }

  private static func values(_ store: String, _ columns: String) throws -> [String] {
    try MigrationFolder.rows(store, "SELECT \(columns) FROM ZX")
  }

  @Test("A renamed enumeration keeps its values, by inference and by a mapping file, and the account says so")
  func renamedEnumeration() throws {
    let store = try Self.store(
      [Self.enumeration("k")], [Self.enumeration("kind", id: "k")], "ZK", "'b'")
    #expect(try Self.values(store.inferred(), "ZKIND") == ["string(\"b\")"])
    let request = try store.request("  - from: X\n    attributes: { kind: $source.k }")
    let report = try store.folder.migrate(request)
    #expect(try Self.values(request.source, "ZKIND") == ["string(\"b\")"])
    let line = report.accounts.flatMap(\.versions).flatMap(\.lines).first { $0.path == "X.k.k" }
    #expect(line?.fate == .renamed && line?.to == ["X.kind.kind"] && line?.count == 1)
  }

  @Test("A composite under a new name whose elements have none of the old names is told as lost, never as computed")
  func otherElements() throws {
    let (old, new) = (
      Self.composite("p", [Self.element("a"), Self.element("b")]),
      Self.composite("q", [Self.element("c"), Self.element("d")], id: "p")
    )
    let store = try Self.store([old], [new], "ZA, ZB", "'1', '2'")
    let report = try store.folder.migrate(store.folder.request(store.folder.copy(store.store, as: "inferred")))
    let lines = report.accounts.flatMap(\.versions).flatMap(\.lines).filter { $0.kind == .attribute }
    #expect(lines.map(\.fate) == [.lost, .lost])
    let found = try store.failure("  - from: X\n    attributes: { q: $source.p }")
    #expect(found.contains("q would have nothing of p: give each element a value (q.c, q.d of p.a, p.b)"), "\(found)")
    let result = try store.migrated("  - from: X\n    attributes: { q.c: $source.p.b, q.d: 'uppercase:($source.p.a)' }")
    #expect(try Self.values(result, "ZC, ZD") == ["string(\"2\")|string(\"1\")"])
  }

  @Test(
    "An attribute becomes the only element of a composite, and back, where a mapping file says so",
    arguments: ["$source.k", "'uppercase:($source.k)'", "k"])
  func scalar(value: String) throws {
    let (text, enumeration) = ([Self.element("k")], [Self.enumeration("k")])
    let store = try Self.store(text, enumeration, "ZK", "'B'")
    let mapping = value == "k" ? "k.k: $source.k" : "k: \(value)"
    #expect(try Self.values(store.migrated("  - from: X\n    attributes: { \(mapping) }"), "ZK") == ["string(\"B\")"])
    let back = try Self.store(enumeration, text, "ZK", "'B'")
    let read = value == "$source.k" ? "$source.k" : "$source.k.k"
    #expect(try Self.values(back.migrated("  - from: X\n    attributes: { k: \(read) }"), "ZK") == ["string(\"B\")"])
  }

  @Test("What mapping init leaves undecided is what the check takes, of one element and of several")
  func undecided() throws {
    for elements in [[Self.element("k")], [Self.element("a", optional: false), Self.element("b")]] {
      let models = [[Self.element("k")], [Self.composite("k", elements)]].enumerated().map {
        ManagedObjectModel(name: "\($0)", entities: Self.entity($1))
      }
      let draft = MappingFileWriter.draft(from: models[0], to: models[1])
      let names = elements.count == 1 ? ["k"] : ["k.a", "k.b"]
      for name in names { #expect(draft.contains("      \(name): { undecided:"), "\(draft)") }
      let decided = names.reduce(draft) { text, name in
        text.split(separator: "\n").map { $0.hasPrefix("      \(name): ") ? "      \(name): $source.k" : String($0) }
          .joined(separator: "\n")
      }
      let model = try MappingFileReader.read(text: decided, name: "draft.yaml")
      #expect(MappingCheck(model: model, source: models[0], destination: models[1]).problems() == [])
      let store = try RuleStore(models[0].entities, models[1].entities, [("X", "Z_PK, ZK", "1, 'v'")])
      let entities = { (text: String) in text.components(separatedBy: "entities:\n")[1] }
      let found = try store.failure(entities(draft))
      #expect(found.contains("X.k") && found.contains("is still to be decided"), "\(found)")
      #expect(
        try Self.values(store.migrated(entities(decided)), elements.count == 1 ? "ZK" : "ZA") == ["string(\"v\")"])
    }
  }

  @Test(
    "A required composite, or a required element, that nothing gives a value is refused by inference with the number of objects",
    arguments: ["new", "optional", "element"])
  func required(kind: String) throws {
    let old: [AttributeDescription]
    let new: AttributeDescription
    switch kind {
    case "new": (old, new) = ([Self.element("n")], Self.enumeration("k", optional: false))
    case "optional":
      old = [Self.composite("k", [Self.element("a")])]
      new = Self.composite("k", [Self.element("a", optional: false)], optional: false)
    default:
      let first = Self.element("a", optional: false)
      old = [Self.composite("k", [first], optional: false)]
      new = Self.composite("k", [first, Self.element("w", optional: false)], optional: false)
    }
    let column = kind == "new" ? "ZN" : "ZA"
    let store = try Self.store(
      old, old.filter { $0.type != .composite } + [new], column, kind == "element" ? "'1'" : "NULL")
    let name = kind == "element" ? "k.w" : "k"
    #expect {
      try store.inferred()
    } throws: {
      "\($0)".contains("the required attribute \(name) of B would have no value in 1 object")
    }
    let result = try store.migrated("  - from: X\n    attributes: { \(name): 'uppercase:(\"x\")' }")
    #expect(try Self.values(result, ["new": "ZK", "optional": "ZA"][kind] ?? "ZW") == ["string(\"X\")"])
  }
}
