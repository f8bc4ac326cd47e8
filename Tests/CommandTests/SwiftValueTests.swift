import Foundation
import Testing

@testable import SwiftDataModels

/// Small schemas whose next version is lightweight for SwiftData, and what becomes of values.
@Suite("Values over versions of SwiftData", .enabled(if: SourceParser.isThere, "built without SwiftData"))
struct SwiftValueTests {
  private let folder: CommandFolder

  init() throws { folder = try CommandFolder(readsSwift: true) }

  private static let types = """
    enum Size: String, Codable { case small, large }
    enum Shape: Codable { case round, square }
    struct Place: Codable { var street: String }

    """

  /// Sources with these versions of the class Book, and a store of the first with what is imported.
  private func made(_ versions: [String], _ books: [String]) throws -> (sources: String, store: String) {
    let sources = try SchemaSources(folder.newPath("App"), versions)
    try Self.types.write(toFile: sources.path + "/Types.swift", atomically: true, encoding: .utf8)
    let (file, store) = (folder.newPath("books") + ".jsonl", folder.newPath("Books") + ".store")
    let lines = books.enumerated().map { place, attributes in
      #"{"entity":"Book","key":\#(place + 1),"attributes":{\#(attributes)}}"#
    }
    try lines.joined(separator: "\n").write(toFile: file, atomically: true, encoding: .utf8)
    let made = try folder.run(
      "godwit", ["import", sources.path, file, "--version", "1.0.0", "--output", store, "--quiet"])
    #expect(made.code == 0, "\(made)")
    return (sources.path, store)
  }

  private func plan(_ made: (sources: String, store: String)) throws -> CommandProcess.Outcome {
    try folder.run("godwit", ["plan", made.store, "--models", made.sources])
  }

