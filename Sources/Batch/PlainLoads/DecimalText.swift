/// The digits of a number, without an exponent: the shortest ones that mean the same double.
enum DecimalText {
  static func text(_ value: Double) -> String {
    if let whole = Int64(exactly: value) { return String(whole) }
    let parts = value.description.split(separator: "e")
    guard parts.count == 2, let exponent = Int(parts[1]) else { return value.description }
    let mantissa = parts[0].drop { $0 == "-" }.split(separator: ".")
    let digits = mantissa.joined()
    let sign = value < 0 ? "-" : ""
    // Digits before the point.
    let place = (mantissa.first?.count ?? 0) + exponent
    guard place > 0 else { return sign + "0." + String(repeating: "0", count: -place) + digits }
    guard place < digits.count else { return sign + digits + String(repeating: "0", count: place - digits.count) }
    return sign + digits.prefix(place) + "." + digits.dropFirst(place)
  }
}
