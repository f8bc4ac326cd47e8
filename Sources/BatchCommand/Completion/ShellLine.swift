/// A command line as words: blanks separate, quotation marks of both kinds and backslashes keep them. Nothing is
/// expanded.
struct ShellLine {
  /// The words that are finished.
  private(set) var words: [String] = []
  /// The word at the end of the line; empty after a blank.
  private(set) var last = ""
  private var hasLast = false
  private var quote: Character?
  private var isEscaped = false

  init(_ text: String) { for character in text { read(character) } }

  /// All words; nil if a quotation mark has no second one.
  var whole: [String]? { quote == nil && !isEscaped ? words + (hasLast ? [last] : []) : nil }

  var isQuoted: Bool { quote != nil }

  private mutating func read(_ character: Character) {
    let isBlank = character.isWhitespace && quote == nil && !isEscaped
    if isBlank, hasLast { words.append(last) }
    if isBlank { last = "" }
    hasLast = !isBlank
    guard !isBlank else { return }
    if isEscaped {
      last.append(character)
      isEscaped = false
    } else if character == "\\", quote != "'" {
      isEscaped = true
    } else if character == quote {
      quote = nil
    } else if quote == nil, character == "'" || character == "\"" {
      quote = character
    } else {
      last.append(character)
    }
  }
}
