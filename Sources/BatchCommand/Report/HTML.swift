/// Text that becomes part of a page.
enum HTML {
  /// Text as an element or an attribute in quotation marks holds it, whatever is in it.
  static func escaped(_ text: String) -> String {
    var escaped = ""
    for character in ReportWords.plain(text).unicodeScalars {
      switch character {
      case "&": escaped += "&amp;"
      case "<": escaped += "&lt;"
      case ">": escaped += "&gt;"
      case "\"": escaped += "&quot;"
      case "'": escaped += "&#39;"
      default: escaped.unicodeScalars.append(character)
      }
    }
    return escaped
  }

  static func element(_ name: String, classes: String = "", content: String) -> String {
    "<\(name)\(classes.isEmpty ? "" : " class=\"\(classes)\"")>\(content)</\(name)>"
  }

  static func list(_ texts: [String]) -> String {
    texts.isEmpty ? "" : "<ul>" + texts.map { "<li>\(escaped($0))</li>" }.joined() + "</ul>"
  }
}
