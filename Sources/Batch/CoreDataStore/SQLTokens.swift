/// Splits SQL text into tokens as SQLite does, so that a statement can be judged before SQLite sees it. Nothing is run
/// here.
package struct SQLTokens: Sequence, IteratorProtocol {
  package enum Token: Equatable {
    /// A bare word, a keyword among them.
    case word(String)
    /// An identifier in quotes, brackets or backticks.
    case quoted(String)
    /// A text literal.
    case text(String)
    /// A number, or a blob literal with its prefix.
    case literal(String)
    /// Any other character.
    case mark(UInt8)

    /// The name that the token stands for, if it can stand for one.
    package var name: String? {
      switch self {
      case .word(let name), .quoted(let name), .text(let name): name
      case .literal, .mark: nil
      }
    }

    func isWord(_ keyword: String) -> Bool {
      if case .word(let word) = self { NameOrder.folded(word) == keyword } else { false }
    }
  }

  private let bytes: [UInt8]
  /// Where the next token is looked for.
  private(set) var position = 0

  package init(_ sql: String) { bytes = Array(sql.utf8) }

  package mutating func next() -> Token? {
    skipBlanks()
    guard position < bytes.count else { return nil }
    let byte = bytes[position]
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "`"): return .quoted(quoted(until: byte))
    case UInt8(ascii: "["): return .quoted(quoted(until: UInt8(ascii: "]")))
    case UInt8(ascii: "'"): return .text(quoted(until: byte))
    default: break
    }
    guard Self.isWordByte(byte) || (byte == UInt8(ascii: ".") && isDigit(at: position + 1)) else {
      position += 1
      return .mark(byte)
    }
    if byte | 0x20 == UInt8(ascii: "x"), position + 1 < bytes.count, bytes[position + 1] == UInt8(ascii: "'") {
      position += 1
      return .literal("x'" + quoted(until: UInt8(ascii: "'")) + "'")
    }
    let isNumber = !Self.isWordByte(byte) || isDigit(at: position)
    let start = position
    while position < bytes.count, Self.isWordByte(bytes[position]) || (isNumber && continuesNumber(from: start)) {
      position += 1
    }
    let text = String(decoding: bytes[start..<position], as: UTF8.self)
    return isNumber ? .literal(text) : .word(text)
  }

  private func isDigit(at index: Int) -> Bool { index < bytes.count && (0x30...0x39).contains(bytes[index]) }

  /// A point belongs to a number, and a sign does after an exponent.
  private func continuesNumber(from start: Int) -> Bool {
    let byte = bytes[position]
    if byte == UInt8(ascii: ".") { return true }
    let isSign = byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-")
    return isSign && position > start && bytes[position - 1] | 0x20 == UInt8(ascii: "e")
  }

  private static func isWordByte(_ byte: UInt8) -> Bool {
    (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte) || byte == 0x5F
      || byte == 0x24 || byte >= 0x80
  }

  /// Reads up to the closing quote; a doubled quote stands for one. An unclosed one ends with the text: SQLite refuses
  /// it later.
  private mutating func quoted(until close: UInt8) -> String {
    position += 1
    var content: [UInt8] = []
    while position < bytes.count {
      let byte = bytes[position]
      position += 1
      if byte == close {
        guard position < bytes.count, bytes[position] == close, close != UInt8(ascii: "]") else { break }
        position += 1
      }
      content.append(byte)
    }
    return String(decoding: content, as: UTF8.self)
  }

  private mutating func skipBlanks() {
    while position < bytes.count {
      let byte = bytes[position]
      let next = position + 1 < bytes.count ? bytes[position + 1] : 0
      if byte == 0x20 || (0x09...0x0D).contains(byte) {
        position += 1
      } else if byte == UInt8(ascii: "-"), next == byte {
        while position < bytes.count, bytes[position] != 0x0A { position += 1 }
      } else if byte == UInt8(ascii: "/"), next == UInt8(ascii: "*") {
        position += 2
        while position < bytes.count, !isCommentEnd { position += 1 }
        position = Swift.min(position + 2, bytes.count)
      } else {
        return
      }
    }
  }

  private var isCommentEnd: Bool {
    bytes[position] == UInt8(ascii: "*") && position + 1 < bytes.count && bytes[position + 1] == UInt8(ascii: "/")
  }
}
