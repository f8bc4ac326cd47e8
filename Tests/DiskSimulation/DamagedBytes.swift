/// What may become of the bytes of a file: by a bad disk, a bad cable, or somebody's hand.
package enum DamagedBytes {
  private static let numbers = [
    "0", "-1", "1", "99999999", "9223372036854775807", "18446744073709551616", "1e308", "\"\"", "null",
  ]

  /// Bytes that differ in one to three places.
  package static func make(_ bytes: [UInt8], _ random: inout DiskRandom) -> [UInt8] {
    var damaged = bytes
    for _ in 0...random.below(3) { damaged = once(damaged, &random) }
    return damaged
  }

  private static func once(_ bytes: [UInt8], _ random: inout DiskRandom) -> [UInt8] {
    var bytes = bytes
    guard !bytes.isEmpty else { return [UInt8](repeating: UInt8(random.below(256)), count: 1 + random.below(600)) }
    let place = random.below(bytes.count)
    let length = min(bytes.count - place, 1 + random.below(random.flag() ? 8 : 600))
    let range = place..<place + length
    switch random.below(9) {
    case 0, 1: bytes[place] ^= 1 << UInt8(random.below(8))
    case 2: bytes[place] = UInt8(random.below(256))
    case 3: bytes.removeSubrange(place...)
    case 4: bytes.removeSubrange(range)
    case 5: bytes.insert(contentsOf: bytes[range], at: random.below(bytes.count))
    case 6: for index in range { bytes[index] = random.flag() ? 0 : 0xFF }
    case 7: replaceNumber(at: place, &bytes, &random)
    default: overwrite(at: place, &bytes, &random)
    }
    return bytes
  }

  /// A number in binary, of a size that programs do not expect.
  private static func overwrite(at place: Int, _ bytes: inout [UInt8], _ random: inout DiskRandom) {
    let values: [UInt64] = [0, 1, 0x7F, 0xFFFF, 0x7FFF_FFFF, 0xFFFF_FFFF, 1 << 40, .max >> 1, .max, .max - 1]
    let value = values[random.below(values.count)].littleEndian
    let width = [2, 4, 8][random.below(3)]
    withUnsafeBytes(of: value) { value in
      for index in 0..<width where place + index < bytes.count { bytes[place + index] = value[index] }
    }
  }

  /// The number in a text that comes next becomes another one, or none.
  private static func replaceNumber(at place: Int, _ bytes: inout [UInt8], _ random: inout DiskRandom) {
    func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
    guard let start = bytes[place...].firstIndex(where: isDigit) else { return }
    let end = bytes[start...].firstIndex { !isDigit($0) } ?? bytes.endIndex
    bytes.replaceSubrange(start..<end, with: Array(numbers[random.below(numbers.count)].utf8))
  }
}
