import Codecs
import MappingModels
import Streams

extension RuleType {
  /// Nil if the value is none of this type.
  func cast(_ value: Value) -> Value? {
    switch self {
    case .text: RuleType.text(value).map { .text($0) }
    case .uuid: Self.uuid(value)
    case .uri:
      if case .text(let text) = value, Self.isURI(text) { value } else { nil }
    case .double: Self.number(value).map { .real(Self.double($0)) }
    case .integer:
      switch Self.number(value) {
      case .integer(let integer)?: .integer(integer)
      case .real(let double)?: Int64(exactly: double.rounded(.towardZero)).map { .integer($0) }
      default: nil
      }
    case .boolean:
      if case .text(let text) = value, let word = Self.words[text.lowercased()] {
        .integer(word)
      } else {
        Self.number(value).map { .integer(Self.double($0) == 0 ? 0 : 1) }
      }
    }
  }

  private static let words: [String: Int64] = ["true": 1, "yes": 1, "false": 0, "no": 0]

  /// A number, or a text that is written as one; nil for everything else.
  static func number(_ value: Value) -> Value? {
    guard case .text(let text) = value else { return isNumber(value) ? value : nil }
    if let integer = Int64(text) { return .integer(integer) }
    // Double reads more than numbers: names, and hexadecimal digits.
    let isPlain = text.utf8.allSatisfy { ($0 >= 48 && $0 < 58) || [43, 45, 46, 69, 101].contains($0) }
    return isPlain ? Double(text).flatMap { $0.isFinite ? .real($0) : nil } : nil
  }

  static func double(_ value: Value) -> Double {
    switch value {
    case .integer(let integer): Double(integer)
    case .real(let double): double
    default: 0
    }
  }

  private static func uuid(_ value: Value) -> Value? {
    switch value {
    case .text(let text): UUIDText.bytes(text).map { .blob($0) }
    case .blob(let bytes): bytes.count == 16 ? value : nil
    case .null, .integer, .real: nil
    }
  }

  private static func isNumber(_ value: Value) -> Bool {
    switch value {
    case .integer, .real: true
    case .null, .text, .blob: false
    }
  }

  /// A text, or a number as text; nil for NULL and bytes.
  static func text(_ value: Value) -> String? {
    switch value {
    case .text(let text): text
    case .integer(let integer): String(integer)
    case .real(let double): Int64(exactly: double).map { String($0) } ?? String(double)
    case .null, .blob: nil
    }
  }

  /// Numbers added up, texts that are written as numbers among them. Throws what `row` says of anything else.
  static func total(_ operands: [Value], _ row: some RuleScope) throws -> Value {
    var total = Value.integer(0)
    for operand in operands {
      guard let number = number(operand) else {
        throw row.failure("a value that is added up is no number", "Give such rows a value with if, or mend them")
      }
      switch (total, number) {
      case (.integer(let left), .integer(let right)):
        let (sum, overflow) = left.addingReportingOverflow(right)
        guard !overflow else { throw row.failure("a sum exceeds 64 bits") }
        total = .integer(sum)
      default: total = .real(double(total) + double(number))
      }
    }
    return total
  }
}
