import Codecs
import Foundation

/// Values of metadata as people write and read them.
extension PropertyListValue {
  /// The types that have a text: all but containers.
  public enum Scalar: String, Sendable, CaseIterable {
    case string, integer, real, boolean, date, data

    /// How a value is written.
    public var form: String {
      switch self {
      case .string: "a text"
      case .integer: "a whole number"
      case .real: "a number"
      case .boolean: "true or false"
      case .date: "a date as 2026-01-31 or 2026-01-31T12:00:00Z"
      case .data: "bytes in base64"
      }
    }
  }

  /// The type's name: one of ``Scalar``, `array` or `dictionary`.
  public var typeName: String {
    switch self {
    case .string: "string"
    case .integer, .unsigned, .wide: "integer"
    case .real, .float: "real"
    case .boolean: "boolean"
    case .date: "date"
    case .data: "data"
    case .array: "array"
    case .dictionary: "dictionary"
    case .set, .orderedSet: "set"
    case .uid: "reference"
    case .null: "null"
    }
  }

  /// The text of a value that is no container: dates in ISO 8601 (UTC), data in base64. What has no such text, as a
  /// date beyond year 9999, is a number. Nil for containers.
  public var scalarText: String? {
    switch self {
    case .string(let text): text
    case .integer(let number): "\(number)"
    case .unsigned(let number): "\(number)"
    case .wide(let high, let low): "\(Int128(Int64(bitPattern: high)) << 64 | Int128(low))"
    case .real(let number): "\(number)"
    case .float(let number): "\(number)"
    case .boolean(let flag): "\(flag)"
    case .date(let seconds): ExportDate.text(seconds).map { String(decoding: $0, as: UTF8.self) } ?? "\(seconds)"
    case .data(let bytes): Data(bytes).base64EncodedString()
    case .uid(let number): "\(number)"
    case .null: "null"
    case .array, .dictionary, .set, .orderedSet: nil
    }
  }

  /// Reads a value of a type from its text; nil when it is none.
  public init?(_ text: String, as type: Scalar) {
    switch type {
    case .string: self = .string(text)
    case .integer:
      if let number = Int64(text) {
        self = .integer(number)
      } else if let number = UInt64(text) {
        self = .unsigned(number)
      } else {
        return nil
      }
    case .real:
      guard let number = Double(text) else { return nil }
      self = .real(number)
    case .boolean:
      guard let flag = XMLAttributes.truth(text) ?? ["1": true, "0": false][text] else { return nil }
      self = .boolean(flag)
    case .date:
      guard let seconds = ExportDate.seconds(text) else { return nil }
      self = .date(seconds)
    case .data:
      guard let data = Data(base64Encoded: text) else { return nil }
      self = .data([UInt8](data))
    }
  }
}
