/// Takes a text in predicate format apart.
struct PredicateTokens {
  enum Token: Equatable {
    /// A key path, a function's name or a word of the format.
    case word(String)
    /// A word after `#`: a key, whatever it says.
    case key(String)
    case variable(String)
    case text(String)
    case number(String)
    case symbol(String)
  }

  /// Words that are no keys.
  static let reserved: Set<String> = [
    "AND", "OR", "NOT", "ANY", "SOME", "ALL", "NONE", "IN", "CONTAINS", "BEGINSWITH", "ENDSWITH", "LIKE", "MATCHES",
    "BETWEEN", "NIL", "NULL", "TRUE", "FALSE", "YES", "NO", "SELF", "TRUEPREDICATE", "FALSEPREDICATE", "SUBQUERY",
    "FUNCTION", "CAST", "FIRST", "LAST", "SIZE",
  ]
  private static let symbols = [
    "==", "!=", "<>", "<=", "=<", ">=", "=>", "&&", "||", "**", "=", "<", ">", "!", "(", ")", "{", "}", "[", "]", ",",
    "+",
    "-", "*", "/",
  ]

  /// Letters after a backslash that stand for something else.
  private static let escapes: [UInt8: UInt8] = [
    UInt8(ascii: "n"): 10, UInt8(ascii: "r"): 13, UInt8(ascii: "t"): 9,
  ]

  private let bytes: [UInt8]
  private var position = 0
  private var tokens: [Token] = []
  /// The byte at which each token begins.
  private var starts: [Int] = []

  /// The tokens of a text with the bytes at which they begin. Damage names its place.
  static func split(_ text: String) throws -> (tokens: [Token], starts: [Int]) {
    var tokens = PredicateTokens(bytes: Array(text.utf8))
    var start = 0
    do {
      while true {
        tokens.skipSpace()
        start = tokens.position
        guard let token = try tokens.next() else { return (tokens.tokens, tokens.starts) }
        tokens.tokens.append(token)
        tokens.starts.append(start)
      }
    } catch let damage as ExpressionDamage { throw damage.near(start, of: text) }
  }

  private init(bytes: [UInt8]) { self.bytes = bytes }

  private mutating func skipSpace() {
    while position < bytes.count, bytes[position] <= UInt8(ascii: " ") { position += 1 }
  }

  private mutating func next() throws -> Token? {
    guard position < bytes.count else { return nil }
    let character = Character(UnicodeScalar(bytes[position]))
    switch character {
    case "\"", "'": return .text(try text(bytes[position]))
    case "$":
      position += 1
      return .variable(word())
    case "#":
      position += 1
      return .key(word())
    case "0"..."9": return .number(try number())
    case _ where Self.isWord(bytes[position]): return .word(word())
    case "%":
      let name = String(decoding: bytes[position...].prefix(2), as: UTF8.self)
      throw ExpressionDamage("has the placeholder \(name), which only code can fill")
    default:
      guard let symbol = Self.symbols.first(where: { bytes[position...].starts(with: $0.utf8) }) else {
        throw ExpressionDamage("has \"\(character)\", which is not understood")
      }
      position += symbol.utf8.count
      return .symbol(symbol)
    }
  }

  private mutating func word() -> String {
    let word = bytes[position...].prefix(while: Self.isWord)
    position += word.count
    return String(decoding: word, as: UTF8.self)
  }

  private mutating func number() throws -> String {
    let start = position
    position += 1
    while position < bytes.count {
      let character = Character(UnicodeScalar(bytes[position]))
      let isSign = "+-".contains(character) && "eE".contains(Character(UnicodeScalar(bytes[position - 1])))
      guard character.isNumber || ".eE".contains(character) || isSign else { break }
      position += 1
    }
    let text = String(decoding: bytes[start..<position], as: UTF8.self)
    guard Double(text)?.isFinite == true else { throw ExpressionDamage("has the number \(text), which is none") }
    return text
  }

  private mutating func text(_ quote: UInt8) throws -> String {
    position += 1
    var text: [UInt8] = []
    while position < bytes.count, bytes[position] != quote {
      var byte = bytes[position]
      if byte == UInt8(ascii: "\\"), position + 1 < bytes.count {
        position += 1
        byte = Self.escapes[bytes[position]] ?? bytes[position]
      }
      text.append(byte)
      position += 1
    }
    guard position < bytes.count else { throw ExpressionDamage("has a text without end") }
    position += 1
    return String(decoding: text, as: UTF8.self)
  }

  /// Names in any script; dots and `@` for key paths, colons for functions.
  private static func isWord(_ byte: UInt8) -> Bool {
    let character = Character(UnicodeScalar(byte))
    return byte >= 0x80 || character.isASCII && (character.isLetter || character.isNumber || "_.@:".contains(character))
  }
}
