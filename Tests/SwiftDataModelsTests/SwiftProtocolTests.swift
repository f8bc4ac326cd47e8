import CoreDataModel
import Testing

@testable import SwiftDataModels

@Suite(
  "What comes first after the colon of a model or an enumeration",
  .enabled(if: SourceParser.isThere, "built without SwiftData"))
struct SwiftProtocolTests {
  @Test(
    "A model that may be a subclass is refused with file and line, and the advice is taken",
    arguments: ["Animal", "Zoo.Animal", "Base<Int>", "Codable & Animal", "NSObject"])
  func subclass(_ parent: String) throws {
    let text = "import SwiftData\n@Model class Dog: \(parent), Codable { var breed: String }\n"
    let problem = try #require(SwiftText(text).problem)
    #expect(problem.hasPrefix("Models.swift:2: the model Dog inherits from "), "\(problem)")
    let advice = try #require(problem.firstMatch(of: #/--swift-types '(.*)'/#)?.1)
    #expect(try SwiftText(text, types: [String(advice)]).entity("Dog").attributes.map(\.name) == ["breed"])
  }

  @Test(
    "A model conforms to protocols of these sources and to those that are known",
    arguments: [
      "Identifiable", "Swift.Hashable, Codable", "@unchecked Sendable", "Codable & Hashable", "Own", "Other",
      "~Copyable",
      "Foundation.NSObjectProtocol", "Codable, Unknown",
    ])
  func protocols(_ clause: String) throws {
    let rest = "protocol Own {}\ntypealias Other = Own\nextension Identifiable { var x: Int { 1 } }"
    #expect(SwiftText("@Model class A: \(clause) { var n: Int }\n\(rest)").problem == nil)
    #expect(
      SwiftText("@Model class A: Base { var n: Int }\ntypealias Base = B\nclass B {}").problem?.contains(
        "the model A inherits from Base") == true)
  }

  @Test(
    "A raw type that no store was seen with is refused with file and line, and the advice is taken",
    arguments: ["UInt", "Character", "Money", "Decimal", "Swift.UInt"])
  func rawTypes(_ raw: String) throws {
    let rest = "enum E: \(raw), Codable { case one = 1, two = 2 }"
    let problem = try #require(SwiftText.members("var e: E", rest).problem)
    #expect(
      problem.hasPrefix("Models.swift:3: A.e has the type E (Models.swift:5), whose raw type \(raw) no"), "\(problem)")
    let advice = try #require(problem.firstMatch(of: #/--swift-types '(.*?)'/#)?.1)
    var stated = SwiftText.members("var e: E", rest)
    stated.types = [String(advice)]
    #expect(try stated.attributes() == ["e composite(e integer64?)"])
  }

  @Test("Known raw types, also by other names and with extensions, are read; protocols are no raw types")
  func knownRawTypes() throws {
    let rest = """
      typealias Code = Int32
      extension String { var x: Int { 1 } }
      protocol Own {}
      enum A1: String { case a }
      enum A2: Code { case a }
      enum A3: Own, Codable { case a }
      enum A4: CaseIterable { case a }
      enum A5: Far { case a }
      """
    var text = SwiftText.members("var a: A1; var b: A2; var c: A3; var d: A4; var e: A5", rest)
    #expect(text.problem?.contains("whose raw type Far no store was seen with") == true)
    text.types = ["Far=protocol"]
    #expect(
      try text.attributes() == [
        "a composite(a string?)", "b composite(b integer32?)", "c composite(a string?)", "d composite(a string?)",
        "e composite(a string?)",
      ])
  }

  @Test("An alias of an optional makes an optional; one inside of another is refused with an advice that is taken")
  func optionalAlias() throws {
    let rest = "typealias Money = Decimal?\ntypealias More = Money\nstruct S: Codable { var x: More }"
    #expect(
      try SwiftText.members("var a: Money; var b: More; var c: S", rest).attributes() == [
        "a decimal?", "b decimal?", "c composite(x decimal?)",
      ])
    #expect(SwiftText.members("var a: [Money]", rest).problem?.contains("A.a is an array of optionals") == true)
    var double = SwiftText.members("var a: Money?", rest)
    let problem = try #require(double.problem)
    #expect(problem.contains("which is an optional, where another one is around it"), "\(problem)")
    double.types = [String(try #require(problem.firstMatch(of: #/--swift-types '(.*?)'/#)?.1))]
    #expect(try double.attributes() == ["a string?"])
    let stated = SwiftText("@Model class A { var a: Int }", types: ["Decimal?=String"]).problem
    #expect(stated?.contains("Name it without ?, as --swift-types 'Decimal=String'") == true, "\(stated ?? "")")
  }
}
