/// Reads a document of JSON (RFC 8259) from bytes. Depth is limited, a name may not stand twice in an object, and whole
/// numbers of 64 bits stay exact.
struct JSONParser {
  private static let greatestDepth = 64

  private let bytes: UnsafeRawBufferPointer
  private var place = 0

  /// The one value that the bytes hold. Throws ``ImportProblem``.
  static func value(of bytes: UnsafeRawBufferPointer) throws -> ImportValue {
    var parser = JSONParser(bytes: bytes)
    let value = try parser.value(depth: 0)
    parser.skipBlanks()
    guard parser.place == bytes.count else { throw parser.problem("goes on after its end") }
    return value
  }

  private init(bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

  private func problem(_ what: String) -> ImportProblem {
    // Most files of which a line ends too early have an object over several lines.
    let advice = place < bytes.count ? "" : ": each line is one whole object"
    return ImportProblem("the JSON \(what), at byte \(place + 1)\(advice)")
  }

  private mutating func skipBlanks() {
    while place < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[place]) { place += 1 }
  }

  private mutating func next(_ byte: UInt8) -> Bool {
    guard place < bytes.count, bytes[place] == byte else { return false }
    place += 1
    return true
  }

  private mutating func value(depth: Int) throws -> ImportValue {
    skipBlanks()
    guard place < bytes.count else { throw problem("ends too early") }
    guard depth < Self.greatestDepth else { throw problem("nests more than \(Self.greatestDepth) deep") }
    switch bytes[place] {
    case 0x22: return .text(try string())
    case 0x7B: return try object(depth)
    case 0x5B: return try list(depth)
    case 0x74: return try word("true", .boolean(true))
    case 0x66: return try word("false", .boolean(false))
    case 0x6E: return try word("null", .null)
    default: return try number()
    }
  }

  private mutating func word(_ text: StaticString, _ value: ImportValue) throws -> ImportValue {
    let word = UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
    guard place + word.count <= bytes.count, bytes[place..<place + word.count].elementsEqual(word) else {
      throw problem("has a word that is none of its own")
    }
    place += word.count
    return value
  }

  private mutating func object(_ depth: Int) throws -> ImportValue {
    place += 1
    var members: [ImportValue.Member] = []
    skipBlanks()
    if next(0x7D) { return .object([]) }
    while true {
      skipBlanks()
      guard place < bytes.count else { throw problem("ends too early") }
      guard bytes[place] == 0x22 else { throw problem("has an object whose name is no text") }
      let name = try string()
      skipBlanks()
      guard next(0x3A) else { throw problem("lacks a colon") }
      let value = try value(depth: depth + 1)
      guard !members.contains(where: { $0.name == name }) else { throw problem("has the name \(name) twice") }
      members.append(.init(name: name, value: value))
      skipBlanks()
      if next(0x7D) { return .object(members) }
      guard next(0x2C) else { throw problem(place < bytes.count ? "lacks a comma in an object" : "ends too early") }
    }
  }

  private mutating func list(_ depth: Int) throws -> ImportValue {
    place += 1
    var members: [ImportValue] = []
    skipBlanks()
    if next(0x5D) { return .list([]) }
    while true {
      members.append(try value(depth: depth + 1))
      skipBlanks()
      if next(0x5D) { return .list(members) }
      guard next(0x2C) else { throw problem(place < bytes.count ? "lacks a comma in a list" : "ends too early") }
    }
  }

  /// `-12.5e3`, without zeros before it.
  private mutating func number() throws -> ImportValue {
    let start = place
    while place < bytes.count, [0x2B, 0x2D, 0x2E, 0x45, 0x65].contains(bytes[place]) || isDigit { place += 1 }
    let text = String(decoding: bytes[start..<place], as: UTF8.self)
    let digits = text.utf8.drop { $0 == 0x2D }.prefix { 0x30...0x39 ~= $0 }
    guard let number = ImportNumber(text), digits.first != 0x30 || digits.count == 1 else {
      throw problem("has something that is no value")
    }
    switch number {
    case .integer(let integer): return .integer(integer)
    case .real(let double): return .real(double, written: text)
    }
  }

  private var isDigit: Bool { 0x30...0x39 ~= bytes[place] }
}

extension JSONParser {
  private mutating func string() throws -> String {
    place += 1
    let start = place
    while place < bytes.count, bytes[place] != 0x22, bytes[place] != 0x5C, bytes[place] >= 0x20 { place += 1 }
    guard place < bytes.count else { throw problem("has a text without end") }
    guard bytes[place] == 0x22 else { return try escaped(from: start) }
    guard let text = String(validating: bytes[start..<place], as: UTF8.self) else {
      throw problem("has a text that is not UTF-8")
    }
    place += 1
    return text
  }

  private mutating func escaped(from start: Int) throws -> String {
    var text = Array(bytes[start..<place])
    while place < bytes.count {
      let byte = bytes[place]
      place += 1
      switch byte {
      case 0x22:
        guard let valid = String(validating: text, as: UTF8.self) else { throw problem("has a text that is not UTF-8") }
        return valid
      case 0x5C: try escape(into: &text)
      case 0..<0x20: throw problem("has a control character in a text")
      default: text.append(byte)
      }
    }
    throw problem("has a text without end")
  }

  private mutating func escape(into text: inout [UInt8]) throws {
    guard place < bytes.count else { throw problem("has a text without end") }
    let byte = bytes[place]
    place += 1
    switch byte {
    case 0x22, 0x5C, 0x2F: text.append(byte)
    case 0x62: text.append(0x08)
    case 0x66: text.append(0x0C)
    case 0x6E: text.append(0x0A)
    case 0x72: text.append(0x0D)
    case 0x74: text.append(0x09)
    case 0x75: text += Array(String(Character(try scalar())).utf8)
    default: throw problem("has an escape that it does not know")
    }
  }

  /// `\uXXXX`, or two of them for a character beyond the first plane.
  private mutating func scalar() throws -> Unicode.Scalar {
    let first = try hex()
    if let scalar = Unicode.Scalar(first) { return scalar }
    guard (0xD800..<0xDC00).contains(first), next(0x5C), next(0x75) else { throw problem("has half a character") }
    let second = try hex()
    guard (0xDC00..<0xE000).contains(second),
      let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
    else { throw problem("has half a character") }
    return scalar
  }

  private mutating func hex() throws -> UInt32 {
    guard place + 4 <= bytes.count,
      // Swift takes a sign, too.
      bytes[place] != 0x2B, bytes[place] != 0x2D,
      let number = UInt32(String(decoding: bytes[place..<place + 4], as: UTF8.self), radix: 16)
    else { throw problem("has an escape that is no number") }
    place += 4
    return number
  }
}
