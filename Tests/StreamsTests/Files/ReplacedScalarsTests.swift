import Testing

@testable import Streams

/// Quoting must not miss what is quoted.
@Suite("Scalars that are replaced")
struct ReplacedScalarsTests {
  @Test(
    "A scalar is replaced wherever it stands, also where it is a part of another character",
    arguments: [
      ("a'b", "a''b"), ("a'\u{301}b", "a''\u{301}b"), ("'\u{20DD}", "''\u{20DD}"), ("a\r\nb", "a\r b"), ("", ""),
      ("é", "é"), ("plain", "plain"),
    ])
  func replaced(text: String, expected: String) {
    #expect(Array(text.replacing(["'": "''", "\n": " "]).unicodeScalars) == Array(expected.unicodeScalars))
  }

  @Test("A quoted text doubles its own quotes, also one with a combining mark")
  func quoted() {
    #expect("a'b".quoted(by: "'") == "'a''b'")
    #expect(Array("a\"\u{301}".quoted(by: "\"").unicodeScalars) == Array("\"a\"\"\u{301}\"".unicodeScalars))
    #expect("".quoted(by: "'") == "''")
  }

  @Test("A literal of Swift stays in its line and between its quotes")
  func swiftLiteral() {
    #expect(#"a"\(b)"#.swiftLiteral == #""a\"\\(b)""#)
    #expect("a\r\nb".swiftLiteral == #""a\r\nb""#)
  }
}
