/// A number in decimal digits, as texts of all kinds have it: `7`, `-1.5`, `1e3`.
///
/// Swift takes more for a number: hexadecimal digits, signs and words, and what is too large becomes infinite.
enum ImportNumber {
  /// A whole number of 64 bits.
  case integer(Int64)
  case real(Double)

  /// Nil for any other text, and for what is too large for a double.
  init?(_ text: String) {
    var rest = Substring(text).utf8[...]
    if rest.first == UInt8(ascii: "-") { rest.removeFirst() }
    guard Self.passDigits(&rest) else { return nil }
    if rest.isEmpty, text != "-0", let integer = Int64(text) {
      self = .integer(integer)
      return
    }
    if rest.first == UInt8(ascii: ".") {
      rest.removeFirst()
      guard Self.passDigits(&rest) else { return nil }
    }
    if let letter = rest.first, letter == UInt8(ascii: "e") || letter == UInt8(ascii: "E") {
      rest.removeFirst()
      if let sign = rest.first, sign == UInt8(ascii: "-") || sign == UInt8(ascii: "+") { rest.removeFirst() }
      guard Self.passDigits(&rest) else { return nil }
    }
    guard rest.isEmpty, let double = Double(text), double.isFinite else { return nil }
    self = .real(double)
  }

  private static func passDigits(_ text: inout Substring.UTF8View) -> Bool {
    let count = text.count
    text = text.drop { 0x30...0x39 ~= $0 }
    return text.count < count
  }
}
