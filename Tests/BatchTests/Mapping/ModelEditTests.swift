import Foundation
import Testing

@testable import CoreDataModel
@testable import MappingModels
@testable import Migrations

@Suite("What somebody edited in a version is said property by property")
struct ModelEditTests {
  private static func model(_ book: String, _ rest: String = "") throws -> ManagedObjectModel {
    let text = "<model><entity name=\"Book\">\(book)</entity>\(rest)</model>"
    let path = FileManager.default.temporaryDirectory.appendingPathComponent("edit-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: path) }
    try text.write(toFile: path, atomically: false, encoding: .utf8)
    return try ModelXMLReader.read(path, name: "V")
  }

  private static func attribute(_ name: String, _ type: String = "Integer 16", _ more: String = "") -> String {
    "<attribute name=\"\(name)\" attributeType=\"\(type)\" \(more)/>"
  }

  private static func relationship(_ more: String) -> String {
    "<relationship name=\"owner\" destinationEntity=\"User\" optional=\"YES\" \(more)/>"
  }

  private static let user = "<entity name=\"User\"/>"
  private static let one = "maxCount=\"1\""

  @Test(
    "Each edit is one sentence; what changes no hash is none",
    arguments: [
      (attribute("rating"), attribute("rating", "Integer 16", "optional=\"YES\""), ["Book.rating became optional"]),
      (attribute("rating", "Date", "optional=\"YES\""), attribute("rating", "Date"), ["Book.rating became required"]),
      (attribute("a"), attribute("a", "Integer 64"), ["Book.a has the type integer64 instead of integer16"]),
      (attribute("a"), attribute("a") + attribute("b", "String"), ["Book.b was added (string)"]),
      (attribute("a") + attribute("b"), attribute("a"), ["Book.b was removed"]),
      (attribute("a"), attribute("b"), ["Book.a was renamed to b"]),
      (attribute("a"), attribute("b", "String"), ["Book.b was added (string)", "Book.a was removed"]),
      (attribute("a"), attribute("b", "Integer 16", "elementID=\"a\""), ["Book.a was renamed to b"]),
      (attribute("a"), attribute("a", "Integer 16", "transient=\"YES\""), ["Book.a became transient"]),
      (
        attribute("a", "Binary"), attribute("a", "Binary", "allowsExternalBinaryDataStorage=\"YES\""),
        ["Book.a got external storage"]
      ),
      (
        attribute("a"), attribute("a", "Integer 16", "versionHashModifier=\"2\""), ["Book.a got the hash modifier 2"]
      ),
      (attribute("a"), attribute("a", "Integer 16", "defaultValueString=\"3\""), []),
    ])
  func attributes(_ old: String, _ new: String, _ wanted: [String]) throws {
    #expect(try ModelEdit.list(from: Self.model(old), to: Self.model(new)).map(\.description) == wanted)
  }

  @Test("Relationships, constraints and entities are named as well")
  func others() throws {
    func edits(_ old: String, _ new: String, _ rest: [String] = [Self.user, Self.user]) throws -> [String] {
      try ModelEdit.list(from: Self.model(old, rest[0]), to: Self.model(new, rest[1])).map(\.description)
    }
    let (one, many) = (Self.relationship(Self.one), Self.relationship("toMany=\"YES\""))
    #expect(try edits(one, many) == ["Book.owner became to-many"])
    #expect(try edits(many, one) == ["Book.owner became to-one"])
    let ordered = Self.relationship("toMany=\"YES\" ordered=\"YES\"")
    #expect(try edits(many, ordered) == ["Book.owner became ordered"])
    let a = Self.attribute("a")
    let unique =
      "<uniquenessConstraints><uniquenessConstraint><constraint value=\"a\"/></uniquenessConstraint></uniquenessConstraints>"
    #expect(try edits(a, a + unique) == ["Book got the uniqueness constraints a"])
    #expect(try edits(a, a, ["", Self.user]) == ["User was added"])
    #expect(try edits(a, a, [Self.user, ""]) == ["User was removed"])
    #expect(try edits(a, a) == [])
  }

  @Test("The nearest of versions that differ in the same entities is the one with the fewest edits")
  func nearest() throws {
    func version(_ name: String, _ text: String) throws -> ManagedObjectModel {
      var model = try Self.model(text)
      model.name = name
      return model
    }
    let a = Self.attribute("a")
    let far = a + Self.attribute("b") + Self.attribute("c")
    let near = Self.attribute("a", "Integer 16", "optional=\"YES\"")
    let library = ModelLibrary(bundles: [
      ModelBundle(path: "M", name: "M", versions: [try version("near", near), try version("far", far)])
    ])
    let store = try Self.model(a)
    #expect(library.nearest(to: store.versionHashes)?.model.name == "far")
    let found = library.nearest(to: store.versionHashes, like: store)
    #expect(found?.model.name == "near" && found?.edits.map(\.description) == ["Book.a became optional"])
    #expect(
      library.noModel(for: store.versionHashes, like: store).message
        == "no version of the model fits the store; the nearest is near; "
        + "the likeliest edit since the store was written: Book.a became optional")
  }

  @Test("A sentence names four edits at most")
  func sentence() {
    let edits = (1...6).map { ModelEdit(entity: "A", property: "p\($0)", text: "was removed") }
    #expect(ModelEdit.text([]) == "")
    #expect(ModelEdit.text(edits).hasSuffix("A.p3 was removed, A.p4 was removed, and 2 more"))
    #expect(ModelEdit.text(edits).hasPrefix("the likeliest edits since the store was written: A.p1 was removed"))
  }
}
