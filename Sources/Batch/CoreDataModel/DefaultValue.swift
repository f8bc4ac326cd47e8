import Codecs
import Foundation
import Streams

/// Texts of values in model files, and the values that a store would hold for them (B.4).
package enum DefaultValue {
  /// Nil when the text does not fit the type. Types that have no text form keep the text.
  static func parse(_ text: String, _ type: AttributeType) -> Value? {
    switch type {
    case .integer16, .integer32, .integer64: return integer(text).map(Value.integer)
    case .boolean: return integer(text).map { .integer($0 == 0 ? 0 : 1) }
    case .double, .decimal, .date: return real(text).map(Value.real)
    case .float:
      return Float(text).flatMap { $0.isFinite ? .real(Double($0)) : nil }
    case .uuid:
      guard let uuid = UUID(uuidString: text) else { return nil }
      return withUnsafeBytes(of: uuid.uuid) { .blob(Array($0)) }
    case .undefined, .string, .binaryData, .uri, .transformable, .objectID, .composite: return .text(text)
    }
  }

  /// The text of a value as Xcode writes it; parsing it gives the value again. Nil for what has no text form.
  package static func text(_ value: Value, _ type: AttributeType) -> String? {
    switch (value, type) {
    case (.integer(let number), .boolean): return number == 0 ? "NO" : "YES"
    case (.integer(let number), _): return String(number)
    case (.real(let number), .float): return Float(number).description
    case (.real(let number), .date): return seconds(number)
    case (.real(let number), _): return number.description
    case (.text(let text), _): return text
    case (.blob(let bytes), .uuid) where bytes.count == 16:
      return UUID(uuid: bytes.withUnsafeBytes { $0.loadUnaligned(as: uuid_t.self) }).uuidString
    case (.blob, _), (.null, _): return nil
    }
  }

  /// A bound of validation: of a string its length, of a decimal that no Double holds exactly the text. Nil when the
  /// text is no bound of the type.
  static func bound(_ text: String, _ type: AttributeType) -> Value? {
    switch type {
    case .string: return integer(text).map(Value.integer)
    case .decimal: return exactDecimal(text).map(Value.text) ?? parse(text, type)
    case .integer16, .integer32, .integer64, .double, .float, .date: return parse(text, type)
    case .undefined, .boolean, .binaryData, .uuid, .uri, .transformable, .objectID, .composite: return nil
    }
  }

  /// The text of a decimal whose digits a Double does not give back; nil for all others.
  static func exactDecimal(_ text: String) -> String? {
    guard let number = real(text), let wanted = Decimal(string: text), !wanted.isNaN else { return nil }
    return Decimal(string: number.description) == wanted ? nil : text
  }

  /// Whole seconds stand in model files without a fraction.
  private static func seconds(_ number: Double) -> String {
    Int64(exactly: number).map(String.init) ?? number.description
  }

  private static func real(_ text: String) -> Double? { Double(text).flatMap { $0.isFinite ? $0 : nil } }

  /// Xcode also writes `0.0` and `NO` for integers that were of another type before.
  private static func integer(_ text: String) -> Int64? {
    if let value = Int64(text) { return value }
    if let value = XMLAttributes.truth(text) { return value ? 1 : 0 }
    return Double(text).flatMap { Int64(exactly: $0) }
  }
}
