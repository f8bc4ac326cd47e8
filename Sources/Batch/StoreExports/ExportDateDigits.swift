/// Reads the parts of a date from its text.
struct ExportDateDigits {
  private let text: UnsafeBufferPointer<UInt8>
  private var place = 0

  init(_ text: UnsafeBufferPointer<UInt8>) { self.text = text }

  var isAtEnd: Bool { place == text.count }

  /// A number of exactly so many digits.
  mutating func number(_ count: Int) -> Int64? {
    guard place + count <= text.count else { return nil }
    var number: Int64 = 0
    for digit in text[place..<place + count] {
      guard (0x30...0x39).contains(digit) else { return nil }
      number = number * 10 + Int64(digit - 0x30)
    }
    place += count
    return number
  }

  /// Whether this byte comes next; it is passed then.
  mutating func mark(_ byte: UInt8) -> Bool {
    guard place < text.count, text[place] == byte else { return false }
    place += 1
    return true
  }

  /// `HH:MM`, `HH:MM:SS`, a fraction, and `Z` or an offset, to the end.
  mutating func time() -> (seconds: Int64, fraction: Double)? {
    guard let hour = number(2), mark(0x3A), let minute = number(2), hour < 24, minute < 60 else { return nil }
    var (seconds, fraction) = (hour * 3600 + minute * 60, 0.0)
    if mark(0x3A) {
      guard let second = number(2), second < 60 else { return nil }
      seconds += second
      if mark(0x2E) {
        guard let part = self.fraction() else { return nil }
        fraction = part
      }
    }
    guard let offset = offset(), isAtEnd else { return nil }
    return (seconds - offset, fraction)
  }

  private mutating func fraction() -> Double? {
    var (number, unit) = (0.0, 1.0)
    while place < text.count, (0x30...0x39).contains(text[place]) {
      guard unit < 1e9 else { return nil }
      number = number * 10 + Double(text[place] - 0x30)
      unit *= 10
      place += 1
    }
    return unit > 1 ? number / unit : nil
  }

  private mutating func offset() -> Int64? {
    if isAtEnd || mark(0x5A) { return 0 }
    let isWest = mark(0x2D)
    guard isWest || mark(0x2B), let hour = number(2) else { return nil }
    _ = mark(0x3A)
    guard let minute = number(2), hour < 24, minute < 60 else { return nil }
    return (hour * 3600 + minute * 60) * (isWest ? -1 : 1)
  }
}
