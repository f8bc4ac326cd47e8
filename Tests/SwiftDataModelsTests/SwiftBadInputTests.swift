import Foundation
import RunSupport
import Testing

@testable import SwiftDataModels

@Suite(
  "Sources that are no Swift, or too much of it, end in one clear error",
  .enabled(if: SourceParser.isThere, "built without SwiftData"))
struct SwiftBadInputTests {
  @Test(
    "A fault of syntax has its file and line",
    arguments: [
      ("@Model class A {\n  var n: \n}", 2), ("@Model class A {\n\n", 1), ("@Model class A { var n: Int }\n)", 2),
      ("let a = \"abc\n", 1), ("\u{0}\u{1}{", 1), ("@Model class A {\n var a: Int = = 2 }", 2),
    ])
  func syntax(_ text: String, _ line: Int) throws {
    let problem = try #require(SwiftText(text).problem)
    #expect(problem.hasPrefix("Models.swift:\(line): this is no Swift that can be read"), "\(problem)")
  }

  /// Each would lead a parser that calls itself through its stack.
  private static func deep(_ count: Int) -> [String] {
    func times(_ text: String) -> String { String(repeating: text, count: count) }
    return [
      "func f() " + times("{") + times("}"), "let a = " + times("(") + "1" + times(")"),
      "let a: " + times("[") + "Int" + times("]"), "let a: " + times("A<") + "Int" + times(">"),
      "let a: " + times("() -> ") + "Int", "let a = " + times("try ") + "b", "let a = " + times("await ") + "b",
      "let a = " + times("try /* and */ ") + "b", "func f() { if a {}" + times(" else if a {}") + "}",
      times("#if A\n") + times("#endif\n"), "let a = " + times("\"\\(") + "1" + times(")\""),
      "let a = " + times("unsafe ") + "b", "let a: " + times("repeat each ") + "B", "class A { " + times("enum B { "),
      "let a = " + times("#\"\\#(") + "1" + times(")\"#"), "let a = \"\\(" + times("try ") + "b)\"",
      "func f() { switch a { case " + times("let ") + "x: break } }",
    ]
  }

  @Test("100,000 of anything in each other are refused with the line, before the parser sees them")
  func nesting() throws {
    for text in Self.deep(100_000) {
      let problem = try #require(SwiftText(text).problem)
      #expect(
        problem.contains("in each other go deeper") && problem.hasPrefix("Models.swift:"),
        "\(text.prefix(40)) \(problem)")
    }
  }

  @Test("Long chains that need no depth are read, and so is what no list of models is")
  func long() throws {
    let model = "@Model class A { var n: Int }\n"
    func times(_ text: String) -> String { String(repeating: text, count: 20_000) }
    let texts = [
      "let a = b" + times(".c"), "let a = b" + times("()"), "let a: Int" + times("?"), "let a: A" + times(".B"),
      "let a = 1" + times(" + 1"), "let a = " + times("a ? b : ") + "c", times("func f() -> Int { 1 }\n"),
      "/* {{{{ */ let a = \"" + times("{(") + "\" // " + times("("), "let a = \"\"\"\n" + times("{\n") + "\"\"\"",
      "let a = [" + times("\"\\(b)(\", ") + "]", times("let a = b < c\n"), "let a = #\"" + times("\\(\"") + "\"#",
    ]
    for text in texts { #expect(SwiftText(model + text).problem == nil, "\(text.prefix(30))") }
  }

  @Test("Depth that the scan allows, the parser reads")
  func allowed() throws {
    for text in Self.deep(30) where !text.contains("\\") && !text.contains("[[") {
      let problem = SwiftText("@Model class A { var n: Int }\n" + text).problem
      #expect(
        problem == nil || problem?.contains("no Swift that can be read") == true, "\(text.prefix(40)) \(problem ?? "")")
    }
  }

  @Test("Files and folders that are too large are refused before they are read")
  func sizes() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("swift-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appendingPathComponent("Large.swift").path
    #expect(FileManager.default.createFile(atPath: file, contents: nil))
    try #require(FileHandle(forWritingAtPath: file)).truncate(atOffset: 50 << 20)
    let problem = #expect(throws: BatchError.self) { try SwiftDataReader().read([folder.path]) }
    #expect(problem?.path == file && problem?.message.contains("larger than 1 MiB") == true)
    #expect(throws: BatchError.self) { try SourceText.checkTotal(257 << 20) }
  }

  @Test("Sources without a model say so")
  func nothing() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("swift-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try Data("struct A {}".utf8).write(to: folder.appendingPathComponent("A.swift"))
    let problem = #expect(throws: BatchError.self) { try SwiftDataReader().read([folder.path]) }
    #expect(problem?.message.contains("there is no class with @Model") == true)
  }
}
