import Testing

@testable import SwiftDataModels

@Suite(
  "Lists of classes that are variables", .enabled(if: SourceParser.isThere, "built without SwiftData"))
struct SwiftListTests {
  private static let classes = "@Model class B { var a: Int }\n@Model class C { var b: Int }\n"
  private static let list = "let types: [any PersistentModel.Type] = "

  private func names(_ text: String, flags: [String] = []) throws -> [String] {
    try SwiftText(Self.classes + text, flags: flags).model().entities.map(\.name)
  }

  @Test(
    "A variable that the sources change is refused with the places of both",
    arguments: [
      "types.append(C.self)", "types += [C.self]", "func f() { types = [C.self] }", "types.append(contentsOf: more)",
      "change(&types)", "types.removeLast()",
    ])
  func changed(_ statement: String) throws {
    let text = "var types: [any PersistentModel.Type] = [B.self]\nlet s = Schema(types)\n"
    #expect(try names(text) == ["B"])
    let problem = try #require(SwiftText(Self.classes + text + statement).problem)
    #expect(problem.hasPrefix("Models.swift:3: the list types is changed at Models.swift:5"), "\(problem)")
    let schema = """
      enum V: VersionedSchema {
        static let versionIdentifier = Schema.Version(1, 0, 0)
        static var models: [any PersistentModel.Type] = [B.self]
      }

      """
    #expect(try names(schema) == ["B"])
    let other = SwiftText(Self.classes + schema + statement.replacing("types", with: "V.models")).problem
    #expect(other?.contains("the list models is changed at Models.swift:7") == true, "\(other ?? "")")
  }

  @Test("A variable of that name in another file counts if types are put into it")
  func elsewhere() throws {
    let text = Self.classes + "var types: [any PersistentModel.Type] = [B.self]\nlet s = Schema(types)\n"
    func problem(_ statement: String) -> String? {
      SwiftText(files: ["a.swift": text, "b.swift": "func f() { \(statement) }\nlet k = \\B.self"]).problem
    }
    #expect(problem("types.append(C.self)")?.contains("the list types is changed at b.swift:1") == true)
    #expect(problem("types.append(1)") == nil)
  }

  @Test("A variable in an #if that nobody decides is refused; -D decides it")
  func undecided() throws {
    let text = """
      #if os(iOS)
      \(Self.list)[B.self]
      #else
      \(Self.list)[B.self, C.self]
      #endif
      let s = Schema(types)
      """
    let problem = try #require(SwiftText(Self.classes + text).problem)
    #expect(problem.hasPrefix("Models.swift:4: the variable types depends on #if os(iOS), which is not decided"))
    #expect(try names(text, flags: ["os(iOS)"]) == ["B"])
    #expect(try names(text, flags: ["!os(iOS)"]) == ["B", "C"])
  }

  @Test("A variable that is private in another file is another one; two that both are seen are refused")
  func files() throws {
    func text(_ other: String) -> SwiftText {
      SwiftText(files: [
        "a.swift": Self.classes + other + Self.list + "[B.self]",
        "b.swift": "private " + Self.list + "[B.self, C.self]\nlet s = Schema(types)",
      ])
    }
    for word in ["private ", "fileprivate "] {
      #expect(try text(word).model().entities.map(\.name) == ["B", "C"])
    }
    let problem = try #require(text("").problem)
    #expect(problem.contains("types is declared 2 times, in a.swift:3 and b.swift:1"), "\(problem)")
  }
}
