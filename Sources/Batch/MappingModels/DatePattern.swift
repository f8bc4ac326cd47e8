/// A Unicode date pattern (UTS #35) of fixed fields, in the POSIX locale and the Gregorian calendar:
/// `y yyyy M MM d dd H HH h hh m mm s ss S… a Z X XX XXX z` and texts in apostrophes.
///
/// Reads texts without Foundation, which takes microseconds and a lock for each.
public struct DatePattern: Sendable, Equatable, CustomStringConvertible {
  enum Part: Sendable, Equatable {
    case field(Character, width: Int)
    case text([UInt8])
  }

  /// The pattern as it was written.
  public let text: String
  /// What a text without a zone of its own means, in seconds east of Greenwich.
  public let offset: Int
  let parts: [Part]

  /// The pattern and its zone.
  public var description: String { "\(text) \(offset)" }

  /// Understands a pattern; nil when a letter is not supported, or an apostrophe is left open.
  public init?(_ text: String, offset: Int = 0) {
    var parts: [Part] = []
    var rest = Substring(text)
    while let first = rest.first {
      if first == "'" {
        guard let quoted = Self.quoted(&rest) else { return nil }
        parts.append(.text(quoted))
      } else if first.isASCII, first.isLetter {
        let width = rest.prefix { $0 == first }.count
        guard Self.isKnown(first, width) else { return nil }
        parts.append(.field(first, width: width))
        rest = rest.dropFirst(width)
      } else {
        parts.append(.text(Array(String(first).utf8)))
        rest = rest.dropFirst()
      }
    }
    guard !parts.isEmpty else { return nil }
    (self.text, self.offset, self.parts) = (text, offset, parts)
  }

  private static func quoted(_ rest: inout Substring) -> [UInt8]? {
    rest = rest.dropFirst()
    if rest.first == "'" {
      rest = rest.dropFirst()
      return [UInt8(ascii: "'")]
    }
    var found: [UInt8] = []
    while let next = rest.first {
      rest = rest.dropFirst()
      guard next == "'" else {
        found += Array(String(next).utf8)
        continue
      }
      guard rest.first == "'" else { return found }
      found.append(UInt8(ascii: "'"))
      rest = rest.dropFirst()
    }
    return nil
  }

  private static func isKnown(_ letter: Character, _ width: Int) -> Bool {
    switch letter {
    case "y": width == 1 || width == 4
    case "M", "d", "H", "h", "m", "s", "X": width <= (letter == "X" ? 3 : 2)
    case "S": width <= 9
    case "a", "z", "Z": width == 1
    default: false
    }
  }

  /// The instant in seconds since 2001; nil when the text does not follow the pattern or is no date.
  public func seconds(_ text: String) -> Double? {
    var fields = DateFields(offset: offset)
    var rest = Array(text.utf8)[...]
    for (index, part) in parts.enumerated() {
      switch part {
      case .text(let wanted):
        guard rest.starts(with: wanted) else { return nil }
        rest = rest.dropFirst(wanted.count)
      case .field(let letter, let width):
        guard fields.read(letter, width, isFixed: isDigitField(index + 1), from: &rest) else { return nil }
      }
    }
    return rest.isEmpty ? fields.seconds : nil
  }

  /// Whether a field of digits follows at once. Then the one before it has its width.
  private func isDigitField(_ index: Int) -> Bool {
    guard index < parts.count, case .field(let letter, _) = parts[index] else { return false }
    return !"azZX".contains(letter)
  }

  /// The offset of a zone in seconds: `UTC`, `GMT`, `Z`, `+02:00`, `-0530`; nil for names, whose offset changes with
  /// the date.
  public static func offset(ofZone zone: String) -> Int? {
    var rest = Array(zone.utf8)[...]
    let found = DateFields.zone(&rest)
    return rest.isEmpty ? found : nil
  }
}

/// The fields of a date while its text is read.
struct DateFields {
  var offset: Int
  private var (year, month, day) = (2000, 1, 1)
  private var (hour, minute, second) = (0, 0, 0)
  private var fraction = 0.0
  private var isAfternoon: Bool?
  private var isHalfDay = false

  init(offset: Int) { self.offset = offset }

