import Testing

@testable import SwiftDataModels

@Suite("What -D decides", .enabled(if: SourceParser.isThere, "built without SwiftData"))
struct SwiftConditionTests {
  private func text(_ condition: String) -> String {
    "@Model class A {\nvar a: Int\n#if \(condition)\nvar b: Int\n#endif\n}"
  }

  @Test(
    "Each of the two advices decides the condition, as it says",
    arguments: [
      ("os(iOS)", [], "If it is true, add -D 'os(iOS)'; if it is false, add -D '!os(iOS)'; or name"),
      ("DEBUG && os(iOS)", ["DEBUG"], "true, add -D 'os(iOS)'; if it is false, add -D '!os(iOS)';"),
      (
        "canImport(UIKit) && !targetEnvironment(simulator)", [],
        "true, add -D 'canImport(UIKit)' -D '!targetEnvironment(simulator)'; if it is false, add -D '!canImport(UIKit)';"
      ),
      ("os(iOS) || os(macOS)", [], "true, add -D 'os(iOS)'; if it is false, add -D '!os(iOS)' -D '!os(macOS)';"),
      ("!(swift(>=6.0) || hasFeature( X ))", [], "add -D '!swift(>=6.0)' -D '!hasFeature(X)'; if it is false, add"),
    ] as [(String, [String], String)])
  func advice(_ condition: String, _ flags: [String], _ wanted: String) throws {
    let problem = try #require(SwiftText(text(condition), flags: flags).problem)
    #expect(problem.contains(wanted), "\(problem)")
    let parts = problem.components(separatedBy: "; if it is false")
    for (part, names) in zip(parts, [["a", "b"], ["a"]]) {
      let advised = part.matches(of: #/-D '(.*?)'/#).map { String($0.1) }
      let found = try SwiftText(text(condition), flags: flags + advised).entity("A").attributes.map(\.name)
      #expect(found == names, "\(advised)")
    }
  }

  @Test(
    "What no condition asks for is refused with what to write",
    arguments: [
      ("DEBUG&&os(iOS)", "-D 'DEBUG&&os(iOS)' is neither a name nor a single call", "by itself: -D DEBUG -D 'os(iOS)'"),
      ("DEBUG=1", "is neither a name nor", "A name has no value in Swift: write -D DEBUG"),
      ("X(1)", "is neither a name nor", "as -D DEBUG, -D 'os(iOS)', or -D '!os(iOS)' for what is false"),
      ("", "is neither a name nor", "Write it as in the condition"),
      ("os()", "is neither a name nor", "Write it as in the condition"),
      ("!(os(iOS))", "is neither a name nor", "Write it as in the condition"),
    ])
  func refused(_ flag: String, _ message: String, _ hint: String) throws {
    let problem = try #require(SwiftText("@Model class A { var a: Int }", flags: [flag]).problem)
    #expect(problem.contains(message) && problem.contains(hint), "\(problem)")
  }

  @Test("A condition that is given as true and as false is refused; one that no -D can give has no such advice")
  func contradiction() throws {
    let problem = SwiftText(text("os(iOS)"), flags: ["os(iOS)", "!os( iOS )"]).problem
    #expect(problem?.contains("-D says of os(iOS) that it is true and that it is false") == true, "\(problem ?? "")")
    let other = try #require(SwiftText(text("X(1)")).problem)
    #expect(!other.contains("-D") && other.contains("Name the files without it"), "\(other)")
  }
}
