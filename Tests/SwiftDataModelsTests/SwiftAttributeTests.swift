import CoreDataModel
import Streams
import Testing

@testable import SwiftDataModels

@Suite(
  "Options, constraints, indexes and defaults are read", .enabled(if: SourceParser.isThere, "built without SwiftData"))
struct SwiftAttributeTests {
  @Test("Every option of @Attribute has its place in the model")
  func options() throws {
    let entity = try SwiftText.members(
      """
      @Attribute(.unique, originalName: "old") var a: String
      @Attribute(.externalStorage, .allowsCloudEncryption) var b: Data?
      @Attribute(.ephemeral) var c: Int
      @Attribute(.transformable(by: ColorTransformer.self)) var d: UIColor?
      @Attribute(.preserveValueOnDeletion, .spotlight, hashModifier: "2") var e: Int
      @Attribute(.transformable(by: "Other")) var f: NSObject
      """
    ).entity("A")
    let all = Dictionary(uniqueKeysWithValues: entity.attributes.map { ($0.name, $0) })
    #expect(entity.uniquenessConstraints == [["a"]] && all["a"]?.renamingIdentifier == "old")
    #expect(all["b"]?.allowsExternalBinaryDataStorage == true && all["b"]?.allowsCloudEncryption == true)
    #expect(all["c"]?.isTransient == true)
    #expect(all["d"]?.type == .transformable && all["d"]?.valueTransformerName == "ColorTransformer")
    #expect(all["d"]?.attributeValueClassName == "UIColor" && all["f"]?.valueTransformerName == "Other")
    #expect(all["e"]?.preservesValueInHistoryOnDeletion == true && all["e"]?.isIndexedBySpotlight == true)
    #expect(all["e"]?.versionHashModifier == "2")
  }

  @Test("#Unique and #Index, relationships among them")
  func macros() throws {
    let entity = try SwiftText.members(
      """
      #Unique<A>([\\.a], [\\.b, \\.other])
      #Index<A>([\\.a], [\\A.b, \\A.a])
      @Attribute(.unique) var a: String
      var b: Int
      var other: B?
      """, "@Model class B { var n = 1 }"
    ).entity("A")
    #expect(entity.uniquenessConstraints == [["a"], ["b", "other"]])
    #expect(entity.indexes.map(\.name) == ["SwiftDataIndexOnBinarya", "SwiftDataIndexOnBinaryba"])
    #expect(entity.indexes.map { $0.elements.map(\.property) } == [["a"], ["b", "a"]])
  }

  @Test("Literals are defaults; what SwiftData evaluates anew is none, and no hash holds either")
  func defaults() throws {
    let text = """
      var a: String = "x"; var b = 3; var c: Bool = true; var d: Double = 2; var e: Decimal = Decimal(5)
      var f: UUID = UUID(); var g: Date = .now; var h = Date(); var i: UUID = .init(); var j: Int16 = 1_000
      var k: String = make(); var l: Int? = nil
      """
    let entity = try SwiftText.members(text).entity("A")
    #expect(
      entity.attributes.map(\.defaultValue) == [
        .text("x"), .integer(3), .integer(1), .real(2), .real(5), nil, nil, nil, nil, .integer(1000), nil, nil,
      ])
    #expect(
      entity.attributes.map { $0.userInfo["godwit.default"] } == [
        nil, nil, nil, nil, nil, "UUID()", "Date()", "Date()", "UUID()", nil, nil, nil,
      ])
    let plain =
      "var a: String; var b: Int; var c: Bool; var d: Double; var e: Decimal; var f: UUID; var g: Date; "
      + "var h: Date; var i: UUID; var j: Int16; var k: String; var l: Int?"
    #expect(try SwiftText.members(text).model().versionHashes == SwiftText.members(plain).model().versionHashes)
  }

  @Test("Moments that are written down are defaults; of what is computed the place is known, and no hash holds either")
  func moments() throws {
    let text = """
      var a: Date = Date(timeIntervalSince1970: 0); var b = Date(timeIntervalSinceReferenceDate: -1.5)
      var c: Date = .distantPast; var d = Date.distantFuture; var e: Date = .init(timeIntervalSince1970: 978_307_260)
      var f: Date = Date(timeIntervalSinceNow: 60); var g: Date? = Calendar.current.startOfDay(for: .now)
      var h: Date? = nil; var i: Int16 = 70_000
      """
    let entity = try SwiftText.members(text).entity("A")
    #expect(
      entity.attributes.map(\.defaultValue) == [
        .real(-978_307_200), .real(-1.5), .real(-63_114_076_800), .real(63_113_904_000), .real(60), nil, nil, nil, nil,
      ])
    let places = entity.attributes.map { $0.userInfo["godwit.unread"]?.split(separator: ":").first }
    #expect(places.map { $0 == "Models.swift" } == [false, false, false, false, false, true, true, false, true])
    let plain = "var a, b, c, d, e, f: Date; var g: Date?; var h: Date?; var i: Int16"
    #expect(try SwiftText.members(text).model().versionHashes == SwiftText.members(plain).model().versionHashes)
  }

  @Test(
    "Options that are not known, and names that are none, are refused",
    arguments: [
      ("@Attribute(.secret) var a: Int", "has the option .secret"),
      ("@Attribute(isGood: true) var a: Int", "has an option of @Attribute that is not known"),
      ("#Unique<A>([\\.b])\nvar a: Int", "names b, which A does not store"),
      ("#Index<A>([\\.a.b])\nvar a: Int", "names something else than a property of A"),
      ("#Index<A>(.rtree([\\.a, \\.b]))\nvar a: Int; var b: Int", "has an argument that no store was seen with"),
      ("@Relationship var a: Int", "is a relationship to Int, which is no class with @Model"),
      ("#if X(1)\nvar a: Int\n#endif", "A.a depends on #if X(1), which is not decided"),
    ])
  func refused(_ text: String, _ wanted: String) throws {
    let problem = try #require(SwiftText.members(text).problem)
    #expect(problem.contains(wanted) && problem.hasPrefix("Models.swift:"), "\(problem)")
  }
}