  mutating func read(_ letter: Character, _ width: Int, isFixed: Bool, from rest: inout ArraySlice<UInt8>) -> Bool {
    switch letter {
    case "a": return readHalf(&rest)
    case "z", "Z", "X":
      guard let found = Self.zone(&rest) else { return false }
      offset = found
    case "S":
      guard let number = Self.number(&rest, most: isFixed ? width : 9, least: width) else { return false }
      fraction = number.value / number.scale
    default:
      let most = isFixed ? width : letter == "y" ? 9 : 2
      guard let number = Self.number(&rest, most: most, least: letter == "y" && width == 4 ? 4 : 1) else {
        return false
      }
      set(letter, Int(number.value))
    }
    return true
  }

  private mutating func set(_ letter: Character, _ number: Int) {
    switch letter {
    case "y": year = number
    case "M": month = number
    case "d": day = number
    case "m": minute = number
    case "s": second = number
    default: (hour, isHalfDay) = (number, letter == "h")
    }
  }

  private mutating func readHalf(_ rest: inout ArraySlice<UInt8>) -> Bool {
    let half = rest.prefix(2).map { $0 & 0xDF }
    guard half == Array("AM".utf8) || half == Array("PM".utf8) else { return false }
    isAfternoon = half[0] == UInt8(ascii: "P")
    rest = rest.dropFirst(2)
    return true
  }

  private static func number(
    _ rest: inout ArraySlice<UInt8>, most: Int, least: Int
  ) -> (value: Double, scale: Double)? {
    let digits = rest.prefix(most).prefix { $0 >= 48 && $0 < 58 }
    guard digits.count >= least else { return nil }
    rest = rest.dropFirst(digits.count)
    return digits.reduce((0, 1)) { ($0.0 * 10 + Double($1 - 48), $0.1 * 10) }
  }

  /// `Z`, `UTC`, `GMT`, or these with or without an offset `+02`, `+0200`, `+02:00`.
  static func zone(_ rest: inout ArraySlice<UInt8>) -> Int? {
    var isNamed = false
    for name in ["UTC", "GMT", "Z"] where !isNamed && rest.starts(with: name.utf8) {
      rest = rest.dropFirst(name.utf8.count)
      isNamed = true
    }
    guard let sign = rest.first, sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") else {
      return isNamed ? 0 : nil
    }
    rest = rest.dropFirst()
    guard let hours = number(&rest, most: 2, least: 2) else { return nil }
    if rest.first == UInt8(ascii: ":") { rest = rest.dropFirst() }
    let minutes = number(&rest, most: 2, least: 2)?.value ?? 0
    guard hours.value <= 18, minutes < 60 else { return nil }
    let seconds = Int(hours.value) * 3600 + Int(minutes) * 60
    return sign == UInt8(ascii: "-") ? -seconds : seconds
  }

  /// Nil when the fields are no date.
  var seconds: Double? {
    let hour24 = isHalfDay ? hour % 12 + (isAfternoon == true ? 12 : 0) : hour
    guard (1...12).contains(month), day >= 1, day <= Self.days(month, year), hour24 < 24, minute < 60, second < 61,
      !isHalfDay || (1...12).contains(hour)
    else { return nil }
    let clock = hour24 * 3600 + minute * 60 + second - offset
    return Double(
      (Self.dayNumber(year, month: month, day: day) - Self.dayNumber(2001, month: 1, day: 1)) * 86_400 + clock)
      + fraction
  }

  private static func isLeap(_ year: Int) -> Bool { year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) }

  private static func days(_ month: Int, _ year: Int) -> Int {
    month == 2 ? (isLeap(year) ? 29 : 28) : [4, 6, 9, 11].contains(month) ? 30 : 31
  }

  /// Days since the first of March of year 0, in the Gregorian calendar: years that begin in March end with the leap
  /// day.
  static func dayNumber(_ year: Int, month: Int, day: Int) -> Int {
    let (year, month) = month < 3 ? (year - 1, month + 9) : (year, month - 3)
    let floored = year >= 0 ? year / 4 - year / 100 + year / 400 : -1
    return year * 365 + floored + (month * 153 + 2) / 5 + day - 1
  }
}
