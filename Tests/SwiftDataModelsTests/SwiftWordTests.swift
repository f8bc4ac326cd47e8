import Testing

@testable import SwiftDataModels

@Suite("How messages name what is written", .enabled(if: SourceParser.isThere, "built without SwiftData"))
struct SwiftWordTests {
  @Test("Attributes in an #if are those that -D decides; undecided ones are refused by their names")
  func attributes() throws {
    let text = "@Model class A {\n#if os(iOS)\n@Attribute(.unique)\n#endif\nvar a: Int }"
    let problem = try #require(SwiftText(text).problem)
    #expect(problem.contains("@Attribute of A.a depends on #if os(iOS), which is not decided"), "\(problem)")
    #expect(try SwiftText(text, flags: ["os(iOS)"]).entity("A").uniquenessConstraints == [["a"]])
    #expect(try SwiftText(text, flags: ["!os(iOS)"]).entity("A").uniquenessConstraints == [])
    let model = SwiftText("#if os(iOS)\n@Model\n#endif\nclass A { var a: Int }\n@Model class B { var a: Int }").problem
    #expect(model?.contains("@Model of A depends on #if os(iOS)") == true, "\(model ?? "")")
  }

  @Test("Messages name types as they are written")
  func words() throws {
    #expect(
      SwiftText.members("var x: C", "actor C {}").problem?.contains("an actor that no store was seen with") == true)
    var text = SwiftText.members("var x: any  Bird")
    #expect(text.problem?.contains("has the type any Bird, which cannot be read") == true, "\(text.problem ?? "")")
    text.types = ["any Bird=Data"]
    #expect(try text.attributes() == ["x binaryData"])
  }
}
