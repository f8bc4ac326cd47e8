import Foundation
import Streams
import Testing

@testable import CoreDataModel
@testable import MappingModels
@testable import MigrationJobs
@testable import Migrations
@testable import RunSupport

/// Mapping models in one pass with the steps around them, held against the same steps one after the other.
@Suite struct FusedMappingTests {
  typealias Expression = CoreDataModel.Expression

  /// Four versions: 1 to 2 and 3 to 4 are inferred, 2 to 3 is a mapping model.
  private static let versions: [ManagedObjectModel] = {
    func book(_ attributes: [(String, AttributeType)]) -> EntityDescription {
      StoreModels.entity(
        "Book", attributes,
        [StoreModels.link("shelf", "Shelf", "books"), StoreModels.link("readers", "Reader", "books", many: true)])
    }
    func others(_ shelf: [(String, AttributeType)]) -> [EntityDescription] {
      [
        StoreModels.entity("Reader", [("name", .string)], [StoreModels.link("books", "Book", "readers", many: true)]),
        StoreModels.entity("Shelf", shelf, [StoreModels.link("books", "Book", "shelf", many: true)]),
      ]
    }
    let all: [[EntityDescription]] = [
      [book([("title", .string), ("pages", .integer16), ("price", .double)])] + others([("name", .string)]),
      [book([("title", .string), ("pages", .integer32), ("price", .double)])]
        + others([("name", .string), ("room", .string)]),
      [book([("label", .string), ("title", .string), ("pages", .integer32), ("cents", .integer32), ("sold", .date)])]
        + others([("name", .string), ("floor", .integer16)]),
      [book([("label", .string), ("pages", .integer64), ("cents", .double)])]
        + others([("name", .string), ("floor", .integer16)]),
    ]
    return all.enumerated().map { ManagedObjectModel(name: "V\($0 + 1)", entities: $1) }
  }()

  private static func instances(_ mapping: String, _ path: String) -> Expression {
    .function(
      operand: .variable("manager"), name: "destinationInstancesForEntityMappingNamed:sourceInstances:",
      arguments: [.constant(.text(mapping)), .keyPath(operand: .variable("source"), path: [path])])
  }

  private static func mapping(_ name: String, _ attributes: [(String, String?)], _ links: [(String, String)]) throws
    -> EntityMapping
  {
    var mapping = EntityMapping(sourceEntity: name, destinationEntity: name)
    mapping.attributeMappings = try attributes.map {
      PropertyMapping(name: $0.0, valueExpression: try $0.1.map { try Expression(format: $0) })
    }
    mapping.relationshipMappings = links.map { PropertyMapping(name: $0.0, valueExpression: instances($0.1, $0.0)) }
    return mapping
  }

  private static func model(
    cents: String = "floor:($source.price * 100)", change: (inout MappingModel) -> Void = { _ in }
  ) throws -> MappingModel {
    var model = MappingModel(
      name: "TwoToThree",
      entityMappings: [
        try mapping("Shelf", [("name", "$source.name"), ("floor", "7")], [("books", "BookToBook")]),
        try mapping(
          "Book",
          [
            ("label", "uppercase:($source.title)"), ("title", nil), ("pages", "$source.pages"), ("cents", cents),
            ("sold", nil),
          ],
          [("shelf", "ShelfToShelf"), ("readers", "ReaderToReader")]),
        try mapping("Reader", [("name", nil)], [("books", "BookToBook")]),
      ])
    (model.sourceModelName, model.destinationModelName) = ("V2", "V3")
    change(&model)
    return model
  }

