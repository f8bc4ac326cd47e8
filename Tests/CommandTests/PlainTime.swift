/// Times in ISO 8601 by arithmetic of the tests' own: Foundation takes those before 1582 for another calendar's.
enum PlainTime {
  /// Seconds since 1970 for `2019-01-14T20:01:30.058821Z`.
  static func seconds(_ text: String) -> Double? {
    guard
      let found = text.wholeMatch(of: /([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})(\.[0-9]{6})Z/),
      let year = Int(found.1), let month = Int(found.2), let day = Int(found.3), let hour = Int(found.4),
      let minute = Int(found.5), let second = Int(found.6), let fraction = Double("0" + found.7)
    else { return nil }
    // Years begin with March, so that the day that some years have is their last.
    let (shifted, index) = month > 2 ? (year, month - 3) : (year - 1, month + 9)
    let leaps = (shifted + 400) / 4 - (shifted + 400) / 100 + (shifted + 400) / 400 - 97
    let days = shifted * 365 + leaps + (153 * index + 2) / 5 + day - 1 - 719_468
    return Double(days * 86400 + hour * 3600 + minute * 60 + second) + fraction
  }
}
