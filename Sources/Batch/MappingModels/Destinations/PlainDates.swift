/// How dates are written into ordinary tables.
public enum PlainDates: String, Sendable, Codable, CaseIterable {
  /// ISO 8601 in UTC with microseconds, as text: `2019-01-14T20:01:30.058821Z`.
  case iso
  /// Seconds since 1970 with their fraction, as a number.
  case unix
}
