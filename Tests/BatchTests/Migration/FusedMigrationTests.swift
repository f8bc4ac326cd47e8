import Foundation
import Streams
import Testing

@testable import CoreDataModel
@testable import CoreDataStore
@testable import MigrationJobs
@testable import Migrations
@testable import RunSupport
@testable import StoreVerification

/// Inferred steps behind each other in one pass, held against the same steps one after the other.
@Suite struct FusedMigrationTests {
  static func versions(_ entities: [[EntityDescription]]) -> [ManagedObjectModel] {
    entities.enumerated().map { ManagedObjectModel(name: "V\($0 + 1)", entities: $1) }
  }

  /// The passes of a fused run, after its bytes were compared with those of the steps one by one.
  @discardableResult
  static func passes(
    _ versions: [ManagedObjectModel], rows: UInt64 = 300, seed: UInt64 = 1, change: (String) throws -> Void = { _ in }
  ) throws -> MigrationPlan {
    let folder = try MigrationFolder(versions)
    let store = try folder.sample(versions[0].name, rows: rows, seed: seed)
    try change(store)
    var request = folder.request(store, output: try folder.place("fused"))
    request.inference = .stepwise
    let plan = try folder.job().plan(request)
    _ = try folder.migrate(request)
    request.fuses = false
    request.output = try folder.place("walked")
    #expect(try folder.job().plan(request).steps.count >= plan.steps.count)
    _ = try folder.migrate(request)
    let outputs = try ["fused", "walked"].map { try MigrationFolder.bytes(folder.place($0)) }
    #expect(outputs[0] == outputs[1], "seed \(seed)")
    return plan
  }

  @Test(
    "I8: renames, conversions, defaults, hierarchies and links over three versions take one pass, with the bytes of two"
  )
  func everything() throws {
    for (seed, range) in [(1, 0...2), (2, 0...1), (3, 1...2)] {
      let versions = Array(MigrationModels.all[range])
      let plan = try Self.passes(versions, rows: 1500, seed: UInt64(seed))
      #expect(plan.steps.count == 1 && plan.steps[0].passedVersions == versions.dropFirst().dropLast().map(\.name))
    }
  }

  @Test(
    "Step by step, what a version dropped stays dropped, though a later one has it again; what it narrowed stays narrow"
  )
  func droppedAndNarrowed() throws {
    let tag = MigrationModels.entity("Tag", [MigrationModels.attribute("word")])
    let first = [
      MigrationModels.entity(
        "Note",
        [
          MigrationModels.attribute("text"), MigrationModels.attribute("size", .double),
          MigrationModels.attribute("flag", .integer32),
        ]), tag,
    ]
    let second = [
      MigrationModels.entity(
        "Note", [MigrationModels.attribute("size", .float), MigrationModels.attribute("flag", .boolean)])
    ]
    let third = [
      MigrationModels.entity(
        "Note",
        [
          MigrationModels.attribute("text", value: .text("new")), MigrationModels.attribute("size", .double),
          MigrationModels.attribute("flag", .integer64),
        ]),
      tag,
    ]
    let plan = try Self.passes(Self.versions([first, second, third]))
    #expect(plan.steps.count == 1)
    #expect(plan.accounts.flatMap(\.notes).contains { $0.contains("objects of Tag") && $0.contains("Note.text") })
  }

  @Test("A number that does not fit a version on the way is refused by both ways, in the same entity and key")
  func intermediateRefusal() throws {
    let versions = Self.versions(
      [.integer64, .integer16, .integer32].map {
        [MigrationModels.entity("Note", [MigrationModels.attribute("size", $0)])]
      })
    let folder = try MigrationFolder(versions)
    let store = try folder.sample("V1", rows: 50, seed: 3)
    try CarriedStore.write(store) {
      try $0.execute(sql: "UPDATE ZNOTE SET ZSIZE = 5; UPDATE ZNOTE SET ZSIZE = 70000 WHERE Z_PK = 33")
    }
    for fuses in [true, false] {
      var request = folder.request(store, output: try folder.place("output-\(fuses)"))
      (request.fuses, request.inference) = (fuses, .stepwise)
      let error = #expect(throws: BatchError.self) { try folder.migrate(request) }
      #expect(error?.entity == "Note" && error?.key == 33)
    }
  }

