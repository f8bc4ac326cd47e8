import Foundation
import Testing

@testable import SwiftDataModels

@Suite("A store whose version somebody edited")
struct EditedSchemaTests {
  private let folder: CommandFolder

  init() throws { folder = try CommandFolder(readsSwift: true) }

  private func models(_ name: String, _ attributes: [String: String]) throws -> String {
    let path = folder.newPath(name)
    try LookCommandTests.write(attributes, to: path + "/A.xcdatamodel")
    return path
  }

  private func store(_ models: String, _ version: String) throws -> String {
    let store = folder.file("shop.sqlite")
    let made = try folder.run("godwit", ["sample", models, "--version", version, "--rows", "10", "--output", store])
    try #require(made.code == 0, "\(made)")
    return store
  }

  @Test("identify, inspect, plan and the refusal of migrate say which property differs")
  func edited() throws {
    let shipped = try models("Shop.xcdatamodeld", ["name": "String", "price": "Integer 32", "tax": "Double"])
    let edited = try models("Shop.xcdatamodeld", ["name": "String", "price": "Double"])
    let store = try store(shipped, "A")
    let found = try expectLook(["identify", store, "--models", edited], in: folder, code: 20)
    #expect(
      found.contains(
        """
          nearest   A of \(edited)
          likeliest edits since the store was written:
            Item.price has the type double instead of integer32
            Item.tax was removed
          Item: another version hash
        """), "\(found)")
    let json = try document(try expectLook(["identify", store, "--models", edited, "--json"], in: folder, code: 20))
    #expect((json["edits"] as? [[String: String]])?.map { $0["property"] } == ["price", "tax"])
    let edits =
      "the likeliest edits since the store was written: Item.price has the type double instead of integer32, "
      + "Item.tax was removed"
    #expect(try expectLook(["inspect", store, "--models", edited], in: folder).contains(edits))
    let refused = try folder.run("godwit", ["migrate", store, "--models", edited])
    #expect(refused.code == 20 && refused.error.contains("the nearest version is A; " + edits), "\(refused)")
    // What loses nothing is planned, and says where it begins.
    let wider = try models("Shop.xcdatamodeld", ["name": "String", "price": "Double", "tax": "Double"])
    let plan = try expectLook(["plan", store, "--models", wider], in: folder)
    #expect(
      plan.contains("Item.price has the type double instead of integer32; the store's own model takes its place"),
      "\(plan)")
  }

  @Test("A store that carries no model is compared by entities and columns alone")
  func withoutModel() throws {
    let store = try store(try models("Shop.xcdatamodeld", ["price": "Integer 32"]), "A")
    try folder.forgetModel(of: store)
    let edited = try models("Shop.xcdatamodeld", ["price": "Double"])
    let plain = try expectLook(["identify", store, "--models", edited], in: folder, code: 20)
    #expect(!plain.contains("likeliest") && plain.contains("price: INTEGER instead of FLOAT"), "\(plain)")
  }

  @Test(
    "Sources of SwiftData that were edited after they shipped are compared as well", .enabled(if: SourceParser.isThere))
  func swift() throws {
    func sources(_ rating: String) throws -> String {
      let path = folder.newPath("Book.swift")
      let text = "@Model class Book { var title: String; var rating: \(rating); var id = UUID(); var at = Date() }"
      try text.write(toFile: path, atomically: true, encoding: .utf8)
      return path
    }
    let store = try store(try sources("Int"), "1.0.0")
    let found = try expectLook(["identify", store, "--models", try sources("Int?")], in: folder, code: 20)
    #expect(
      found.contains("  likeliest edit since the store was written:\n    Book.rating became optional\n"), "\(found)")
    #expect(try expectLook(["identify", store, "--models", try sources("Int")], in: folder).contains("version 1.0.0"))
  }
}