  @Test("Structures that were renamed keep their values over later versions, and a changed name is a changed version")
  func renamedStructures() throws {
    let next = #"@Attribute(originalName: "billing") var invoice: Place?; var home: Place?"#
    let versions = ["var billing: Place?; var home: Place?", next, next + "; var extra: Int?"]
    let made = try made(versions, [#""billing":{"street":"B"},"home":{"street":"H"}"#])
    let done = try folder.run("godwit", ["migrate", made.store, "--models", made.sources])
    #expect(done.code == 0 && done.output.contains("1.0.0 to 3.0.0"), "\(done)")
    let exported = try folder.run("godwit", ["export", made.store]).output
    #expect(
      exported.contains(#""home":{"street":"H"}"#) && exported.contains(#""invoice":{"street":"B"}"#), "\(exported)")
    let models = try folder.run("godwit", ["models", made.sources]).output
    #expect(models.contains("1.0.0 to 2.0.0: can be inferred"), "\(models)")
    let sources = try SchemaSources(made.sources, [versions[0]])
    #expect(try folder.run("godwit", ["lock", sources.path]).code == 0)
    try sources.write(["var invoice: Place?; var home: Place?"])
    let checked = try folder.run("godwit", ["check", sources.path])
    #expect(checked.code == 4 && checked.output.contains("Book.billing"), "\(checked)")
  }

  @Test("An enumeration without raw values that everybody must have is refused where nothing gives it a value")
  func requiredShape() throws {
    let made = try made(["var n: Int?", "var n: Int?; var shape: Shape"], [#""n":1"#])
    let refused = try plan(made)
    let message = "the required attribute shape of 2.0.0 would have no value in 1 object"
    #expect(refused.code == 20 && refused.error.contains(message), "\(refused)")
    let draft = try folder.run("godwit", ["mapping", "init", "1.0.0", "2.0.0", "--models", made.sources])
    #expect(draft.output.contains("Book.shape is required"), "\(draft)")
    let file = folder.newPath("Round.yaml")
    try "from: 1.0.0\nto: 2.0.0\nentities:\n  - from: Book\n    attributes: { shape.round: { value: round } }\n".write(
      toFile: file, atomically: true, encoding: .utf8)
    let done = try folder.run("godwit", ["migrate", made.store, "--models", made.sources, "--mappings", file])
    #expect(done.code == 0, "\(done)")
  }

  @Test(
    "What a mapping file leaves without a value although it is required ends the migration, and check says it before")
  func requiredByFile() throws {
    let made = try made(
      ["var n: Int?", "var n: Int?; var size: Size; var place: Place; var shape: Shape"], [#""n":1"#])
    let file = folder.newPath("Part.yaml")
    let given = [
      ("Book.size", "size: { value: small }"), ("Book.place", "place.street: { value: s }"),
      ("Book.shape", "shape.square: { value: square }"),
    ]
    for count in 0...given.count {
      let rules = given.prefix(count).map(\.1).joined(separator: ", ")
      try "from: 1.0.0\nto: 2.0.0\nentities:\n  - from: Book\n    attributes: { \(rules) }\n".write(
        toFile: file, atomically: true, encoding: .utf8)
      let words = [made.store, "--models", made.sources, "--mappings", file]
      let outcome = try folder.run("godwit", ["migrate"] + words + ["--output", folder.newPath("Out") + ".store"])
      guard count < given.count else {
        #expect(outcome.code == 0, "\(outcome)")
        return
      }
      #expect(
        outcome.code == 1 && given.dropFirst(count).contains { outcome.error.contains("\($0.0)") }
          && outcome.error.contains("is required and would have no value"), "\(outcome)")
    }
  }

  @Test("An enumeration that becomes another one loses its values: that is refused with their number")
  func otherEnumeration() throws {
    let made = try made(["var size: Size?", "var size: Shape?"], [#""size":{"size":"small"}"#, #""size":null"#])
    let refused = try plan(made)
    #expect(refused.code == 20 && refused.error.contains("1 value of Book.size.size"), "\(refused)")
    let line = try #require(refused.error.split(separator: "`").first { $0.hasPrefix("godwit plan") })
    #expect(try folder.paste(String(line)).code == 0, "\(line)")
  }

  @Test("A chain of renames that names the name and not the first one is told, with what to write")
  func renamedTwice() throws {
    let versions = [
      "var title: String?", #"@Attribute(originalName: "title") var heading: String?"#,
      #"@Attribute(originalName: "heading") var caption: String?"#,
    ]
    let made = try made(versions, [#""title":"T""#])
    let told = try plan(made).output
    #expect(
      told.contains("Book.caption has the originalName heading, which nothing in 2.0.0 has: it begins empty")
        && told.contains("What is named heading there has title: give it that"), "\(told)")
    let sources = try SchemaSources(
      made.sources, [versions[0], versions[1], #"@Attribute(originalName: "title") var caption: String?"#])
    let mended = try folder.run("godwit", ["migrate", made.store, "--models", sources.path])
    #expect(mended.code == 0 && !mended.output.contains("begins empty"), "\(mended)")
    #expect(try ExampleFolder.rows(made.store, "SELECT ZCAPTION FROM ZBOOK") == [#"[ZCAPTION:"T"]"#])
  }

  @Test(
    "A new unique attribute with one value for all is refused with the form that gives each its own, and that works")
  func newUnique() throws {
    let made = try made(
      ["var n: Int?", "var n: Int?; @Attribute(.unique) var id: UUID = UUID()"], [#""n":1"#, #""n":2"#])
    let refused = try plan(made)
    #expect(refused.code == 20 && refused.error.contains("as id: { uuid: per-row }"), "\(refused)")
    let file = folder.newPath("Own.yaml")
    try "from: 1.0.0\nto: 2.0.0\nentities:\n  - from: Book\n    attributes: { id: { uuid: per-row } }\n".write(
      toFile: file, atomically: true, encoding: .utf8)
    let done = try folder.run("godwit", ["migrate", made.store, "--models", made.sources, "--mappings", file])
    #expect(done.code == 0, "\(done)")
  }

  @Test("A store whose new attribute has the moment of its migration is equal to what the migration gives later")
  func against() throws {
    let made = try made(["var n: Int?", "var n: Int?; var created: Date = Date()"], [#""n":1"#, #""n":2"#])
    let result = folder.newPath("Result") + ".store"
    let words = ["migrate", made.store, "--models", made.sources, "--output", result]
    #expect(try folder.run("godwit", words).code == 0)
    // The moment is one to the second.
    Thread.sleep(forTimeInterval: 1.1)
    let compared = try folder.run("godwit", ["verify", result, "--models", made.sources, "--against", made.store])
    #expect(compared.code == 0, "\(compared)")
  }
}
