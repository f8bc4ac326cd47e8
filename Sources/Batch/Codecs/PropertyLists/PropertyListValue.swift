/// A value of a property list, exactly as a binary one tells them apart: what is read is what is written again.
public enum PropertyListValue: Sendable, Hashable {
  case string(String)
  /// Any integer that fits.
  case integer(Int64)
  /// An integer above `Int64.max`.
  case unsigned(UInt64)
  /// An integer of 128 bits in two's complement that fits neither.
  case wide(high: UInt64, low: UInt64)
  case real(Double)
  /// A number of 32 bits.
  case float(Float)
  case boolean(Bool)
  /// Seconds since 2001-01-01 UTC.
  case date(Double)
  case data([UInt8])
  case array([PropertyListValue])
  case dictionary([String: PropertyListValue])
  /// The members in the order of the file.
  case set([PropertyListValue])
  case orderedSet([PropertyListValue])
  /// A reference into the table of objects of a keyed archive.
  case uid(Int)
  case null
}
