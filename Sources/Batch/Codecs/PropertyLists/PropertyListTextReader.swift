/// Reads property lists in the old text form, `{ key = value; list = (a, "b"); data = <0f>; }`, as other
/// implementations of Core Data write them beside compiled models. Throws ``PropertyListReader/Damage``.
struct PropertyListTextReader {
  private static let greatestDepth = 64

  private let bytes: [UInt8]
  private var position = 0

  static func read(_ bytes: [UInt8]) throws -> PropertyListValue {
    var reader = PropertyListTextReader(bytes: bytes)
    let value = try reader.value(depth: 0)
    guard try reader.next() == nil else { throw reader.damage("text follows the end") }
    return value
  }

  private init(bytes: [UInt8]) { self.bytes = bytes }

  private mutating func value(depth: Int) throws -> PropertyListValue {
    guard depth < Self.greatestDepth else { throw damage("values are nested too deeply") }
    switch try next() {
    case UInt8(ascii: "{"): return try dictionary(depth: depth)
    case UInt8(ascii: "("): return try array(depth: depth)
    case UInt8(ascii: "<"): return try data()
    default: return .string(try text())
    }
  }

  private mutating func dictionary(depth: Int) throws -> PropertyListValue {
    position += 1
    var entries: [String: PropertyListValue] = [:]
    while try next() != UInt8(ascii: "}") {
      let key = try text()
      try take("=")
      guard entries.updateValue(try value(depth: depth + 1), forKey: key) == nil else {
        throw damage("a key is there twice")
      }
      try take(";")
    }
    position += 1
    return .dictionary(entries)
  }

  private mutating func array(depth: Int) throws -> PropertyListValue {
    position += 1
    var members: [PropertyListValue] = []
    while try next() != UInt8(ascii: ")") {
      if !members.isEmpty { try take(",") }
      guard try next() != UInt8(ascii: ")") else { break }
      members.append(try value(depth: depth + 1))
    }
    position += 1
    return .array(members)
  }

  private mutating func data() throws -> PropertyListValue {
    position += 1
    var digits: [UInt8] = []
    while let byte = try next(), byte != UInt8(ascii: ">") {
      guard let digit = Character(UnicodeScalar(byte)).hexDigitValue else { throw damage("data is not hexadecimal") }
      digits.append(UInt8(digit))
      position += 1
    }
    try take(">")
    guard digits.count.isMultiple(of: 2) else { throw damage("data ends within a byte") }
    return .data(stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] })
  }

  private mutating func text() throws -> String {
    guard try next() == UInt8(ascii: "\"") else {
      let word = bytes[position...].prefix(while: Self.isPlain)
      guard !word.isEmpty else { throw damage("a value is missing") }
      position += word.count
      return String(decoding: word, as: UTF8.self)
    }
    position += 1
    var text: [UInt8] = []
    while position < bytes.count, bytes[position] != UInt8(ascii: "\"") {
      if bytes[position] == UInt8(ascii: "\\") { position += 1 }
      guard position < bytes.count else { break }
      text.append(bytes[position])
      position += 1
    }
    guard position < bytes.count else { throw damage("a text has no end") }
    position += 1
    return String(decoding: text, as: UTF8.self)
  }

  private mutating func take(_ character: Character) throws {
    guard try next() == character.asciiValue else { throw damage("\"\(character)\" is missing") }
    position += 1
  }

  /// The next byte that is neither blank nor comment; nil at the end.
  private mutating func next() throws -> UInt8? {
    while position < bytes.count {
      if bytes[position...].starts(with: "/*".utf8) {
        position += 2
        while position < bytes.count, !bytes[position...].starts(with: "*/".utf8) { position += 1 }
        guard position < bytes.count else { throw damage("a comment has no end") }
        position += 2
      } else if bytes[position] <= UInt8(ascii: " ") {
        position += 1
      } else {
        return bytes[position]
      }
    }
    return nil
  }

  private static func isPlain(_ byte: UInt8) -> Bool {
    let character = Character(UnicodeScalar(byte))
    return character.isASCII && (character.isLetter || character.isNumber || "_$/:.-".contains(character))
  }

  private func damage(_ reason: String) -> PropertyListReader.Damage {
    PropertyListReader.Damage("\(reason) (byte \(position))")
  }
}
