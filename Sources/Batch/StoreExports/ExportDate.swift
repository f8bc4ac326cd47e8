/// Dates as text: ISO 8601 in UTC with microseconds, `2019-01-14T20:01:30.058821Z`.
package enum ExportDate {
  /// Years 0 to 9999, in seconds since 2001: what four digits can say.
  private static let range = -63_145_526_400.0..<252_423_993_600.0

  /// The text for seconds since 2001; nil for a moment that four digits of a year cannot name.
  package static func text(_ seconds: Double) -> [UInt8]? {
    guard range.contains(seconds) else { return nil }
    let whole = seconds.rounded(.down)
    var (total, micros) = (Int64(whole), Int64(((seconds - whole) * 1_000_000).rounded()))
    if micros == 1_000_000 { (total, micros) = (total + 1, 0) }
    guard Double(total) < range.upperBound else { return nil }
    let days = (Double(total) / 86400).rounded(.down)
    let time = total - Int64(days) * 86400
    let date = Self.date(Int64(days))
    var text: [UInt8] = []
    text.reserveCapacity(27)
    append(date.year, count: 4, text: &text)
    for (mark, part) in [
      (0x2D, date.month), (0x2D, date.day), (0x54, time / 3600), (0x3A, time / 60 % 60), (0x3A, time % 60),
    ] {
      text.append(UInt8(mark))
      append(part, count: 2, text: &text)
    }
    text.append(0x2E)
    append(micros, count: 6, text: &text)
    text.append(0x5A)
    return text
  }

  /// Seconds since 2001 for a date in ISO 8601: `2019-01-14`, or with a time of day and an offset (Z without one), at
  /// most nanoseconds. Nil for any other text.
  package static func seconds(_ text: String) -> Double? {
    var text = text
    return text.withUTF8 { seconds($0) }
  }

  /// The same for bytes.
  package static func seconds(_ text: UnsafeBufferPointer<UInt8>) -> Double? {
    var digits = ExportDateDigits(text)
    guard let year = digits.number(4), digits.mark(0x2D), let month = digits.number(2), digits.mark(0x2D),
      let day = digits.number(2), (1...12).contains(month), (1...length(of: month, in: year)).contains(day)
    else { return nil }
    let before = (1..<month).reduce(0) { $0 + length(of: $1, in: year) }
    let days = daysBefore(year) - daysBefore(2001) + before + day - 1
    guard !digits.isAtEnd else { return Double(days * 86400) }
    guard digits.mark(0x54) || digits.mark(0x20), let time = digits.time() else { return nil }
    return Double(days * 86400 + time.seconds) + time.fraction
  }

  private static func length(of month: Int64, in year: Int64) -> Int64 {
    switch month {
    case 2: daysBefore(year + 1) - daysBefore(year) == 366 ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }

  private static func append(_ number: Int64, count: Int, text: inout [UInt8]) {
    let start = text.count
    var rest = number
    text.append(contentsOf: repeatElement(0x30, count: count))
    for index in stride(from: start + count - 1, through: start, by: -1) {
      text[index] = 0x30 + UInt8(truncatingIfNeeded: rest % 10)
      rest /= 10
    }
  }

  /// The date of a day since 2001-01-01 in the Gregorian calendar, also before its introduction.
  private static func date(_ day: Int64) -> (year: Int64, month: Int64, day: Int64) {
    let position = day + daysBefore(2001)
    // The mean length of a year misses by a day or two at most.
    var year = Int64((Double(position) / 365.2425).rounded(.down)) - yearOffset
    while daysBefore(year + 1) <= position { year += 1 }
    while daysBefore(year) > position { year -= 1 }
    let isLeap = daysBefore(year + 1) - daysBefore(year) == 366
    var (month, left) = (1, position - daysBefore(year))
    for length: Int64 in [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30] {
      if left < length { break }
      left -= length
      month += 1
    }
    return (year, Int64(month), left + 1)
  }

  /// Days before the first of January, counted from 400 years before year 1, so that no number is negative.
  private static func daysBefore(_ year: Int64) -> Int64 {
    let years = year + yearOffset
    return 365 * years + years / 4 - years / 100 + years / 400
  }

  private static let yearOffset: Int64 = 399
}
