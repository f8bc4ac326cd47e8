import Foundation
import GRDB
import Testing

@testable import CoreDataModel
@testable import MigrationJobs

@Suite("Conditions and expressions of mapping files")
struct RuleConditionTests {
  private static let text = """
    from: N1
    to: N2
    entities:
      - from: Note
        filter: rank != 2
        attributes:
          label: uppercase($source.title)
          size: { if: rank > 2 AND title != nil, then: { value: large }, else: "CAST($source.rank * 10, 'NSString')" }
        objects:
          - { create: Tag, when: "parent == nil OR title BEGINSWITH[c] 'B'", attributes: { word: $source.title }, link: tags }
    """

  @Test("Filters leave rows out, conditions decide about values and objects, and links to what was left out are empty")
  func conditions() throws {
    let parent = StoreModels.link("parent", "Note", "children")
    let children = StoreModels.link("children", "Note", "parent", many: true)
    let folder = try MigrationFolder([
      ManagedObjectModel(
        name: "N1",
        entities: [StoreModels.entity("Note", [("rank", .integer16), ("title", .string)], [parent, children])]),
      ManagedObjectModel(
        name: "N2",
        entities: [
          StoreModels.entity(
            "Note", [("rank", .integer16), ("label", .string), ("size", .string)],
            [parent, children, StoreModels.link("tags", "Tag", "note", many: true)]),
          StoreModels.entity("Tag", [("word", .string)], [StoreModels.link("note", "Note", "tags")]),
        ]),
    ])
    let store = try folder.sample("N1", rows: 3, seed: 4)
    let queue = try DatabaseQueue(path: store)
    try queue.write { db in
      try db.execute(sql: "DELETE FROM ZNOTE")
      for row in ["1, 1, 1, 1, NULL, 'ab'", "2, 1, 1, 2, 1, 'x'", "3, 1, 1, 3, 2, 'bc'", "4, 1, 1, 4, 1, NULL"] {
        try db.execute(sql: "INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZRANK, ZPARENT, ZTITLE) VALUES (\(row))")
      }
    }
    try queue.close()
    let file = folder.path + "/Notes.yaml"
    try Data(Self.text.utf8).write(to: URL(fileURLWithPath: file))
    var request = folder.request(store)
    request.mappings = [file]
    let report = try folder.migrate(request)
    #expect(report.isVerified && report.notes.contains { $0.contains("1 of 4 objects of Note was left out") })
    #expect(
      try MigrationFolder.rows(store, "SELECT Z_PK, ZRANK, ZLABEL, ZSIZE, ZPARENT FROM ZNOTE ORDER BY 1") == [
        "int64(1)|int64(1)|string(\"AB\")|string(\"10\")|null",
        "int64(3)|int64(3)|string(\"BC\")|string(\"large\")|null",
        "int64(4)|int64(4)|null|string(\"40\")|int64(1)",
      ])
    #expect(
      try MigrationFolder.rows(store, "SELECT ZNOTE, ZWORD FROM ZTAG ORDER BY 1") == [
        "int64(1)|string(\"ab\")", "int64(3)|string(\"bc\")",
      ])
  }
}
