import Codecs

/// NSDecimalNumber in keyed archives: a mantissa of 16-bit digits, an exponent of ten and a sign.
enum ArchivedDecimal {
  private static let mostDigits = 8
  private static let order = 1  // Little-endian, as CFByteOrder numbers it.

  /// The decimal's digits, without exponent letters; nil for what is no decimal, and for NaN.
  static func text(_ object: KeyedObject) -> String? {
    guard let mantissa = object["NS.mantissa"]?.data, let exponent = object["NS.exponent"]?.integer,
      let length = object["NS.length"]?.integer, (0...Int64(mostDigits)).contains(length),
      (-200...200).contains(exponent),
      mantissa.count >= 2 * Int(length)
    else { return nil }
    let isNegative = object["NS.negative"]?.boolean ?? false
    // No digits and a sign is how a decimal says that it is no number.
    guard length > 0 else { return isNegative ? nil : "0" }
    let isLittle = object["NS.mantissa.bo"]?.integer ?? Int64(order) == Int64(order)
    var digits: [UInt8] = []
    for position in (0..<Int(length)).reversed() {
      let (first, second) = (Int(mantissa[2 * position]), Int(mantissa[2 * position + 1]))
      multiplyAdd(&digits, by: 65_536, adding: isLittle ? second << 8 | first : first << 8 | second)
    }
    return (isNegative ? "-" : "") + point(digits, exponent: Int(exponent))
  }

  /// The fields of an archived decimal; nil when the text is none or has more digits than a decimal holds.
  static func fields(_ text: String) -> [String: PropertyListValue]? {
    guard let (digits, exponent, isNegative) = parts(text) else { return nil }
    var words: [UInt16] = []
    var rest = digits
    while rest.contains(where: { $0 > 0 }) {
      words.append(UInt16(divide(&rest, by: 65_536)))
      guard words.count <= mostDigits else { return nil }
    }
    let padded = words + Array(repeating: 0, count: mostDigits - words.count)
    return [
      "NS.mantissa": .data(padded.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }),
      "NS.mantissa.bo": .integer(Int64(order)), "NS.exponent": .integer(Int64(exponent)),
      "NS.length": .integer(Int64(words.count)), "NS.negative": .boolean(isNegative), "NS.compact": .boolean(true),
    ]
  }

  /// Digits without leading and trailing zeros, most significant first.
  private static func parts(_ text: String) -> (digits: [UInt8], exponent: Int, isNegative: Bool)? {
    let halves = text.lowercased().split(separator: "e", omittingEmptySubsequences: false)
    guard halves.count <= 2, var exponent = halves.count == 2 ? Int(halves[1]) : 0, abs(exponent) <= 127 else {
      return nil
    }
    let isNegative = halves[0].hasPrefix("-")
    let number = isNegative || halves[0].hasPrefix("+") ? halves[0].dropFirst() : halves[0]
    let sides = number.split(separator: ".", omittingEmptySubsequences: false)
    guard sides.count <= 2, sides.contains(where: { !$0.isEmpty }), sides.reduce(0, { $0 + $1.count }) <= 200 else {
      return nil
    }
    var digits: [UInt8] = []
    for character in sides.joined() {
      guard character.isASCII, let digit = character.wholeNumberValue else { return nil }
      digits.append(UInt8(digit))
    }
    if sides.count == 2 { exponent -= sides[1].count }
    while digits.last == 0, digits.count > 1 {
      digits.removeLast()
      exponent += 1
    }
    digits = Array(digits.drop { $0 == 0 })
    if digits.isEmpty { return ([], 0, false) }
    return (-128...127).contains(exponent) ? (digits, exponent, isNegative) : nil
  }

  private static func point(_ digits: [UInt8], exponent: Int) -> String {
    var text = digits.drop { $0 == 0 }.map(String.init).joined()
    if text.isEmpty { return "0" }
    if exponent >= 0 { return text + String(repeating: "0", count: exponent) }
    if text.count <= -exponent { text = String(repeating: "0", count: -exponent - text.count + 1) + text }
    let split = text.index(text.endIndex, offsetBy: exponent)
    let fraction = text[split...].replacing(/0+$/, with: "")
    return fraction.isEmpty ? String(text[..<split]) : "\(text[..<split]).\(fraction)"
  }

  private static func multiplyAdd(_ digits: inout [UInt8], by factor: Int, adding: Int) {
    var carry = adding
    for position in digits.indices.reversed() {
      carry += Int(digits[position]) * factor
      digits[position] = UInt8(carry % 10)
      carry /= 10
    }
    while carry > 0 {
      digits.insert(UInt8(carry % 10), at: 0)
      carry /= 10
    }
  }

  /// Divides in place and gives the remainder.
  private static func divide(_ digits: inout [UInt8], by divisor: Int) -> Int {
    var rest = 0
    for position in digits.indices {
      rest = rest * 10 + Int(digits[position])
      digits[position] = UInt8(rest / divisor)
      rest %= divisor
    }
    return rest
  }
}
