/// Words of YAML as a lock writes them.
enum LockText {
  /// Words that YAML, or another reader of it, takes for something else.
  private static let reserved: Set<String> = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"]

  /// A name as it is, if every reader takes it for a text; else in quotation marks.
  static func word(_ text: String) -> String {
    let isPlain =
      text.utf8.first.map { isLetter($0) } == true
      && text.utf8.allSatisfy { isLetter($0) || (48...57).contains($0) } && !reserved.contains(text.lowercased())
    return isPlain ? text : quoted(text)
  }

  static func quoted(_ text: String) -> String {
    var shown = "\""
    for scalar in text.unicodeScalars {
      switch scalar.value {
      case 0x22: shown += "\\\""
      case 0x5C: shown += "\\\\"
      case 0x20...0x7E, 0xA0...0x1FFF, 0x3000...0xD7FF: shown.unicodeScalars.append(scalar)
      default: shown += "\\U" + String(repeating: "0", count: 8 - hex(scalar).count) + hex(scalar)
      }
    }
    return shown + "\""
  }

  /// `{ type: string, optional: true }`
  static func map(_ facets: [(String, String)]) -> String {
    "{ " + facets.map { "\($0.0): \($0.1)" }.joined(separator: ", ") + " }"
  }

  /// The facets that are there.
  static func facets(_ flags: [(String, Bool)], _ texts: [(String, String?)]) -> [(String, String)] {
    flags.filter(\.1).map { ($0.0, "true") } + texts.compactMap { name, text in text.map { (name, word($0)) } }
  }

  private static func hex(_ scalar: Unicode.Scalar) -> String { String(scalar.value, radix: 16, uppercase: true) }

  private static func isLetter(_ byte: UInt8) -> Bool {
    (65...90).contains(byte & 0xDF) || byte == 95
  }
}
