import RunSupport

/// Builds XML as Xcode writes it: four blanks a level, attributes on one line, no line break at the end.
package final class XMLText {

  package init() {

  }
  package private(set) var text = "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>"
  private var depth = 0

  /// Writes an element; attributes without value are left out. An element whose content writes nothing is closed at
  /// once. Throws what `content` throws, and `badModel` for characters that XML cannot hold.
  package func element(_ name: String, attributes: [(String, String?)] = [], content: () throws -> Void = {}) throws {
    text += "\n" + String(repeating: "    ", count: depth) + "<\(name)"
    for (key, value) in attributes {
      if let value { text += " \(key)=\"\(try Self.escaped(value))\"" }
    }
    text += ">"
    let length = text.utf8.count
    depth += 1
    try content()
    depth -= 1
    if text.utf8.count == length {
      text.removeLast()
      text += "/>"
    } else {
      text += "\n" + String(repeating: "    ", count: depth) + "</\(name)>"
    }
  }

  /// Text as an element or an attribute holds it. Throws `badModel` for characters that XML cannot hold.
  package static func escaped(_ value: String) throws -> String {
    var escaped = String.UnicodeScalarView()
    for scalar in value.unicodeScalars {
      switch scalar {
      case "&": escaped += "&amp;".unicodeScalars
      case "<": escaped += "&lt;".unicodeScalars
      case ">": escaped += "&gt;".unicodeScalars
      case "\"": escaped += "&quot;".unicodeScalars
      case "\t", "\n", "\r": escaped += "&#\(scalar.value);".unicodeScalars
      case "\u{0}"..."\u{1F}", "\u{FFFE}", "\u{FFFF}":
        throw BatchError(
          .badModel, "the text \(value.debugDescription) holds a character that XML cannot hold",
          hint: "Remove the character")
      default: escaped.append(scalar)
      }
    }
    return String(escaped)
  }
}
