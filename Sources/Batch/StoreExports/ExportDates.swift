/// How an export writes dates.
public enum ExportDates: String, Sendable, CaseIterable {
  /// ISO 8601 in UTC with microseconds.
  case iso
  /// Seconds since 2001 as the store holds them, exactly.
  case seconds
}
