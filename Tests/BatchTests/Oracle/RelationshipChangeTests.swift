import GRDB
import Testing

@testable import CoreDataModel
@testable import MappingModels
@testable import MigrationJobs

/// Changes of relationships that random migrations once found wrong, each alone.
@Suite struct RelationshipChangeTests {
  private static func link(
    _ name: String, _ destination: String, _ inverse: String?, many: Bool = false, ordered: Bool = false
  )
    -> RelationshipDescription
  {
    StoreModels.link(name, destination, inverse, many: many, ordered: ordered)
  }

  /// The graphs of a sample before and after a migration.
  private static func migrate(_ versions: [ManagedObjectModel], _ mappings: [MappingModel] = []) throws -> (
    before: OracleGraph, after: OracleGraph
  ) {
    let folder = try MigrationFolder(versions, mappings: mappings)
    let store = try folder.sample("V1", rows: 300, seed: 3)
    let before = try OracleStore.read(store, model: versions[0])
    let report = try folder.migrate(folder.request(store))
    #expect(report.isVerified)
    return (before, try OracleStore.read(store, model: versions[1]))
  }

  @Test("An ordered to-many keeps its order when its to-one inverse becomes a to-many")
  func order() throws {
    func version(_ name: String, many: Bool) -> ManagedObjectModel {
      ManagedObjectModel(
        name: name,
        entities: [
          StoreModels.entity(
            "Shelf", [("name", .string)], [Self.link("books", "Book", "shelf", many: true, ordered: true)]),
          StoreModels.entity("Book", [("title", .string)], [Self.link("shelf", "Shelf", "books", many: many)]),
        ])
    }
    let folder = try MigrationFolder([version("V1", many: false), version("V2", many: true)])
    let store = try folder.sample("V1", rows: 300, seed: 3)
    let queue = try DatabaseQueue(path: store)
    try queue.write {
      try $0.execute(sql: "UPDATE ZBOOK SET Z_FOK_SHELF = Z_PK * 7919 % 10007 WHERE ZSHELF IS NOT NULL")
    }
    try queue.close()
    let before = try OracleStore.read(store, model: version("V1", many: false))
    _ = try folder.migrate(folder.request(store))
    let after = try OracleStore.read(store, model: version("V2", many: true))
    let shelves = before.objects(of: "Shelf")
    #expect(shelves.contains { before.links("books", of: $0) != before.links("books", of: $0).sorted() })
    for shelf in shelves { #expect(after.links("books", of: shelf) == before.links("books", of: shelf), "\(shelf)") }
  }

  @Test("A new inverse of a to-many that had none leads to owners of every entity")
  func owners() throws {
    func version(_ name: String, inverse: String?) -> ManagedObjectModel {
      ManagedObjectModel(
        name: name,
        entities: [
          StoreModels.entity(
            "Owner", [("name", .string)], [Self.link("items", "Item", inverse, many: true, ordered: true)]),
          StoreModels.entity("Zealous", parent: "Owner"),
          StoreModels.entity("Item", [("title", .string)], inverse.map { [Self.link($0, "Owner", "items")] } ?? []),
        ])
    }
    let (before, after) = try Self.migrate([version("V1", inverse: nil), version("V2", inverse: "owner")])
    for owner in before.objects(of: "Owner") {
      #expect(after.links("items", of: owner) == before.links("items", of: owner), "\(owner)")
      for item in before.links("items", of: owner) { #expect(after.links("owner", of: item) == [owner], "\(item)") }
    }
    #expect(before.objects.contains { $0.key.entity == "Zealous" && !($0.value.links["items"] ?? []).isEmpty })
  }

  @Test("What objects of a removed entity owned through a to-many without inverse belongs to nobody")
  func removedOwners() throws {
    let owner = StoreModels.entity("Owner", [("name", .string)], [Self.link("items", "Item", nil, many: true)])
    let item = StoreModels.entity("Item", [("title", .string)])
    let (before, after) = try Self.migrate([
      ManagedObjectModel(name: "V1", entities: [owner, item, StoreModels.entity("Zealous", parent: "Owner")]),
      ManagedObjectModel(name: "V2", entities: [owner, item]),
    ])
    #expect(before.objects.contains { $0.key.entity == "Zealous" && !($0.value.links["items"] ?? []).isEmpty })
    for key in after.objects(of: "Owner") {
      #expect(after.links("items", of: key) == before.links("items", of: key), "\(key)")
    }
  }

  @Test("What is mapped twice is once in a to-many without inverse: by the first mapping")
  func twice() throws {
    let node = StoreModels.entity("Node", [("name", .string)], [Self.link("children", "Node", nil, many: true)])
    let versions = [
      ManagedObjectModel(name: "V1", entities: [node]),
      ManagedObjectModel(
        name: "V2", entities: [node, StoreModels.entity("Twin", parent: "Node", [("note", .string)])]),
    ]
    var mapping = PolicyModels.model(
      "Twice",
      [
        PolicyModels.entity("Node", ["name"], ["children"]),
        EntityMapping(sourceEntity: "Node", destinationEntity: "Twin"),
      ])
    (mapping.sourceModelName, mapping.destinationModelName) = ("V1", "V2")
    let (before, after) = try Self.migrate(versions, [mapping])
    let nodes = before.objects(of: "Node")
    for node in nodes { #expect(after.links("children", of: node) == before.links("children", of: node), "\(node)") }
    #expect(after.objects.count == 2 * nodes.count)
  }

  @Test("A to-many whose other side has no objects is no loss when it becomes many-to-many")
  func nobody() throws {
    func version(_ name: String, many: Bool) -> ManagedObjectModel {
      var ghost = StoreModels.entity("Ghost", [("sound", .string)], [Self.link("seer", "Person", "ghosts", many: many)])
      ghost.isAbstract = true
      let person = StoreModels.entity("Person", [("name", .string)], [Self.link("ghosts", "Ghost", "seer", many: true)])
      return ManagedObjectModel(name: name, entities: [ghost, person])
    }
    let (before, after) = try Self.migrate([version("V1", many: false), version("V2", many: true)])
    #expect(after.objects.keys.sorted() == before.objects.keys.sorted())
  }
}

extension OracleGraph {
  fileprivate func links(_ name: String, of key: OracleKey) -> [OracleKey] { objects[key]?.links[name] ?? [] }
}
