import RunSupport

/// Reads a text of Swift, if the program was built to.
package enum SourceParser {
  /// Whether it was.
  package static var isThere: Bool {
    #if SwiftData
      true
    #else
      false
    #endif
  }

  /// Throws ``BatchError`` (`badModel`) for a text that would lead the parser deeper than its stack.
  package static func checkNesting(_ bytes: [UInt8], path: String) throws {
    try NestingScan.check(SourceText(path: path, bytes: bytes))
  }

  static func contents(of text: SourceText, flags: Set<String>) throws -> SourceContents {
    #if SwiftData
      try NestingScan.check(text)
      return try SyntaxReader.contents(of: text.bytes, path: text.path, flags: flags)
    #else
      throw BatchError(
        .badModel, "this program was built without the trait SwiftData, and reads no Swift",
        hint: "Build it again: swift build -c release", path: text.path)
    #endif
  }
}
