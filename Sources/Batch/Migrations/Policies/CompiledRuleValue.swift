import MappingModels
import Streams

/// A value of a rule with names resolved; evaluated once a row.
indirect enum CompiledRuleValue {
  case constant(Value)
  case attribute(StoredAttribute, ofItem: Bool)
  case expression(CompiledExpression, usesItem: Bool)
  case date(CompiledRuleValue, DatePattern)
  case cast(CompiledRuleValue, RuleType)
  case sum([CompiledRuleValue])
  case join([CompiledRuleValue], separator: String)
  case split(CompiledRuleValue, separator: String, part: Int)
  case prefix(CompiledRuleValue, Int)
  case lookup(CompiledRuleValue, MappingTable)
  case choice(CompiledPredicate, CompiledRuleValue, else: CompiledRuleValue)
  case fallback(CompiledRuleValue, CompiledRuleValue)
  /// A UUID that follows from texts and the keys of the row.
  case uuid([String])
  /// A moment, in seconds since 2001, and a microsecond later with each key of the row.
  case moment(Double)

  /// The value for a row. Throws `policyFailed` with entity and key of the source object; never with the value.
  func evaluate(_ row: RuleRow) throws -> Value {
    switch self {
    case .constant(let value): return value
    case .attribute(let attribute, let ofItem): return try row.origin(ofItem).value(attribute)
    case .expression(let expression, let usesItem):
      return try row.evaluating(usesItem) { try expression.evaluate($0).single() }
    case .sum(let values): return try sum(values, row)
    case .uuid(let parts): return DerivedUUID.value(parts, keys: [row.source.key] + (row.item.map { [$0.key] } ?? []))
    case .moment(let now): return .real(now + Double((row.item ?? row.source).key) / 1_000_000)
    case .join(let values, let separator):
      let texts = try values.compactMap { try Self.text($0.evaluate(row)) }
      return texts.isEmpty ? .null : .text(texts.joined(separator: separator))
    case .choice(let condition, let value, let other):
      return try row.holds(condition) ? value.evaluate(row) : other.evaluate(row)
    case .fallback(let value, let other):
      let found = try value.evaluate(row)
      return found == .null ? try other.evaluate(row) : found
    case .date(let value, _), .cast(let value, _), .split(let value, _, _), .prefix(let value, _),
      .lookup(let value, _):
      let operand = try value.evaluate(row)
      return operand == .null ? .null : try changed(operand, row)
    }
  }

  /// What becomes of the one operand of a form, which is not NULL.
  private func changed(_ operand: Value, _ row: RuleRow) throws -> Value {
    if case .cast(_, let type) = self {
      if let found = type.cast(operand) { return found }
      throw row.failure(
        "a value cannot be cast to \(type)", "It is no \(type); give such rows a value with if, or mend them")
    }
    guard let text = Self.text(operand) else { throw row.failure("bytes are no text") }
    switch self {
    case .date(_, let pattern):
      if let seconds = pattern.seconds(text) { return .real(seconds) }
      throw row.failure(
        "a text is no date of the format \(pattern.text)", "Give such rows a value with if, or mend them")
    case .split(_, let separator, let part):
      let parts = text.split(separator: separator, omittingEmptySubsequences: false)
      let index = part > 0 ? part - 1 : parts.count + part
      return parts.indices.contains(index) ? .text(String(parts[index])) : .null
    case .prefix(_, let length): return .text(String(text.prefix(length)))
    case .lookup(_, let table): return table.entries[text].map { .text($0) } ?? .null
    default: return operand
    }
  }

  private func sum(_ values: [CompiledRuleValue], _ row: RuleRow) throws -> Value {
    var total = Value.integer(0)
    for value in values {
      let operand = try value.evaluate(row)
      guard operand != .null else { return .null }
      guard let number = RuleType.number(operand) else {
        throw row.failure("a value that is added up is no number", "Give such rows a value with if, or mend them")
      }
      switch (total, number) {
      case (.integer(let left), .integer(let right)):
        let (sum, overflow) = left.addingReportingOverflow(right)
        guard !overflow else { throw row.failure("a sum exceeds 64 bits") }
        total = .integer(sum)
      default: total = .real(RuleType.double(total) + RuleType.double(number))
      }
    }
    return total
  }

  /// A text, or a number as text; nil for NULL and bytes.
  fileprivate static func text(_ value: Value) -> String? {
    switch value {
    case .text(let text): text
    case .integer(let integer): String(integer)
    case .real(let double): Int64(exactly: double).map { String($0) } ?? String(double)
    case .null, .blob: nil
    }
  }
}

extension RuleType {
  /// Nil if the value is none of this type.
  fileprivate func cast(_ value: Value) -> Value? {
    switch self {
    case .text: CompiledRuleValue.text(value).map { .text($0) }
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
  fileprivate static func number(_ value: Value) -> Value? {
    guard case .text(let text) = value else { return value.isNumber ? value : nil }
    if let integer = Int64(text) { return .integer(integer) }
    // Double reads more than numbers: names, and hexadecimal digits.
    let isPlain = text.utf8.allSatisfy { ($0 >= 48 && $0 < 58) || [43, 45, 46, 69, 101].contains($0) }
    return isPlain ? Double(text).flatMap { $0.isFinite ? .real($0) : nil } : nil
  }

  fileprivate static func double(_ value: Value) -> Double {
    switch value {
    case .integer(let integer): Double(integer)
    case .real(let double): double
    default: 0
    }
  }
}

extension Value {
  fileprivate var isNumber: Bool {
    switch self {
    case .integer, .real: true
    default: false
    }
  }
}