  /// The plan of a fused run over some versions, after its bytes were compared with those of the steps one by one.
  private static func plan(_ range: ClosedRange<Int>, _ model: MappingModel, sql: String = "") throws -> MigrationPlan {
    let folder = try MigrationFolder(
      Array(versions[range]), mappings: [model], policies: [DefaultPolicy.self])
    let store = try folder.sample(versions[range.lowerBound].name, rows: 900, seed: 4)
    // What the sample's numbers are does not fit every type on the way.
    try MigrationFolder.execute(store, "UPDATE ZBOOK SET ZPRICE = Z_PK / 8.0, ZPAGES = Z_PK % 700; \(sql)")
    var request = folder.request(store, output: try folder.place("fused"))
    let plan = try folder.job().plan(request)
    _ = try folder.migrate(request)
    (request.fuses, request.output) = (false, try folder.place("walked"))
    _ = try folder.migrate(request)
    let outputs = try ["fused", "walked"].map { try MigrationFolder.bytes(folder.place($0)) }
    #expect(outputs[0] == outputs[1])
    return plan
  }

  @Test(
    "I8: a mapping model with expressions takes one pass with the inferred steps around it, with the bytes of one by one"
  )
  func onePass() throws {
    let behind = try Self.plan(1...3, Self.model())
    #expect(behind.steps.count == 1 && behind.steps[0].reason.contains("TwoToThree") && !behind.steps[0].isInferred)
    // Pages change their type before the mapping model; an expression does not ask for them.
    let between = try Self.plan(0...3, Self.model())
    #expect(between.steps.map(\.passedVersions) == [["V2", "V3"]])
  }

  @Test(
    "I8: an expression of values that changed on the way reads them as the version between has them, in the same pass")
  func changedValues() throws {
    let plan = try Self.plan(0...3, Self.model(cents: "$source.pages * 2"))
    #expect(
      plan.steps.map(\.passedVersions) == [["V2", "V3"]] && plan.steps[0].passed.map(\.destination.name) == ["V2"])
  }

  @Test(
    "I8: what asks for other objects of its version, or leaves objects out, is a stage; behind a policy another pass begins"
  )
  func stages() throws {
    let asking = try Self.plan(0...3, Self.model(cents: "$source.readers.@count"))
    #expect(asking.steps.map(\.passed.count) == [1])
    let filtered = try Self.plan(
      0...3, Self.model { $0.entityMappings[1].filterPredicate = "pages > 100" }, sql: "DELETE FROM Z_1READERS;")
    #expect(filtered.steps.map(\.passed.count) == [2])
    let decided = try Self.plan(0...3, Self.model { $0.entityMappings[1].policyClassName = "DefaultPolicy" })
    #expect(decided.steps.map(\.passed.count) == [1, 0])
    #expect(
      decided.notes.contains(
        "V3 to V4 needs another pass, because in V2 to V3 BookToBook has the policy DefaultPolicy"
      ))
  }

  @Test("I8: a mapping that makes nothing of what a relationship leads to is refused, with the one that does")
  func partOfARelationship() throws {
    let model = try Self.model {
      $0.entityMappings[1].relationshipMappings[1].valueExpression = Self.instances("ShelfToShelf", "readers")
    }
    #expect {
      try Self.plan(0...3, model)
    } throws: {
      "\($0)".contains("makes no such objects of Reader. Name the one for Reader: ReaderToReader")
    }
  }

  @Test("A number that fits the mapping model's version and no later one is refused by both ways, naming its object")
  func narrowed() throws {
    var versions = Array(Self.versions[1...2])
    versions.append(
      ManagedObjectModel(
        name: "V4",
        entities: Self.versions[3].entities.map { entity in
          var narrow = entity
          for index in narrow.attributes.indices where narrow.attributes[index].name == "cents" {
            narrow.attributes[index].type = .integer16
          }
          return narrow
        }))
    let folder = try MigrationFolder(versions, mappings: [try Self.model()])
    let store = try folder.sample("V2", rows: 50, seed: 9)
    try MigrationFolder.execute(store, "UPDATE ZBOOK SET ZPRICE = CASE Z_PK WHEN 7 THEN 400 ELSE 1 END")
    for fuses in [true, false] {
      var request = folder.request(store, output: try folder.place("output-\(fuses)"))
      request.fuses = fuses
      let error = #expect(throws: BatchError.self) { try folder.migrate(request) }
      #expect(error?.code == .policyFailed && error?.entity == "Book" && error?.key == 7)
    }
  }
}

private struct DefaultPolicy: EntityMigrationPolicy {}
