import Foundation
import GRDB
import Testing

@testable import CoreDataModel
@testable import MigrationJobs
@testable import Migrations
@testable import RunSupport

@Suite("Traces of objects")
struct ObjectTraceTests {
  private static func versions() -> [ManagedObjectModel] {
    let old = ManagedObjectModel(
      name: "S1",
      entities: [
        StoreModels.entity("Draft", [("text", .string)]),
        StoreModels.entity(
          "Order", [("number", .integer32), ("placed", .string), ("weight", .integer32)],
          [StoreModels.link("lines", "Line", "order", many: true)]),
        StoreModels.entity("Line", [("sku", .string)], [StoreModels.link("order", "Order", "lines")]),
      ])
    let new = ManagedObjectModel(
      name: "S2",
      entities: [
        StoreModels.entity(
          "Order", [("number", .integer64), ("day", .date), ("state", .string), ("weight", .integer32)],
          [StoreModels.link("lines", "Line", "order", many: true), StoreModels.link("item", "Item", "orders")]),
        StoreModels.entity("Item", [("name", .string)], [StoreModels.link("orders", "Order", "item", many: true)]),
        StoreModels.entity("Line", [("sku", .string)], [StoreModels.link("order", "Order", "lines")]),
      ])
    return [old, new]
  }

  private static let mapping = """
    from: S1
    to: S2
    entities:
      - remove: Draft
      - to: Item
      - from: Order
        filter: weight < 10
        attributes:
          day: { date: $source.placed, format: "yyyy-MM-dd" }
          state: { value: open }
        objects:
          - findOrCreate: Item
            by: { name: $source.placed }
            link: item
      - Line
    """

  private func trace(_ folder: MigrationFolder, _ entity: String, _ key: Int64, values: Bool = false) throws
    -> ObjectTrace
  {
    try folder.job().trace(entity, key: key, in: request(folder), values: values)
  }

  private func request(_ folder: MigrationFolder) throws -> MigrationJob.Request {
    var request = folder.request(folder.path + "/sample-1/Store.sqlite")
    request.mappings = [folder.path + "/Map.yaml"]
    return request
  }

  private func prepared() throws -> MigrationFolder {
    let folder = try MigrationFolder(Self.versions())
    try Data(Self.mapping.utf8).write(to: URL(fileURLWithPath: folder.path + "/Map.yaml"))
    let queue = try DatabaseQueue(path: try folder.sample("S1", rows: 60, seed: 1))
    defer { try? queue.close() }
    try queue.write { db in
      try db.execute(
        sql: """
          UPDATE ZORDER SET ZWEIGHT = Z_PK, ZNUMBER = 7, ZPLACED = '2020-01-31'; UPDATE ZORDER SET ZPLACED = 'secret' WHERE Z_PK = 3;
          UPDATE ZLINE SET ZORDER = 1 WHERE Z_PK < 4
          """)
    }
    return folder
  }

  @Test("An object is taken, left out by a filter, rejected, or stays behind, and the trace says by which rule")
  func outcomes() throws {
    let folder = try prepared()
    let tree = try MigrationFolder.tree(folder.path)
    let taken = try #require(try trace(folder, "Order", 1).steps.first?.passages.first?.takings.first)
    #expect(taken.outcome == .taken && taken.reason == "the filter weight < 10 holds" && taken.mappingModel == "Map")
    let origins = Dictionary(uniqueKeysWithValues: taken.properties.map { ($0.name, $0.origin ?? "") })
    #expect(origins["number"] == "Order.number, converted from integer32 to integer64")
    #expect(origins["day"] == "rule: date of ($source.placed)" && origins["weight"] == "Order.weight")
    #expect(origins["lines"] == "carried from Order.lines" && origins["item"] == "rule: findOrCreate Item")
    #expect(origins["state"]?.hasPrefix("constant ") == true, "\(origins)")
    #expect(taken.made.map(\.object.entity) == ["Item"] && taken.made[0].object.isExact == false)
    #expect(taken.properties.first { $0.name == "lines" }?.objects?.map(\.key).prefix(3) == [1, 2, 3])
    #expect(taken.properties.allSatisfy { $0.value == nil })

    let out = try #require(try trace(folder, "Order", 12).steps.first?.passages.first?.takings.first)
    #expect(out.outcome == .leftOut && out.reason == "the filter weight < 10 does not hold" && out.object == nil)
    let rejected = try #require(try trace(folder, "Order", 3).steps.first?.passages.first?.takings.first)
    #expect(rejected.outcome == .rejected && rejected.made.isEmpty && rejected.object == nil)
    #expect(rejected.reason?.contains("secret") == false)
    let behind = try #require(try trace(folder, "Draft", 1).steps.first?.passages.first)
    #expect(behind.takings.isEmpty && behind.reason?.contains("drops the objects of its entity") == true)
    #expect(try MigrationFolder.tree(folder.path) == tree)
  }

