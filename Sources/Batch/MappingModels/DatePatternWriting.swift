// Dates as texts: the other way of ``DatePattern``.

extension DatePattern {
  /// Seconds whose microseconds can be counted.
  private static let range = -1e12...1e12
  /// Years that are written, in the pattern's zone.
  private static let years = 1...9999

  /// The text of seconds since 2001 in the pattern's zone, to the microsecond; nil for a date before the year 1 or after
  /// 9999.
  public func string(_ seconds: Double) -> String? {
    guard Self.range.contains(seconds) else { return nil }
    let micros = Int64((seconds * 1_000_000).rounded()) + Int64(offset) * 1_000_000
    let (day, rest) = Self.floored(micros, 86_400_000_000)
    let date = Self.civil(Int(day) + DateFields.dayNumber(2001, month: 1, day: 1))
    guard Self.years.contains(date.year) else { return nil }
    return parts.reduce(into: "") { text, part in
      switch part {
      case .text(let bytes): text += String(decoding: bytes, as: UTF8.self)
      case .field(let letter, let width): text += field(letter, width, date: date, micros: rest)
      }
    }
  }

  private static func floored(_ value: Int64, _ by: Int64) -> (quotient: Int64, rest: Int64) {
    let (quotient, rest) = value.quotientAndRemainder(dividingBy: by)
    return rest < 0 ? (quotient - 1, rest + by) : (quotient, rest)
  }

  /// Year, month and day of a number of days since the first of March of year 0.
  private static func civil(_ days: Int) -> (year: Int, month: Int, day: Int) {
    // 400 years have 146,097 days, and a year that begins in March has its leap day at its end.
    let (era, ofEra) = floored(Int64(days), 146_097)
    let year = (ofEra - ofEra / 1460 + ofEra / 36_524 - ofEra / 146_096) / 365
    let ofYear = ofEra - (365 * year + year / 4 - year / 100)
    let month = (5 * ofYear + 2) / 153
    let day = ofYear - (153 * month + 2) / 5 + 1
    return (Int(era * 400 + year) + (month < 10 ? 0 : 1), Int(month < 10 ? month + 3 : month - 9), Int(day))
  }

  private func field(_ letter: Character, _ width: Int, date: (year: Int, month: Int, day: Int), micros: Int64)
    -> String
  {
    let second = Int(micros / 1_000_000)
    let hour = second / 3600
    return switch letter {
    case "y": Self.padded(date.year, width)
    case "M": Self.padded(date.month, width)
    case "d": Self.padded(date.day, width)
    case "H": Self.padded(hour, width)
    case "h": Self.padded(hour % 12 == 0 ? 12 : hour % 12, width)
    case "m": Self.padded(second / 60 % 60, width)
    case "s": Self.padded(second % 60, width)
    case "S": String((Self.padded(Int(micros % 1_000_000), 6) + "000").prefix(width))
    case "a": hour < 12 ? "AM" : "PM"
    default: zone(letter, width)
    }
  }

  private func zone(_ letter: Character, _ width: Int) -> String {
    if letter == "X", offset == 0 { return "Z" }
    if letter == "z", offset == 0 { return "GMT" }
    let (hours, minutes) = (Self.padded(abs(offset) / 3600, 2), Self.padded(abs(offset) / 60 % 60, 2))
    let sign = offset < 0 ? "-" : "+"
    return switch (letter, width) {
    case ("z", _): "GMT\(sign)\(hours):\(minutes)"
    case ("X", 1): sign + hours + (minutes == "00" ? "" : minutes)
    case ("X", 3): "\(sign)\(hours):\(minutes)"
    default: sign + hours + minutes
    }
  }

  private static func padded(_ number: Int, _ width: Int) -> String {
    let text = String(number)
    return String(repeating: "0", count: max(0, width - text.count)) + text
  }
}
