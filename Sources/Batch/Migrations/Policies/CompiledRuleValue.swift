import Codecs
import MappingModels
import Streams

/// A value of a rule with names resolved; evaluated once a row.
indirect enum CompiledRuleValue {
  case constant(Value)
  case attribute(StoredAttribute, RuleOrigin)
  case expression(CompiledExpression, [RuleOrigin])
  case date(CompiledRuleValue, DatePattern)
  case cast(CompiledRuleValue, RuleType)
  case sum([CompiledRuleValue])
  case join([CompiledRuleValue], separator: String)
  case split(CompiledRuleValue, separator: String, part: Int)
  case prefix(CompiledRuleValue, Int)
  case lookup(CompiledRuleValue, MappingTable)
  case choice(CompiledCondition, CompiledRuleValue, else: CompiledRuleValue)
  case fallback(CompiledRuleValue, CompiledRuleValue)
  /// A UUID that follows from texts and the keys of the row.
  case uuid([String])
  /// A UUID of version 5, of a namespace and the name of the row.
  case named(UUIDName)
  /// The text of a UUID.
  case uuidText(CompiledRuleValue)
  case scaled(CompiledRuleValue, DateScale)
  case number(CompiledRuleValue, DateScale, isWhole: Bool)
  case formatted(CompiledRuleValue, DatePattern)
  case distance([CompiledRuleValue])
  case fold(CompiledFold)
  /// An attribute of a destination object, as its column holds it.
  case became(CompiledRuleTarget, attribute: String, isExternal: Bool)
  /// A moment, in seconds since 2001, and a microsecond later with each key of the row.
  case moment(Double)
  /// Bytes as a column holds them whose data may lie outside of the store.
  case marked(CompiledRuleValue)

  /// The value for a row. Throws `policyFailed` with entity and key of the source object; never with the value.
  func evaluate(_ row: some RuleScope) throws -> Value {
    switch self {
    case .constant(let value): return value
    case .attribute(let attribute, let origin): return try row.value(attribute, origin)
    case .expression(let expression, let origins): return try row.evaluate(expression, origins)
    case .sum(let values):
      let operands = try values.map { try $0.evaluate(row) }
      return operands.contains(.null) ? .null : try RuleType.total(operands, row)
    case .distance(let values): return try distance(values, row)
    case .fold(let fold): return try row.fold(fold)
    case .became(let target, let attribute, _): return try row.became(target, attribute: attribute)
    case .uuid(let parts): return DerivedUUID.value(parts, keys: row.keys)
    case .marked(let value): return StoredAttribute.inExternalStorage(try value.evaluate(row))
    case .named(let name): return .blob(name.value(row.keys))
    case .moment(let now): return .real(now + Double(row.keys[row.keys.count - 1]) / 1_000_000)
    case .join(let values, let separator):
      let texts = try values.compactMap { try RuleType.text($0.evaluate(row)) }
      return texts.isEmpty ? .null : .text(texts.joined(separator: separator))
    case .choice(let condition, let value, let other):
      return try row.holds(condition) ? value.evaluate(row) : other.evaluate(row)
    case .fallback(let value, let other):
      let found = try value.evaluate(row)
      return found == .null ? try other.evaluate(row) : found
    case .date(let value, _), .cast(let value, _), .split(let value, _, _), .prefix(let value, _),
      .lookup(let value, _), .uuidText(let value), .scaled(let value, _), .number(let value, _, _),
      .formatted(let value, _):
      let operand = try value.evaluate(row)
      return operand == .null ? .null : try changed(operand, row)
    }
  }

  /// What becomes of the one operand of a form, which is not NULL.
  private func changed(_ operand: Value, _ row: some RuleScope) throws -> Value {
    switch self {
    case .cast(_, let type):
      if let found = type.cast(operand) { return found }
      throw row.failure(
        "a value cannot be cast to \(type)", "It is no \(type); give such rows a value with if, or mend them")
    case .scaled, .number, .formatted: return try dated(operand, row)
    case .uuidText:
      if case .blob(let bytes) = operand, let text = UUIDText.text(bytes) { return .text(text) }
      throw row.failure("bytes are no UUID", "Give such rows a value with if, or mend them")
    default: return try changedText(operand, row)
    }
  }

  /// A number as a date, or a date as a number or a text.
  private func dated(_ operand: Value, _ row: some RuleScope) throws -> Value {
    guard let number = RuleType.number(operand) else {
      throw row.failure("a value that is to be a date is no number", "Give such rows a value with if, or mend them")
    }
    let found: Value? =
      switch self {
      case .scaled(_, let scale): scale.seconds(number).map { .real($0) }
      case .number(_, let scale, let isWhole): scale.number(RuleType.double(number), isWhole: isWhole)
      case .formatted(_, let pattern): pattern.string(RuleType.double(number)).map { .text($0) }
      default: nil
      }
    if let found { return found }
    throw row.failure("a date is too far away for this form", "Give such rows a value with if, or mend them")
  }

  private func changedText(_ operand: Value, _ row: some RuleScope) throws -> Value {
    guard let text = RuleType.text(operand) else { throw row.failure("bytes are no text") }
    switch self {
    case .date(_, let pattern):
      if let seconds = pattern.seconds(text) { return .real(seconds) }
      throw row.failure(
        "a text is no date of the format \(pattern.text)", "Give such rows a value with if, or mend them")
    case .split(_, let separator, let part):
      // By bytes, as predicates compare: a line feed is one behind a carriage return, too.
      let parts = Array(text.utf8).split(separator: Array(separator.utf8), omittingEmptySubsequences: false)
      let index = part > 0 ? part - 1 : parts.count + part
      return parts.indices.contains(index) ? .text(String(decoding: parts[index], as: UTF8.self)) : .null
    case .prefix(_, let length): return .text(String(text.prefix(length)))
    case .lookup(_, let table): return table[text].map { .text($0) } ?? .null
    default: return operand
    }
  }

  private func distance(_ values: [CompiledRuleValue], _ row: some RuleScope) throws -> Value {
    let operands = try values.map { try $0.evaluate(row) }
    if operands.contains(.null) { return .null }
    let numbers = operands.compactMap { RuleType.number($0).map(RuleType.double) }
    guard numbers.count == 4 else {
      throw row.failure("a degree of a distance is no number", "Give such rows a value with if, or mend them")
    }
    return .real(EarthDistance.metres((numbers[0], numbers[1]), (numbers[2], numbers[3])))
  }

  /// Whether it follows from the row alone: no expression is evaluated, and no other row is read.
  var isPlain: Bool {
    switch self {
    case .constant, .uuid, .named, .moment: true
    case .attribute(_, let origin): origin == .source
    case .expression, .choice, .fold, .became: false
    case .sum(let values), .join(let values, _), .distance(let values): values.allSatisfy(\.isPlain)
    case .fallback(let value, let other): value.isPlain && other.isPlain
    case .date(let value, _), .cast(let value, _), .split(let value, _, _), .prefix(let value, _),
      .lookup(let value, _), .uuidText(let value), .scaled(let value, _), .number(let value, _, _),
      .formatted(let value, _):
      value.isPlain
    case .marked(let value): value.isPlain
    }
  }

  /// The same as a column holds it whose data may lie outside of the store.
  var inExternalStorage: CompiledRuleValue {
    switch self {
    case .constant(let value): .constant(StoredAttribute.inExternalStorage(value))
    case .choice(let condition, let value, let other):
      .choice(condition, value.inExternalStorage, else: other.inExternalStorage)
    case .fallback(let value, let other): .fallback(value.inExternalStorage, other.inExternalStorage)
    case .fold(let fold): .fold(fold.inExternalStorage)
    default: mayLieOutside ? self : .marked(self)
    }
  }

  /// Whether it may be what lies outside of the store.
  var mayLieOutside: Bool {
    switch self {
    case .attribute(let attribute, _): attribute.isExternal
    case .became(_, _, let isExternal): isExternal
    case .choice(_, let value, let other), .fallback(let value, let other):
      value.mayLieOutside || other.mayLieOutside
    case .fold(let fold): fold.value.mayLieOutside
    default: false
    }
  }
}
