import Codecs
import Foundation

/// Pages of our own, and text that becomes part of them.
enum HTML {
  /// A whole page, which needs no network. `title` is escaped; a script is the only one that runs, as the page has its hash.
  static func page(title: String, style: String, body: String, script: String = "") -> String {
    let (head, end) = frame(title: title, style: style, script: script)
    return head + body + end
  }

  /// What stands before and after the body of a page.
  static func frame(title: String, style: String, script: String = "") -> (head: String, end: String) {
    var policy = "default-src 'none'; style-src 'unsafe-inline'"
    var end = ""
    if !script.isEmpty {
      policy += "; script-src 'sha256-\(Data(SHA256.hash(Array(script.utf8))).base64EncodedString())'"
      end = "<script>\(script)</script>"
    }
    let head = """
      <!DOCTYPE html>
      <html lang="en"><head><meta charset="utf-8"><title>\(title)</title>
      <meta http-equiv="Content-Security-Policy" content="\(policy)">
      <meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">
      <style>\(style)</style></head>
      <body><main>

      """
    return (head, "\n</main>\(end)</body></html>\n")
  }

  /// A section with a heading; nothing without content.
  static func section(_ title: String, _ content: String) -> String {
    content.isEmpty ? "" : "<section><h2>\(title)</h2>\(content)</section>"
  }

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
