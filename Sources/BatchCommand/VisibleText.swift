/// Text for a person's eyes. Paths, names and metadata are other people's: what would move a terminal's cursor, colour
/// it, or turn the direction of writing is shown as `\u{1B}` instead.
enum VisibleText {
  /// The text with its control characters shown; ends of lines and tabs stay.
  static func of(_ text: String) -> String { replacing(in: text) { "\\u{\(hex($0))}" } }

  /// A JSON document with its control characters escaped, which leaves its meaning as it is: those of C0 are already.
  static func json(_ document: String) -> String {
    replacing(in: document) { scalar in
      let digits = hex(scalar)
      return "\\u" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }
  }

  /// Whether a text is one line without tabs that can be shown as it is.
  static func isLine(_ text: String) -> Bool {
    !text.unicodeScalars.contains { isHidden($0) || $0 == "\t" || $0 == "\n" }
  }

  private static func replacing(in text: String, _ escape: (Unicode.Scalar) -> String) -> String {
    guard text.unicodeScalars.contains(where: isHidden) else { return text }
    var shown = ""
    for scalar in text.unicodeScalars {
      if isHidden(scalar) { shown += escape(scalar) } else { shown.unicodeScalars.append(scalar) }
    }
    return shown
  }

  private static func hex(_ scalar: Unicode.Scalar) -> String { String(scalar.value, radix: 16, uppercase: true) }

  /// C0 except for ends of lines and tabs, DEL, C1, separators of lines and paragraphs, and what overrides the
  /// direction of writing.
  private static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x09, 0x0A: false
    case 0x00...0x1F, 0x7F...0x9F, 0x2028...0x202E, 0x2066...0x2069: true
    default: false
    }
  }
}
