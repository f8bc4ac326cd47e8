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
}
