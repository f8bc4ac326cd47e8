/// The tokens of Swift as far as nesting goes, without comments and texts.
struct SourceTokens {
  enum Token {
    case open(isSquare: Bool)
    case close(isBrace: Bool, isSquare: Bool)
    case word(String)
    case arrow, less, greater
    /// Ends an expression: `;`, `=`, `,`.
    case separator
    case conditionBegins, conditionEnds
    case other
  }

  private let bytes: [UInt8]
  private var place = 0
  private(set) var line = 1
  /// Of texts inside values inside texts, the most in each other.
  private(set) var greatestStringDepth = 0

  /// Texts that are open, and brackets in the values inside them.
  private var texts: [Text] = []
  private var values: [Int] = []

  private struct Text {
    let hashes: Int
    let isLong: Bool
  }

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  private func at(_ offset: Int) -> UInt8 { offset < bytes.count ? bytes[offset] : 0 }

  mutating func next() -> Token? {
    if texts.count > values.count, place < bytes.count, let text = texts.last { return rest(of: text) }
    skipBlanks()
    guard place < bytes.count else { return nil }
    let byte = bytes[place]
    if Self.isLetter(byte) { return .word(word()) }
    place += 1
    switch byte {
    case UInt8(ascii: "("), UInt8(ascii: "["), UInt8(ascii: "{"): return opened(byte)
    case UInt8(ascii: ")"), UInt8(ascii: "]"), UInt8(ascii: "}"): return closed(byte)
    case UInt8(ascii: "-") where at(place) == UInt8(ascii: ">"):
      place += 1
      return .arrow
    case UInt8(ascii: "<"): return .less
    case UInt8(ascii: ">"): return .greater
    case UInt8(ascii: ";"), UInt8(ascii: "="), UInt8(ascii: ","): return .separator
    case UInt8(ascii: "."), UInt8(ascii: "?"), UInt8(ascii: ":"), UInt8(ascii: "&"): return .word("")
    case UInt8(ascii: "\""): return begin(hashes: 0)
    case UInt8(ascii: "#"): return afterHash()
    default: return .other
    }
  }

  /// Whether the next word is `else`.
  mutating func isFollowedByElse() -> Bool {
    skipBlanks()
    return Self.isLetter(at(place)) && bytes[place...].starts(with: Array("else".utf8)) && !Self.isLetter(at(place + 4))
  }

  private static func isLetter(_ byte: UInt8) -> Bool {
    (byte | 0x20) >= UInt8(ascii: "a") && (byte | 0x20) <= UInt8(ascii: "z") || byte == UInt8(ascii: "_")
      || byte >= 0x80
      || byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9")
  }

  private mutating func word() -> String {
    let start = place
    while Self.isLetter(at(place)) { place += 1 }
    // No word that matters is longer.
    return place - start > 16 ? "" : String(decoding: bytes[start..<place], as: UTF8.self)
  }

  private mutating func skipBlanks() {
    while place < bytes.count {
      switch bytes[place] {
      case UInt8(ascii: "\n"):
        line += 1
        place += 1
      case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"), 0: place += 1
      case UInt8(ascii: "/") where at(place + 1) == UInt8(ascii: "/"):
        while place < bytes.count, bytes[place] != UInt8(ascii: "\n") { place += 1 }
      case UInt8(ascii: "/") where at(place + 1) == UInt8(ascii: "*"): skipComment()
      default: return
      }
    }
  }

  /// Comments may hold comments.
  private mutating func skipComment() {
    var depth = 0
    repeat {
      if at(place) == UInt8(ascii: "/"), at(place + 1) == UInt8(ascii: "*") {
        depth += 1
        place += 2
      } else if at(place) == UInt8(ascii: "*"), at(place + 1) == UInt8(ascii: "/") {
        depth -= 1
        place += 2
      } else {
        if at(place) == UInt8(ascii: "\n") { line += 1 }
        place += 1
      }
    } while depth > 0 && place < bytes.count
  }

  /// `#if`, `#endif`, `#"raw"#`, or a macro.
  private mutating func afterHash() -> Token {
    var hashes = 1
    while at(place) == UInt8(ascii: "#") {
      hashes += 1
      place += 1
    }
    if at(place) == UInt8(ascii: "\"") {
      place += 1
      return begin(hashes: hashes)
    }
    switch word() {
    case "if": return .conditionBegins
    case "endif": return .conditionEnds
    default: return .other
    }
  }

  /// A text begins after its quotation mark.
  private mutating func begin(hashes: Int) -> Token {
    let isLong = at(place) == UInt8(ascii: "\"") && at(place + 1) == UInt8(ascii: "\"")
    if isLong { place += 2 }
    texts.append(Text(hashes: hashes, isLong: isLong))
    greatestStringDepth = max(greatestStringDepth, texts.count)
    return .other
  }

  /// The rest of a text, or up to a value in it.
  private mutating func rest(of text: Text) -> Token {
    while place < bytes.count {
      let byte = bytes[place]
      place += 1
      if byte == UInt8(ascii: "\n") {
        line += 1
        // A text that has no end on its line is a fault, which the parser names.
        if !text.isLong { break }
      } else if byte == UInt8(ascii: "\\"), hasHashes(text.hashes, at: place) {
        place += text.hashes + 1
        guard at(place - 1) == UInt8(ascii: "(") else { continue }
        values.append(0)
        return .open(isSquare: false)
      } else if byte == UInt8(ascii: "\"") {
        let marks = text.isLong ? 2 : 0
        guard !text.isLong || (at(place) == byte && at(place + 1) == byte), hasHashes(text.hashes, at: place + marks)
        else { continue }
        place += marks + text.hashes
        break
      }
    }
    texts.removeLast()
    return .other
  }

  private func hasHashes(_ count: Int, at start: Int) -> Bool {
    (0..<count).allSatisfy { at(start + $0) == UInt8(ascii: "#") }
  }

  private mutating func opened(_ bracket: UInt8) -> Token {
    if !values.isEmpty { values[values.count - 1] += 1 }
    return .open(isSquare: bracket == UInt8(ascii: "["))
  }

  /// The bracket that ends a value leads back into its text.
  private mutating func closed(_ bracket: UInt8) -> Token {
    if let open = values.last {
      if open == 0 { values.removeLast() } else { values[values.count - 1] = open - 1 }
    }
    return .close(isBrace: bracket == UInt8(ascii: "}"), isSquare: bracket == UInt8(ascii: "]"))
  }
}
