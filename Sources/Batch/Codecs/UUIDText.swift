/// UUIDs between the 16 bytes that a store has and the text that people write.
package enum UUIDText {
  private static let dashes: Set<Int> = [8, 13, 18, 23]
  private static let digits = Array("0123456789ABCDEF".utf8)

  /// The bytes of a text of 36 characters, in either case; nil if it is none.
  package static func bytes(_ text: String) -> [UInt8]? {
    let characters = Array(text.utf8)
    guard characters.count == 36 else { return nil }
    var (bytes, high) = ([UInt8](), UInt8?.none)
    bytes.reserveCapacity(16)
    for (place, character) in characters.enumerated() {
      guard !dashes.contains(place) else {
        guard character == UInt8(ascii: "-") else { return nil }
        continue
      }
      guard let digit = digit(character) else { return nil }
      if let first = high { bytes.append(first << 4 | digit) }
      high = high == nil ? digit : nil
    }
    return bytes
  }

  private static func digit(_ character: UInt8) -> UInt8? {
    switch character {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0")
    case UInt8(ascii: "A")...UInt8(ascii: "F"): character - UInt8(ascii: "A") + 10
    case UInt8(ascii: "a")...UInt8(ascii: "f"): character - UInt8(ascii: "a") + 10
    default: nil
    }
  }

  /// The text of 16 bytes, in capitals as Foundation writes it; nil for any other number of bytes.
  package static func text(_ bytes: [UInt8]) -> String? {
    guard bytes.count == 16 else { return nil }
    var characters: [UInt8] = []
    characters.reserveCapacity(36)
    for byte in bytes {
      if dashes.contains(characters.count) { characters.append(UInt8(ascii: "-")) }
      characters += [digits[Int(byte >> 4)], digits[Int(byte & 15)]]
    }
    return String(decoding: characters, as: UTF8.self)
  }

  /// The UUID of version 5 for a name in a namespace (RFC 9562, 5.5).
  package static func named(_ name: [UInt8], in space: [UInt8]) -> [UInt8] {
    var uuid = Array(SHA1.hash(space + name).prefix(16))
    uuid[6] = uuid[6] & 0x0F | 0x50
    uuid[8] = uuid[8] & 0x3F | 0x80
    return uuid
  }
}
