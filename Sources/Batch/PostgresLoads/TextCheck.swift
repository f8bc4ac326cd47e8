/// Whether PostgreSQL takes bytes for text: UTF-8 without NUL (PostgreSQL, "Character Types").
enum TextCheck {
  enum Result {
    case good, notUTF8, hasNul

    func throwUnlessGood() throws {
      switch self {
      case .good: return
      case .hasNul: throw CopyFault(what: "has a NUL character")
      case .notUTF8: throw CopyFault(what: "is not UTF-8")
      }
    }
  }

  @inline(__always)
  static func check(_ bytes: UnsafeRawBufferPointer) -> Result {
    guard let base = bytes.baseAddress else { return .good }
    var (place, high): (Int, UInt64) = (0, 0)
    let lows: UInt64 = 0x0101_0101_0101_0101, highs: UInt64 = 0x8080_8080_8080_8080
    while place &+ 8 <= bytes.count {
      let word = base.loadUnaligned(fromByteOffset: place, as: UInt64.self)
      if (word &- lows) & ~word & highs != 0 { return .hasNul }
      high |= word
      place &+= 8
    }
    while place < bytes.count {
      let byte = base.load(fromByteOffset: place, as: UInt8.self)
      if byte == 0 { return .hasNul }
      high |= UInt64(byte)
      place &+= 1
    }
    if high & highs == 0 { return .good }
    return String(validating: bytes, as: UTF8.self) == nil ? .notUTF8 : .good
  }
}

/// Looks at a text that comes in pieces: a character may begin in one and end in the next.
struct TextPieces {
  private var rest: [UInt8] = []

  mutating func add(_ piece: UnsafeRawBufferPointer) -> TextCheck.Result {
    let bytes = rest + piece
    // What begins within the last three bytes may continue.
    var end = bytes.count
    for back in 1...3 where back <= bytes.count {
      let byte = bytes[bytes.count - back]
      guard byte >= 0xC0 else { continue }
      let length = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : 2
      if length > back { end = bytes.count - back }
      break
    }
    rest = Array(bytes[end...])
    return bytes[..<end].withUnsafeBytes { TextCheck.check($0) }
  }

  /// Nothing may be left open.
  var isWhole: Bool { rest.isEmpty }
}
