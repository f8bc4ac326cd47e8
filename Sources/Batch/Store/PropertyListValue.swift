/// A value of a property list, exactly as a binary one tells them apart: what is read is what is written again.
public enum PropertyListValue: Sendable, Hashable {
  case string(String)
  /// Any integer that fits.
  case integer(Int64)
  /// An integer above `Int64.max`.
  case unsigned(UInt64)
  case real(Double)
  case boolean(Bool)
  /// Seconds since 2001-01-01 UTC.
  case date(Double)
  case data([UInt8])
  case array([PropertyListValue])
  case dictionary([String: PropertyListValue])
}
