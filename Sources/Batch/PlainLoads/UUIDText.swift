/// The text of a UUID, in capitals, as `Foundation.UUID.uuidString` has it.
enum UUIDText {
  private static let digits = Array("0123456789ABCDEF".utf8)

  static func bytes(_ bytes: UnsafeRawBufferPointer) -> [UInt8] {
    var text: [UInt8] = []
    text.reserveCapacity(36)
    for (place, byte) in bytes.enumerated() {
      if [4, 6, 8, 10].contains(place) { text.append(0x2D) }
      text.append(digits[Int(byte >> 4)])
      text.append(digits[Int(byte & 15)])
    }
    return text
  }
}
