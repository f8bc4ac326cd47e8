import Testing

@testable import SwiftDataModels

@Suite(
  "Relationships and their inverses are those of SwiftData",
  .enabled(if: SourceParser.isThere, "built without SwiftData"))
struct SwiftRelationshipTests {
  private func relationships(_ text: String) throws -> [String] {
    try SwiftText(text).model().entities.flatMap { entity in
      entity.relationships.map {
        "\(entity.name).\($0.name)\($0.isOptional ? "?" : "") \($0.minCount)...\($0.maxCount) \($0.destinationEntity)."
          + "\($0.inverseName ?? "-") \($0.deleteRule.rawValue)"
      }
    }
  }

  @Test("inverse: on one side gives both sides theirs; numbers and delete rules are as written")
  func named() throws {
    let text = """
      @Model class A {
        @Relationship(deleteRule: .cascade, inverse: \\B.a, originalName: "x") var bs: [B] = []
        @Relationship(deleteRule: .deny, minimumModelCount: 1, maximumModelCount: 3) var cs: [C]? = []
        @Relationship(.unique, deleteRule: .noAction) var d: C?
      }
      @Model class B { var a: A? }
      @Model class C { var n: Int }
      """
    #expect(
      try relationships(text) == [
        "A.bs 0...0 B.a Cascade", "A.cs? 1...3 C.- Deny", "A.d? 0...1 C.- No Action", "B.a? 0...1 A.bs Nullify",
      ])
    #expect(try SwiftText(text).entity("A").relationships[0].renamingIdentifier == "x")
    #expect(try SwiftText(text).entity("A").uniquenessConstraints == [["d"]])
  }

  @Test("Without inverse: the only pair without @Relationship is found, and with @Relationship none is")
  func found() throws {
    #expect(
      try relationships("@Model class A { var b: B? }\n@Model class B { var a: [A] }") == [
        "A.b? 0...1 B.a Nullify", "B.a 0...0 A.b Nullify",
      ])
    #expect(
      try relationships(
        "@Model class A { @Relationship(deleteRule: .cascade) var b: B? }\n@Model class B { var a: [A] }")
        == ["A.b? 0...1 B.- Cascade", "B.a 0...0 A.- Nullify"])
  }

  @Test("A class may lead to itself, and to classes that no list names")
  func reached() throws {
    let text = """
      let schema = Schema([Folder.self])
      @Model class Folder { @Relationship(inverse: \\Folder.parent) var folders: [Folder]; var parent: Folder?; var file: File? }
      @Model class File { var name: String }
      @Model class Unused { var x: Bird }
      """
    #expect(
      try relationships(text) == [
        "Folder.folders 0...0 Folder.parent Nullify", "Folder.parent? 0...1 Folder.folders Nullify",
        "Folder.file? 0...1 File.- Nullify",
      ])
    #expect(try SwiftText(text).model().entities.map(\.name) == ["File", "Folder"])
  }

  @Test(
    "Inverses that do not exist, lead elsewhere, or could be several are refused",
    arguments: [
      (
        "@Model class A { @Relationship(inverse: \\B.x) var b: B? }\n@Model class B { var n: Int }",
        "Models.swift:1: the inverse of A.b, B.x, does not exist"
      ),
      (
        "@Model class A { @Relationship(inverse: \\B.c) var b: B? }\n@Model class B { var c: C? }\n@Model class C { var n: Int }",
        "Models.swift:1: the inverse of A.b, B.c, leads to C"
      ),
      (
        "@Model class A { @Relationship(inverse: \\C.a) var b: B? }\n@Model class B { var n: Int }\n@Model class C { var a: A? }",
        "Models.swift:1: A.b leads to B, but its inverse is one of C"
      ),
      (
        "@Model class A { var b: B?; var c: B? }\n@Model class B { var a: A? }",
        "the inverse of A.b is not clear: it may be A.c, B.a"
      ),
      (
        "@Model class A { @Relationship(inverse: \\B.a) var b: B?; @Relationship(inverse: \\B.a) var c: B? }\n@Model class B { var a: A? }",
        "Models.swift:2: a is the inverse of two relationships"
      ),
      ("@Model class A { var b: Bird? }", "Models.swift:1: A.b has the type Bird, which these sources do not declare"),
      ("@Model class A { @Relationship(deleteRule: .explode) var b: A? }", "has the delete rule .explode"),
      ("@Model class A { var n: Int }\n@Model class B: A { var m: Int }", "the model B is a subclass of A"),
      (
        "@Model class A { var n: Int }\nenum X { @Model class A { var n: Int } }",
        "the schema has two classes named A; the other is at Models.swift:1"
      ),
      ("@Model class A<T> { var n: Int }", "the model A is generic"),
      ("@Magic @Model class A { var n: Int }", "the model A has the attribute @Magic"),
    ])
  func refused(_ text: String, _ wanted: String) throws {
    let problem = try #require(SwiftText(text).problem)
    #expect(problem.contains(wanted), "\(problem)")
  }
}
