import CoreDataModel
import Testing

@testable import SwiftDataModels

@Suite(
  "Swift types become attributes as SwiftData makes them", .enabled(if: SourceParser.isThere, "built without SwiftData")
)
struct SwiftTypeTests {
  @Test("Types of Swift and Foundation, each with its own kind of attribute")
  func plain() throws {
    let types: [(String, AttributeType)] = [
      ("String", .string), ("Bool", .boolean), ("Double", .double), ("Float", .float), ("Date", .date),
      ("Data", .binaryData), ("UUID", .uuid), ("URL", .uri), ("Decimal", .decimal), ("Int", .integer64),
      ("Int64", .integer64), ("UInt64", .integer64), ("Int32", .integer32), ("UInt32", .integer32),
      ("Int16", .integer16), ("UInt8", .integer16), ("Foundation.Date", .date), ("Swift.String", .string),
    ]
    let text = types.enumerated().map { "var p\($0): \($1.0)\nprivate(set) var q\($0): \($1.0)?" }.joined(
      separator: "\n")
    let wanted = types.enumerated().flatMap { ["p\($0) \($1.1)", "q\($0) \($1.1)?"] }
    #expect(try SwiftText.members(text).attributes() == wanted)
  }

  @Test("A property without a type has that of its value")
  func inferred() throws {
    let text = """
      let id = UUID()
      var a = "1", b = 1
      var c = 1.5, d = true, e = Date(), f = Date.now, g = -1
      var h = [String](), i = Kind.one, j = Decimal(0), k = ["x"], l = 1 as Int16
      var m, n: Int32
      """
    #expect(
      try SwiftText.members(text, "enum Kind: Int, Codable { case one }").attributes() == [
        "id uuid", "a string", "b integer64", "c double", "d boolean", "e date", "f date", "g integer64",
        "h transformable", "i composite(i integer64?)", "j decimal", "k transformable", "l integer16", "m integer32",
        "n integer32",
      ])
  }

  @Test("What is not stored is left out: computed, static, transient")
  func notStored() throws {
    let text = """
      var a: Int { 1 }
      var b: Int { get { 1 } set {} }
      static var c = 1
      @Transient var d: Bird = Bird()
      var e: Int = 1 { didSet { print(e) } }
      weak var f: B?
      """
    #expect(try SwiftText.members(text, "@Model class B { var n: Int }").attributes() == ["e integer64"])
  }

  @Test("Arrays of values are transformable, dictionaries binary")
  func collections() throws {
    let entity = try SwiftText.members("var a: [String]\nvar b: [Data]?\nvar c: [String: Bird]\nvar d: Array<Int>")
      .entity(
        "A")
    #expect(
      entity.attributes.map(SwiftText.text) == [
        "a transformable", "b transformable?", "c binaryData", "d transformable",
      ])
    #expect(entity.attributes[0].attributeValueClassName == "Array<String>")
    #expect(entity.attributes[0].valueTransformerName == "NSSecureUnarchiveFromData")
  }

  @Test("An enumeration with a raw value is a composite of itself, another one has a text for each case")
  func enumerations() throws {
    let rest = """
      enum Raw: String, Codable { case a, b }
      enum Plain: Codable { case x, y; var name: String { "" } }
      enum Aliased: Number, Codable { case a }
      typealias Number = Int16
      """
    #expect(
      try SwiftText.members("var a: Raw\nvar b: Plain?\nvar c: Aliased?", rest).attributes() == [
        "a composite(a string?)", "b composite(x string?, y string?)?", "c composite(c integer16?)?",
      ])
  }

  @Test("A structure has an element for each property; one that may be missing makes all of them optional")
  func structures() throws {
    let rest = """
      struct Place: Codable { var x: Double; var name: String?; var tags: [Tag]; static let zero = 0; var sum: Double { x } }
      struct Tag: Codable { var text: String }
      """
    let elements = "x double, name string?, tags binaryData"
    #expect(
      try SwiftText.members("var a: Place\nvar b: Place?", rest).attributes() == [
        "a composite(\(elements))", "b composite(x double?, name string?, tags binaryData?)?",
      ])
  }

  @Test("The hash of a structure in a structure is that of all its leaves by name, equal names repeated")
  func nested() throws {
    let rest = """
      struct Outer: Codable { var name: String; var inner: Inner; var kind: Kind }
      struct Inner: Codable { var name: String; var age: Int }
      enum Kind: String, Codable { case a }
      """
    let attribute = try #require(try SwiftText.members("var a: Outer", rest).entity("A").attributes.first)
    #expect(
      SwiftText.text(attribute)
        == "a composite(name string, inner composite(name string, age integer64), kind composite(kind string?))")
    var flat = AttributeDescription(name: "a", type: .composite, isOptional: false)
    flat.elements = [
      .init(name: "age", type: .integer64, isOptional: false), .init(name: "kind", type: .string),
      .init(name: "name", type: .string, isOptional: false), .init(name: "name", type: .string, isOptional: false),
    ]
    #expect(attribute.versionHash == flat.versionHash)
  }

  @Test("Types of other modules are those of the table, or what --swift-types says")
  func stated() throws {
    let text = "var a: Color.Resolved\nvar b: Money?\nvar c: Point\nvar d: [Tag]\nvar e: SwiftUI.Color.Resolved"
    var source = SwiftText.members(text)
    #expect(
      source.problem?.contains("Models.swift:4: A.b has the type Money, which these sources do not declare") == true)
    source.types = ["Money = Decimal", "Point={x: Double, y: {z: Int?}}", "[Tag]=Data"]
    let color = "linearRed float, linearGreen float, linearBlue float, opacity float"
    #expect(
      try source.attributes() == [
        "a composite(\(color))", "b decimal?", "c composite(x double, y composite(z integer64?))", "d binaryData",
        "e composite(\(color))",
      ])
    for wrong in ["Money", "=String", "A={}", "A={a Int}", "A={a: Int", "A=Bird", "A=String?", "A={a: Int, a: Int}"] {
      source.types = [wrong]
      #expect(source.problem?.contains("cannot be read") == true, "\(wrong)")
    }
  }

  @Test("Names are found as the compiler finds them: inside out, through type aliases, extensions and files")
  func names() throws {
    let source = SwiftText(files: [
      "A.swift":
        "@Model class A { var a: Kind; var b: Shared; var c: Outside.Deep; var d: Text; enum Kind: Int, Codable { case x } }",
      "B.swift": "enum Kind: String, Codable { case y }\nextension A { struct Shared: Codable { var s: Kind } }",
      "C.swift":
        "extension Outside { struct Deep: Codable { var t: Text } }\nenum Outside {}\ntypealias Text = Words\ntypealias Words = String",
    ])
    #expect(
      try source.attributes() == [
        "a composite(a integer64?)", "b composite(s composite(s integer64?))", "c composite(t string)", "d string",
      ])
  }

  @Test(
    "What no store was seen with is refused, with file, line and name",
    arguments: [
      ("var x: Values", "enum Values: Codable { case a(Int) }", "whose case a has associated values"),
      ("var x: [Part]", "struct Part: Codable { var a: Int }", "is an array of Part"),
      ("var x: Box<Int>", "struct Box<T>: Codable { var a: T }", "has the type Box<Int>, which cannot be read"),
      ("var x: Box", "struct Box<T>: Codable { var a: T }", "which is generic"),
      ("var x: Own", "struct Own: Codable { var a: Int; init(from d: Decoder) throws {} }", "encodes itself"),
      (
        "var x: Own", "struct Own: Codable { var a: Int; enum CodingKeys: String, CodingKey { case a = \"b\" } }",
        "encodes itself"
      ),
      ("var x: Set<String>", "", "has the type Set<String>, which cannot be read"),
      ("var x: (Int, Int)", "", "which cannot be read"),
      ("var x: any Bird", "", "which cannot be read"),
      ("var x: [Int: String]", "", "whose keys are no String"),
      ("var x: Loop", "struct Loop: Codable { var a: Loop }", "types in each other without end"),
      ("var x = make()", "", "has a type that does not show in its value"),
      ("var (x, y): (Int, Int)", "", "is a pattern"),
      ("lazy var x = 1", "", "is lazy"),
      ("@Wrapped var x: Int", "", "has the attribute @Wrapped"),
      ("#Magic(1)\nvar x: Int", "", "uses the macro #Magic"),
      ("var x: T", "typealias T = U\ntypealias U = T", "types in each other without end"),
      ("var x: D", "struct D: Codable { var a: Int }\nenum D: Int, Codable { case a }", "D is declared 2 times"),
      ("var x: C", "class C: Codable { var a = 1 }", "a class that no store was seen with"),
      ("var x: UInt", "", "which these sources do not declare"),
    ])
  func refused(_ member: String, _ rest: String, _ wanted: String) throws {
    let problem = try #require(SwiftText.members(member, rest).problem)
    #expect(problem.contains(wanted), "\(problem)")
    #expect(problem.hasPrefix("Models.swift:"), "\(problem)")
  }
}
