import Streams
import Testing

@testable import CoreDataModel
@testable import MappingModels
@testable import Migrations
@testable import RunSupport

/// Finds a tag for each item; declares what the mapping's user info says.
struct TagFindingPolicy: EntityMigrationPolicy {
  func lookups(for mapping: EntityMapping) -> [Lookup] {
    mapping.userInfo["lookup"] == nil ? [] : [Lookup(entity: "Tag", attribute: "word")]
  }
  func reads(for mapping: EntityMapping) -> [String] { mapping.userInfo["reads"].map { [$0] } ?? [] }
  func writes(for mapping: EntityMapping) -> [String] { mapping.userInfo["writes"].map { [$0] } ?? [] }

  func createDestinationInstances(
    forSource source: SourceObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {
    let object = try manager.createDestinationInstance(forSource: source, in: mapping)
    if mapping.userInfo["finds"] != nil, try manager.find("Tag", where: "word", is: source.value("word")) != nil {
      try object.set("word", "found")
    }
  }
}

/// A policy reads finished objects of another entity where it says so.
@Suite struct DeclaredReadTests {
  private static func migrate(_ info: [String: String]) throws -> [String] {
    let versions = (1...2).map { number in
      ManagedObjectModel(
        name: "D\(number)",
        entities: ["Item", "Tag"].map {
          StoreModels.entity($0, [("word", .string)] + (number == 1 ? [] : [("note", .string)]))
        })
    }
    let mappings = [("Tag", ["lookup": "", "finds": ""]), ("Item", info)].map { name, info in
      var mapping = EntityMapping(sourceEntity: name, destinationEntity: name)
      (mapping.policyClassName, mapping.userInfo) = ("TagFindingPolicy", info)
      mapping.attributeMappings = [PropertyMapping(name: "word")]
      return mapping
    }
    var model = MappingModel(name: "M", entityMappings: mappings)
    (model.sourceModelName, model.destinationModelName) = ("D1", "D2")
    let folder = try MigrationFolder(versions, mappings: [model], policies: [TagFindingPolicy.self])
    let store = try folder.sample("D1", rows: 40, seed: 2)
    try MigrationFolder.execute(store, "UPDATE ZTAG SET ZWORD = 'a'; UPDATE ZITEM SET ZWORD = 'a'")
    _ = try folder.migrate(folder.request(store))
    return try MigrationFolder.rows(store, "SELECT DISTINCT ZWORD FROM ZITEM")
  }

  @Test("A policy finds objects by look-ups that it declares, and of entities that it waits for")
  func declared() throws {
    #expect(try Self.migrate(["lookup": "", "finds": ""]) == ["string(\"found\")"])
    #expect(try Self.migrate(["reads": "Tag", "finds": ""]) == ["string(\"found\")"])
  }

  @Test(
    "Objects that only another policy's look-up finds are refused, naming the policy, the entity and what to declare",
    arguments: [["finds": ""], ["finds": "", "writes": "Item"]])
  func undeclared(info: [String: String]) throws {
    let error = #expect(throws: BatchError.self) { try Self.migrate(info) }
    #expect(error?.code == .policyFailed && error?.entity == "Item" && error?.key != nil)
    #expect(error?.message == "the policy TagFindingPolicy looks for objects of Tag by word, which it does not declare")
    #expect(error?.hint?.contains("Lookup(entity: \"Tag\", attribute: \"word\")") == true)
  }
}
