import Foundation
import Testing

@testable import CoreDataModel
@testable import MigrationJobs

/// Rules that need no objects are done by recipes: the store is the one that rules with objects give, byte for byte.
@Suite("Rules by recipe")
struct RuleRecipeTests {
  private static func versions() -> [ManagedObjectModel] {
    let attributes: [(String, AttributeType)] = [
      ("title", .string), ("maker", .string), ("kind", .string), ("size", .integer32),
    ]
    let old = ManagedObjectModel(
      name: "R1",
      entities: [
        StoreModels.entity("Shelf", [("name", .string)], [StoreModels.link("items", "Item", "shelf", many: true)]),
        StoreModels.entity("Item", attributes, [StoreModels.link("shelf", "Shelf", "items")]),
      ])
    let new = ManagedObjectModel(
      name: "R2",
      entities: [
        StoreModels.entity(
          "Shelf", [("name", .string)],
          [
            StoreModels.link("items", "Item", "shelf", many: true),
            StoreModels.link("files", "File", "shelf", many: true),
          ]),
        StoreModels.entity("Thing"),
        StoreModels.entity(
          "Item", parent: "Thing", [("title", .string), ("size", .integer64)],
          [
            StoreModels.link("shelf", "Shelf", "items"), StoreModels.link("makers", "Maker", "items", many: true),
            StoreModels.link("tags", "Tag", "items", many: true, ordered: true),
            StoreModels.link("files", "File", "item", many: true),
          ]),
        // In one table with items: further objects wait until those are written.
        StoreModels.entity(
          "Maker", parent: "Thing", [("name", .string), ("rank", .integer16)],
          [StoreModels.link("items", "Item", "makers", many: true)]),
        StoreModels.entity("Tag", [("text", .string)], [StoreModels.link("items", "Item", "tags", many: true)]),
        StoreModels.entity(
          "File", [("url", .string), ("note", .string)],
          [StoreModels.link("item", "Item", "files"), StoreModels.link("shelf", "Shelf", "files")]),
      ])
    return [old, new]
  }

  private static func file(_ condition: String) -> String {
    """
    from: R1
    to: R2
    entities:
      - Shelf
      - to: Maker
      - to: Tag
      - to: File
      - from: Item
        objects:
          - findOrCreate: Maker
            by: { name: $source.maker }
            attributes: { rank: { value: 7 } }
            link: makers
            \(condition)
          - findOrCreate: Tag
            by: { text: $source.kind }
            link: tags
            \(condition)
          - create: File
            attributes: { url: $source.title, note: { value: made } }
            relationships: { item: $destination, shelf: $source.shelf }
            \(condition)

    """
  }

  private func store(_ folder: MigrationFolder, seed: UInt64) throws -> String {
    let store = try folder.sample("R1", rows: 400, seed: seed)
    var random = SeededRandom(seed)
    // What SQL writes where the model wants texts and integers: no recipe fits such rows.
    let values = [
      "NULL", "17", "x'0102'", "'é'", "''", "2.5", "'same'", "'\(String(repeating: "long ", count: 4000))'",
    ]
    for _ in 0..<60 {
      let column = ["ZTITLE", "ZMAKER", "ZKIND", "ZMAKER"].randomElement(using: &random) ?? ""
      let (value, rest) = (values.randomElement(using: &random) ?? "", Int.random(in: 0..<61, using: &random))
      try MigrationFolder.execute(store, "UPDATE ZITEM SET \(column) = \(value) WHERE Z_PK % 61 = \(rest)")
    }
    try MigrationFolder.execute(store, "DELETE FROM ZITEM WHERE Z_PK % 7 = 3")
    return store
  }

  @Test("I8: recipes and objects give the same bytes", arguments: 1...6)
  func sameBytes(seed: UInt64) throws {
    let folder = try MigrationFolder(Self.versions())
    let store = try store(folder, seed: seed)
    let stores = try ["", "when: TRUEPREDICATE"].enumerated().map { index, condition in
      let mapping = "\(folder.path)/\(index).yaml"
      try Data(Self.file(condition).utf8).write(to: URL(fileURLWithPath: mapping))
      var request = folder.request(store, output: try folder.place("made-\(index)"))
      request.mappings = [mapping]
      #expect(try folder.migrate(request).isVerified)
      return try MigrationFolder.bytes(request.output ?? "")
    }
    #expect(stores[0] == stores[1], "seed \(seed)")
  }
}
