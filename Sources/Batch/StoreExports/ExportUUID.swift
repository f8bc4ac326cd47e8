/// UUIDs as text.
package enum ExportUUID {
  /// The sixteen bytes of `XXXXXXXX-XXXX-XXXX-XXXX-XXXXXXXXXXXX`, in either case; nil for any other text.
  package static func bytes(_ text: String) -> [UInt8]? {
    let digits = Array(text.utf8)
    guard digits.count == 36 else { return nil }
    var (bytes, half) = ([UInt8](), UInt8?.none)
    for (place, digit) in digits.enumerated() {
      if [8, 13, 18, 23].contains(place) {
        guard digit == 0x2D else { return nil }
        continue
      }
      guard let value = nibble(digit) else { return nil }
      if let high = half {
        bytes.append(high << 4 | value)
        half = nil
      } else {
        half = value
      }
    }
    return bytes
  }

  private static func nibble(_ digit: UInt8) -> UInt8? {
    switch digit {
    case 0x30...0x39: digit - 0x30
    case 0x41...0x46: digit - 0x37
    case 0x61...0x66: digit - 0x57
    default: nil
    }
  }
}