  @Test("Values are told when they are asked for; names that are not there are named; what needs nothing says so")
  func values() throws {
    let folder = try prepared()
    let trace = try trace(folder, "Order", 1, values: true)
    #expect(trace.properties.first { $0.name == "placed" }?.value == "\"2020-01-31\"")
    let taken = try #require(trace.steps.first?.passages.first?.takings.first)
    #expect(taken.properties.first { $0.name == "day" }?.value == "2020-01-31T00:00:00.000000Z")
    let unknown = #expect(throws: BatchError.self) { try self.trace(folder, "Parcel", 1) }
    #expect(unknown?.code == .refused && unknown?.hint == "Its entities are Draft, Line, Order")
    var request = try request(folder)
    request.target = .version("S1")
    let still = try folder.job().trace("Line", key: 2, in: request)
    #expect(still.steps.isEmpty && still.object.key == 2)
  }

  @Test("Inferred steps are followed over renamed entities, with the keys and values of the whole run, from any object")
  func inferred() throws {
    let folder = try MigrationFolder(MigrationModels.all)
    let store = try folder.sample("V1", rows: 200, seed: 7)
    let output = folder.path + "/new.sqlite"
    let request = folder.request(store, output: output)
    _ = try folder.migrate(request)
    for (entity, key) in [("Person", 5), ("Place", 3), ("Book", 9), ("Chapter", 2), ("Tag", 4)] as [(String, Int64)] {
      let trace = try folder.job().trace(entity, key: key, in: request, result: output)
      #expect(trace.steps.count == 2 && trace.steps.allSatisfy(\.isInferred))
      let found = try #require(trace.found)
      #expect(found.count == 1 && found[0].isThere && found[0].differing.isEmpty, "\(entity): \(found)")
    }
    let person = try folder.job().trace("Person", key: 5, in: request)
    let first = try #require(person.steps[0].passages[0].takings.first)
    #expect(first.object?.entity == "Human" && first.policy == nil)
    #expect(first.properties.contains { $0.origin?.hasSuffix("renamed by its renaming identifier") == true })
  }

  @Test("A value that belongs to the run, as a random UUID, is said to be so, and is no difference")
  func random() throws {
    let rules = try RuleStore(
      [StoreModels.entity("Note", [("title", .string)])],
      [StoreModels.entity("Note", [("title", .string), ("id", .uuid)])], [("Note", "Z_PK, ZTITLE", "1, 'a'")])
    var request = try rules.request("  - { from: Note, attributes: { title: $same, id: { uuid: random } } }")
    let output = try rules.folder.place("New")
    request.output = output
    _ = try rules.folder.migrate(request)
    func found() throws -> ObjectTrace.Found? {
      try rules.folder.job().trace("Note", key: 1, in: request, result: output).found?.first
    }
    #expect(try found()?.differing == [] && found()?.unforetold == ["id"])
    try MigrationFolder.execute(output, "UPDATE ZNOTE SET ZTITLE = 'b'")
    #expect(try found()?.differing == ["title"] && found()?.unforetold == ["id"])
  }
}