  @Test(
    "Steps that one mapping could not make alike are stages of a pass; where tables come together, another pass begins")
  func apart() throws {
    let ordered = [true, false, true].map { isOrdered in
      [
        MigrationModels.entity("Book", [], [StoreModels.link("pages", "Page", "book", many: true, ordered: isOrdered)]),
        MigrationModels.entity(
          "Page", [MigrationModels.attribute("text")], [StoreModels.link("book", "Book", "pages")]),
      ]
    }
    let again = try Self.passes(Self.versions(ordered[0..<2] + [ordered[2] + [MigrationModels.entity("New", [])]]))
    // An order that was lost is made anew of what the version between has.
    #expect(again.steps.map(\.passed.count) == [1] && again.notes.isEmpty)

    let parts = [
      MigrationModels.entity("A", parent: "P", [MigrationModels.attribute("a")]),
      MigrationModels.entity("B", parent: "P", [MigrationModels.attribute("b")]),
    ]
    let split = [
      MigrationModels.entity("A", [MigrationModels.attribute("a")]),
      MigrationModels.entity("B", [MigrationModels.attribute("b"), MigrationModels.attribute("c")]),
    ]
    let moved = try Self.passes(
      Self.versions([[MigrationModels.entity("P", [])] + parts, split, split + [MigrationModels.entity("C", [])]]))
    #expect(
      moved.steps.count == 2
        && moved.notes.contains {
          $0.contains("V2 to V3 needs another pass, ") && $0.contains("objects move to other tables")
        })
    // Behind steps that keep tables it can be the last of its pass.
    let late = try Self.passes(
      Self.versions([
        [MigrationModels.entity("P", [MigrationModels.attribute("x")])] + parts,
        [MigrationModels.entity("P", [])] + parts, split,
      ]))
    #expect(late.steps.count == 1)
  }

  @Test("I8: a table whose objects are all gone keeps the largest key that they had, in one pass and in several")
  func largestKeys() throws {
    let note = MigrationModels.entity("Note", parent: "Paper", [MigrationModels.attribute("text")])
    var abstract = MigrationModels.entity("Paper", [])
    abstract.isAbstract = true
    let paper = MigrationModels.entity("Paper", [])
    let plan = try Self.passes(
      Self.versions([
        [MigrationModels.entity("Note", [MigrationModels.attribute("text")])], [abstract, note], [paper, note], [paper],
      ]))
    #expect(plan.steps.map(\.passed.count) == [1])
  }

  @Test("Order of entities, new sub-entities and renamed tables on the way do not change where rows lie")
  func tableOrder() throws {
    let link = { (inverse: String) in StoreModels.link("owner", "Person", inverse) }
    let first = [
      MigrationModels.entity("Animal", [MigrationModels.attribute("name")], [link("pets")]),
      MigrationModels.entity("Zebra", [MigrationModels.attribute("stripes", .integer16)]),
      MigrationModels.entity(
        "Person", [MigrationModels.attribute("name")], [StoreModels.link("pets", "Animal", "owner", many: true)]),
    ]
    let second = [
      MigrationModels.entity("Ape", parent: "Zoo", [MigrationModels.attribute("arms", .integer16, value: .integer(2))]),
      first[2],
      MigrationModels.entity("Horse", id: "Zebra", [MigrationModels.attribute("stripes", .integer32)]),
      MigrationModels.entity("Zoo", id: "Animal", [MigrationModels.attribute("name")], [link("pets")]),
    ]
    var person = first[2]
    person.relationships = [StoreModels.link("pets", "Zoo", "owner", many: true)]
    var middle = second
    middle[1] = person
    let third = [
      middle[0], middle[3],
      MigrationModels.entity(
        "Human", id: "Person", [MigrationModels.attribute("name")],
        [StoreModels.link("pets", "Zoo", "owner", many: true)]),
      MigrationModels.entity("Donkey", id: "Zebra", [MigrationModels.attribute("stripes", .double)]),
    ].map { entity in
      var entity = entity
      for index in entity.relationships.indices where entity.relationships[index].name == "owner" {
        entity.relationships[index].destinationEntity = "Human"
      }
      return entity
    }
    let plan = try Self.passes(Self.versions([first, middle, third]))
    #expect(plan.steps.count == 1)
  }

  @Test("Elements of composite attributes are carried over, in one pass and in two")
  func composites() throws {
    func place(_ name: String, _ elements: [AttributeDescription], id: String? = nil) -> AttributeDescription {
      var place = MigrationModels.attribute(name, .composite, id: id)
      (place.elements, place.compositeName) = (elements, "Place")
      return place
    }
    let (street, number) = (MigrationModels.attribute("street"), MigrationModels.attribute("number", .integer16))
    let versions = Self.versions([
      [MigrationModels.entity("Person", [place("home", [street, number])])],
      [
        MigrationModels.entity(
          "Person",
          [
            place(
              "home",
              [
                street, MigrationModels.attribute("number", .integer32),
                MigrationModels.attribute("city", value: .text("?")),
              ])
          ])
      ],
      [
        MigrationModels.entity(
          "Person", [place("address", [street, MigrationModels.attribute("number", .integer32)], id: "home")])
      ],
    ])
    let folder = try MigrationFolder(versions)
    let store = try folder.sample("V1", rows: 80, seed: 4)
    let output = try folder.place("output")
    _ = try folder.migrate(folder.request(store, output: output))
    let names = try versions.map { version in
      let layout = try StoreLayout(model: version)
      let attribute = version.name == "V3" ? "address" : "home"
      return ["street", "number"].compactMap {
        layout.column(forAttribute: "\(attribute).\($0)", ofEntity: "Person")?.name
      }
      .joined(separator: ", ")
    }
    let old = try MigrationFolder.rows(store, "SELECT Z_PK, \(names[0]) FROM ZPERSON ORDER BY 1")
    #expect(old.contains { $0.contains("string") })
    #expect(try MigrationFolder.rows(output, "SELECT Z_PK, \(names[2]) FROM ZPERSON ORDER BY 1") == old)
    try Self.passes(versions)
  }

  @Test("A later version that would leave a required attribute without value is refused before anything is written")
  func laterRequirement() throws {
    var required = MigrationModels.attribute("title", id: "name")
    required.isOptional = false
    let versions = Self.versions([
      [MigrationModels.entity("Note", [MigrationModels.attribute("name")])],
      [MigrationModels.entity("Note", [MigrationModels.attribute("title", id: "name")])],
      [MigrationModels.entity("Note", [required])],
    ])
    let folder = try MigrationFolder(versions)
    let store = try folder.sample("V1", rows: 50, seed: 5)
    try CarriedStore.write(store) {
      try $0.execute(sql: "UPDATE ZNOTE SET ZNAME = 'a'; UPDATE ZNOTE SET ZNAME = NULL WHERE Z_PK IN (7, 8)")
    }
    let before = try MigrationFolder.tree(folder.path)
    let error = #expect(throws: BatchError.self) { try folder.migrate(folder.request(store)) }
    #expect(error?.code == .refused && error?.message.contains("title of V3 would have no value in 2 objects") == true)
    #expect(try MigrationFolder.tree(folder.path) == before)
  }
}

