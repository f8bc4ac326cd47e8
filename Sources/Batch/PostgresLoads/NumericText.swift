/// A decimal number as PostgreSQL's binary numeric has it: digits to the base of 10,000 (PostgreSQL,
/// src/backend/utils/adt/numeric.c, `numeric_send`): their number, the first one's weight, the sign, and the decimal
/// digits after the point, 16 bits each.
struct NumericText {
  private(set) var groups: [Int16] = []
  private(set) var weight: Int16 = 0
  private(set) var isNegative = false
  private(set) var scale: Int16 = 0

  /// No number of Core Data is longer: NSDecimal has 38 digits and exponents from -128 to 127; doubles reach 10^308.
  private static let mostDigits = 1_400

  /// Reads `-12.5`, `1e-7` and the like; nil for anything else.
  init?(_ text: UnsafeRawBufferPointer) {
    guard text.count <= Self.mostDigits, let parts = DecimalParts(text) else { return nil }
    isNegative = parts.isNegative
    let exponent = parts.exponent
    guard abs(exponent) <= Self.mostDigits else { return nil }
    scale = Int16(max(0, -exponent))
    var digits = parts.digits
    // The last digit's exponent becomes a multiple of four.
    let padding = ((exponent % 4) + 4) % 4
    digits += repeatElement(0, count: padding)
    var lowest = (exponent - padding) / 4
    let lead = (4 - digits.count % 4) % 4
    digits = Array(repeating: 0, count: lead) + digits
    groups = stride(from: 0, to: digits.count, by: 4).map { place in
      digits[place..<place + 4].reduce(0) { $0 * 10 + Int16($1) }
    }
    while groups.last == 0 {
      groups.removeLast()
      lowest += 1
    }
    var highest = lowest + groups.count - 1
    let zeros = groups.prefix { $0 == 0 }.count
    groups.removeFirst(zeros)
    highest -= zeros
    weight = groups.isEmpty ? 0 : Int16(highest)
    if groups.isEmpty { isNegative = false }
  }

  /// Appends the number as a field.
  func write(to buffer: CopyBuffer) {
    buffer.append(Int32(8 + 2 * groups.count))
    for part in [Int16(groups.count), weight, isNegative ? 0x4000 : 0, scale] + groups { buffer.append(part) }
  }
}

/// The digits of a decimal number, and the power of ten of the last one.
private struct DecimalParts {
  var digits: [UInt8] = []
  var exponent = 0
  var isNegative = false

  init?(_ text: UnsafeRawBufferPointer) {
    var place = 0
    if place < text.count, text[place] == 0x2D || text[place] == 0x2B {
      isNegative = text[place] == 0x2D
      place += 1
    }
    var isBehindPoint = false
    while place < text.count {
      let byte = text[place]
      if (0x30...0x39).contains(byte) {
        digits.append(byte - 0x30)
        if isBehindPoint { exponent -= 1 }
      } else if byte == 0x2E, !isBehindPoint {
        isBehindPoint = true
      } else {
        break
      }
      place += 1
    }
    guard !digits.isEmpty else { return nil }
    guard place < text.count else { return }
    guard text[place] == 0x65 || text[place] == 0x45, let power = Self.power(text, from: place + 1) else { return nil }
    exponent += power
  }

  private static func power(_ text: UnsafeRawBufferPointer, from place: Int) -> Int? {
    let rest = text[min(place, text.count)...]
    guard rest.count <= 6, !rest.isEmpty else { return nil }
    return Int(String(decoding: rest, as: UTF8.self))
  }
}
