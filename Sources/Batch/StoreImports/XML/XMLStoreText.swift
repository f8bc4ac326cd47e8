import RunSupport

/// The text of an element or an attribute: what stands for characters in XML, and in the strings of an XML store (F.3).
enum XMLStoreText {
  private static let named: [String: UInt8] = ["lt": 0x3C, "gt": 0x3E, "amp": 0x26, "quot": 0x22, "apos": 0x27]

  /// The text of these bytes. `failure` makes the error of what is wrong.
  static func text(_ bytes: [UInt8], _ failure: (String) -> BatchError) throws -> String {
    var bytes = bytes
    if bytes.contains(0x0D) { bytes = linesEnded(bytes) }
    if bytes.contains(UInt8(ascii: "&")) { bytes = try resolved(bytes, failure) }
    guard let text = String(validating: bytes, as: UTF8.self) else { throw failure("a text is not UTF-8") }
    guard !bytes.contains(where: { $0 < 0x20 && $0 != 0x09 && $0 != 0x0A && $0 != 0x0D }) else {
      throw failure("a text has a control character, which XML cannot hold")
    }
    return text
  }

  /// A line ends with a line feed, however the file writes it. Source of the rule: XML 1.0, section 2.11.
  private static func linesEnded(_ bytes: [UInt8]) -> [UInt8] {
    var (found, isAfterReturn): ([UInt8], Bool) = ([], false)
    for byte in bytes {
      defer { isAfterReturn = byte == 0x0D }
      if byte == 0x0A, isAfterReturn { continue }
      found.append(byte == 0x0D ? 0x0A : byte)
    }
    return found
  }

  private static func resolved(_ bytes: [UInt8], _ failure: (String) -> BatchError) throws -> [UInt8] {
    var (found, place): ([UInt8], Int) = ([], 0)
    while place < bytes.count {
      guard bytes[place] == UInt8(ascii: "&") else {
        found.append(bytes[place])
        place += 1
        continue
      }
      guard let end = bytes[place...].prefix(12).firstIndex(of: UInt8(ascii: ";")) else {
        throw failure("an & stands for no character")
      }
      let name = String(decoding: bytes[(place + 1)..<end], as: UTF8.self)
      if let byte = named[name] {
        found.append(byte)
      } else if name.hasPrefix("#"), let scalar = number(name.dropFirst()).flatMap(Unicode.Scalar.init), scalar != "\0"
      {
        found += Array(String(Character(scalar)).utf8)
      } else {
        throw failure("the file has an entity that it does not declare, or a character that does not exist")
      }
      place = end + 1
    }
    return found
  }

  private static func number(_ text: Substring) -> UInt32? {
    text.hasPrefix("x") ? UInt32(text.dropFirst(), radix: 16) : UInt32(text)
  }

  /// A string of an XML store: `\\` is a backslash, and `\u3c00` the character U+003C: the two bytes of a unit of
  /// UTF-16, the lower one first. Any other backslash is one.
  static func unescaped(_ text: String, _ failure: (String) -> BatchError) throws -> String {
    guard text.utf8.contains(UInt8(ascii: "\\")) else { return text }
    let bytes = Array(text.utf8)
    var (found, place): ([UInt8], Int) = ([], 0)
    while place < bytes.count {
      guard bytes[place] == UInt8(ascii: "\\"), place + 1 < bytes.count else {
        found.append(bytes[place])
        place += 1
        continue
      }
      var units: [UInt16] = []
      while units.count < 2, let unit = unit(bytes, at: place + units.count * 6) {
        units.append(unit)
        if !UTF16.isLeadSurrogate(unit) { break }
      }
      if units.isEmpty {
        let isEscaped = bytes[place + 1] == UInt8(ascii: "\\")
        found.append(bytes[place])
        place += isEscaped ? 2 : 1
        continue
      }
      guard let character = String(validating: units, as: UTF16.self) else {
        throw failure("a string has half of a character")
      }
      found += Array(character.utf8)
      place += units.count * 6
    }
    return String(decoding: found, as: UTF8.self)
  }

  /// The unit that `\uXXXX` at a place means; nil if there is none.
  private static func unit(_ bytes: [UInt8], at place: Int) -> UInt16? {
    guard place + 6 <= bytes.count, bytes[place] == UInt8(ascii: "\\"), bytes[place + 1] == UInt8(ascii: "u") else {
      return nil
    }
    let digits = bytes[(place + 2)..<(place + 6)]
    guard digits.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 || "abcdefABCDEF".utf8.contains($0) }) else {
      return nil
    }
    return UInt16(String(decoding: digits, as: UTF8.self), radix: 16)?.byteSwapped
  }
}