/// The same over the models of real applications.
@Suite(.enabled(if: ModelCorpus.isPresent, Comment(rawValue: ModelCorpus.missing)))
struct FusionCorpusTests {
  @Test("I8: real applications' versions, four at a time, are walked in one pass with the bytes of one by one")
  func windows() throws {
    var counts = (compared: 0, passes: 0, steps: 0)
    let bundles = Dictionary(grouping: ModelCorpus.versions) {
      $0.key.split(separator: "/").dropLast().joined(separator: "/")
    }
    for (bundle, found) in bundles.sorted(by: { $0.key < $1.key }) where found.count > 2 {
      guard found.allSatisfy({ $0.value.entities.count < 20 }) else { continue }
      let versions = found.map(\.value).sorted { $0.name.compare($1.name, options: .numeric) == .orderedAscending }
      // One window of each application, each at another place.
      let start = counts.compared * 7 % max(1, versions.count - 3)
      let window = Array(versions[start..<min(start + 4, versions.count)])
      guard let result = try Self.compare(window) else { continue }
      #expect(result.areEqual, "\(bundle) from \(window[0].name)")
      counts = (counts.compared + 1, counts.passes + result.passes, counts.steps + result.steps)
    }
    print("windows: \(counts.compared), \(counts.steps) steps in \(counts.passes) passes")
    #expect(counts.compared > 10 && counts.passes < counts.steps)
  }

  /// Nil where the versions are not inferable, or not all of them can be sampled.
  private static func compare(_ versions: [ManagedObjectModel]) throws -> (areEqual: Bool, passes: Int, steps: Int)? {
    guard let folder = try? MigrationFolder(versions),
      let store = try? folder.sample(versions[0].name, rows: 80, seed: 9)
    else {
      return nil
    }
    var request = folder.request(store, output: try folder.place("fused"))
    request.target = .version(versions[versions.count - 1].name)
    (request.verification, request.inference) = (.none, .stepwise)
    guard let fused = try? folder.job().plan(request), fused.steps.count > 0 else { return nil }
    _ = try folder.migrate(request)
    (request.fuses, request.output) = (false, try folder.place("walked"))
    let walked = try folder.job().plan(request)
    _ = try folder.migrate(request)
    let outputs = try ["fused", "walked"].map { try MigrationFolder.bytes(folder.place($0)) }
    return (outputs[0] == outputs[1], fused.steps.count, walked.steps.count)
  }
}
