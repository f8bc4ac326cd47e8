/// Whether bytes are UTF-8 without NUL, which is what every database takes for text.
package enum TextCheck {
  package enum Result {
    case good, notUTF8, hasNul
  }

  @inline(__always)
  package static func check(_ bytes: UnsafeRawBufferPointer) -> Result {
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
