import RunSupport

/// Reads a text of Swift, if the program was built to.
enum SourceParser {
  /// Whether it was.
  static var isThere: Bool {
    #if SwiftData
      true
    #else
      false
    #endif
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
