import Foundation
import Streams

/// Turns the text of a default value into the value that a store would hold (B.4).
enum DefaultValue {
  /// Nil when the text does not fit the type. Types that have no text form keep the text.
  static func parse(_ text: String, _ type: AttributeType) -> Value? {
    switch type {
    case .integer16, .integer32, .integer64: return integer(text).map(Value.integer)
    case .boolean: return integer(text).map { .integer($0 == 0 ? 0 : 1) }
    case .double, .decimal:
      return Double(text).flatMap { $0.isFinite ? .real($0) : nil }
    case .float:
      return Float(text).flatMap { $0.isFinite ? .real(Double($0)) : nil }
    case .date: return Double(text).flatMap { $0.isFinite ? .real($0) : nil }
    case .uuid:
      guard let uuid = UUID(uuidString: text) else { return nil }
      return withUnsafeBytes(of: uuid.uuid) { .blob(Array($0)) }
    default: return .text(text)
    }
  }

  /// Xcode also writes `0.0` and `NO` for integers that were of another type before.
  private static func integer(_ text: String) -> Int64? {
    if let value = Int64(text) { return value }
    if let value = XMLAttributes.truth(text) { return value ? 1 : 0 }
    return Double(text).flatMap { Int64(exactly: $0) }
  }
}
