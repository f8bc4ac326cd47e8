import RunSupport

/// Reads the tags of an XML store: the part of XML that such files have, and nothing that makes XML dangerous. There
/// are no declarations of entities, no other files, and nothing is kept of what stands between two tags.
///
/// XMLParser of Foundation, which reads models, refuses texts of ten million bytes, and makes a string of each piece.
final class XMLTags {
  /// A tag; that of an element that begins is not read further than its name.
  enum Tag: Equatable {
    case start(String)
    case end(String)
  }

  /// The longest name, or value of an attribute that is kept.
  static let longestName = 1 << 10

  let bytes: XMLBytes
  /// The line of the tag at hand.
  private(set) var line = 1
  /// Whether the tag at hand is an element without content, as `<a/>`.
  private(set) var isEmpty = false

  init(_ bytes: XMLBytes) { self.bytes = bytes }

  func failure(_ what: String, line: Int? = nil) -> BatchError {
    BatchError(
      .badStore, "line \(line ?? bytes.line): \(what)", hint: "Take another copy of the file, or restore a backup",
      path: bytes.path)
  }

  private var tooShort: BatchError { failure("the file ends too early: it was cut off") }

  /// The next byte; there must be one.
  func need() throws -> UInt8 {
    guard let byte = try bytes.next() else { throw tooShort }
    return byte
  }

  static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }

  private static func isOfName(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x80...: true
    default: "-_.:".utf8.contains(byte)
    }
  }

  func skipBlanks() throws {
    while let byte = try bytes.peek(), Self.isBlank(byte) { _ = try bytes.next() }
  }

  /// The next tag, past blanks and comments; nil at the end of the file.
  func next(inProlog: Bool = false) throws -> Tag? {
    while true {
      try skipBlanks()
      guard let byte = try bytes.next() else { return nil }
      guard byte == UInt8(ascii: "<") else { throw failure("something stands between two elements") }
      line = bytes.line
      switch try bytes.peek() {
      case UInt8(ascii: "/"):
        _ = try bytes.next()
        let name = try name()
        try skipBlanks()
        try expect(">")
        return .end(name)
      case UInt8(ascii: "!"): try declaration(inProlog: inProlog)
      case UInt8(ascii: "?") where inProlog: try instruction()
      default: return .start(try name())
      }
    }
  }

  func expect(_ text: String) throws {
    for byte in text.utf8 {
      guard try need() == byte else { throw failure("\(text) is expected", line: line) }
    }
  }

  private func name() throws -> String {
    var name: [UInt8] = []
    while let byte = try bytes.peek(), Self.isOfName(byte) {
      guard name.count < Self.longestName else { throw failure("a name is longer than \(Self.longestName) bytes") }
      name.append(byte)
      _ = try bytes.next()
    }
    guard try bytes.peek() != nil else { throw tooShort }
    guard !name.isEmpty, let text = String(validating: name, as: UTF8.self) else {
      throw failure("a tag has no name")
    }
    return text
  }

  /// A comment, or the declaration of the document's type. What declares entities has a bracket.
  private func declaration(inProlog: Bool) throws {
    try expect("!")
    guard try bytes.peek() != UInt8(ascii: "-") else { return try comment() }
    var text: [UInt8] = []
    while true {
      let byte = try need()
      if byte == UInt8(ascii: ">") { break }
      guard byte != UInt8(ascii: "[") else {
        throw failure("the file declares entities, which no store of Core Data has")
      }
      text.append(byte)
      guard text.count < Self.longestName else { throw failure("a declaration does not end", line: line) }
    }
    guard inProlog, text.starts(with: "DOCTYPE".utf8) else {
      throw failure("there is a declaration that no store of Core Data has", line: line)
    }
  }

  private func comment() throws {
    try expect("--")
    var hyphens = 0
    while true {
      switch try need() {
      case UInt8(ascii: "-"): hyphens += 1
      case UInt8(ascii: ">") where hyphens >= 2: return
      default: hyphens = 0
      }
    }
  }

  /// `<?xml version="1.0" standalone="yes"?>`
  private func instruction() throws {
    var text: [UInt8] = []
    repeat {
      text.append(try need())
      guard text.count < Self.longestName else { throw failure("a declaration does not end", line: line) }
    } while !text.suffix(2).elementsEqual("?>".utf8)
    let words = String(decoding: text, as: UTF8.self).lowercased()
    guard let encoding = words.firstRange(of: "encoding") else { return }
    let value = words[encoding.upperBound...].drop { " \t\r\n=\"'".contains($0) }
    guard ["utf-8", "utf8", "us-ascii"].contains(where: value.hasPrefix) else {
      throw failure("the file declares another encoding than UTF-8", line: line)
    }
  }
}

extension XMLTags {
  /// The next attribute of the element that began, up to the quotation mark of its value, which is returned with the
  /// name; nil at the end of the tag.
  func nextAttribute() throws -> (name: String, quote: UInt8)? {
    let isApart = try bytes.peek().map(Self.isBlank) ?? false
    try skipBlanks()
    isEmpty = false
    switch try bytes.peek() {
    case UInt8(ascii: ">"):
      _ = try bytes.next()
      return nil
    case UInt8(ascii: "/"):
      try expect("/>")
      isEmpty = true
      return nil
    default: break
    }
    guard try bytes.peek() != nil else { throw tooShort }
    guard isApart else { throw failure("there is no blank between two attributes", line: line) }
    let name = try name()
    try skipBlanks()
    try expect("=")
    try skipBlanks()
    let quote = try need()
    guard quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else {
      throw failure("the value of \(name) has no quotation marks")
    }
    return (name, quote)
  }

  /// The value that begins, a short one.
  func value(_ quote: UInt8) throws -> String {
    var value: [UInt8] = []
    while true {
      let byte = try need()
      if byte == quote { break }
      value.append(byte)
      guard value.count < Self.longestName, byte != UInt8(ascii: "<") else {
        throw failure("the value of an attribute does not end", line: line)
      }
    }
    return try XMLStoreText.text(value) { failure($0) }
  }

  /// The attributes of the element that began.
  func attributes() throws -> [String: String] {
    var found: [String: String] = [:]
    while let (name, quote) = try nextAttribute() {
      guard found.count < 64, found.updateValue(try value(quote), forKey: name) == nil else {
        throw failure("an element has \(name) twice, or too many attributes", line: line)
      }
    }
    return found
  }

  /// The end of the element that began.
  func end(_ name: String) throws {
    guard !isEmpty else { return }
    guard let tag = try next() else { throw tooShort }
    guard tag == .end(name) else { throw unexpected(tag, wanted: "</\(name)>") }
    isEmpty = false
  }

  func unexpected(_ tag: Tag?, wanted: String) -> BatchError {
    switch tag {
    case .start(let name): failure("<\(name)> stands where \(wanted) is expected", line: line)
    case .end(let name): failure("</\(name)> stands where \(wanted) is expected", line: line)
    case nil: failure("the file ends where \(wanted) is expected: it was cut off")
    }
  }

  /// Hands on the text of an element without elements, in pieces, and reads its end.
  func text(of name: String, _ body: (UnsafeRawBufferPointer) throws -> Void) throws {
    guard !isEmpty else { return }
    guard try bytes.run(until: UInt8(ascii: "<"), body) else {
      throw failure("the file ends inside <\(name)>: it was cut off")
    }
    line = bytes.line
    try expect("</\(name)")
    try skipBlanks()
    try expect(">")
  }
}
