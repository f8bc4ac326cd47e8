import Codecs
import Streams

/// Values of attributes in compiled models: defaults, and bounds of validation.
enum CompiledValue {
  /// The value, and the digits of a decimal that no Double holds; nil for what an attribute of the type cannot have.
  static func read(_ object: KeyedObject, _ type: AttributeType) -> (value: Value, exact: String?)? {
    switch type {
    case .integer16, .integer32, .integer64: return object.integer.map { (.integer($0), nil) }
    case .boolean: return object.boolean.map { (.integer($0 ? 1 : 0), nil) }
    case .double, .float: return (number(object)?.value).map { ($0, nil) }
    case .decimal: return number(object)
    case .date: return (object.date ?? object.real).flatMap { $0.isFinite ? (.real($0), nil) : nil }
    case .uuid: return (object["NS.uuidbytes"]?.data).flatMap { $0.count == 16 ? (.blob($0), nil) : nil }
    case .uri: return (object["NS.relative"]?.string ?? object.string).map { (.text($0), nil) }
    case .string: return object.string.map { (.text($0), nil) }
    case .binaryData, .undefined, .transformable, .objectID, .composite:
      if let text = object.string { return (.text(text), nil) }
      return object.data.map { (.blob($0), nil) }
    }
  }

  private static func number(_ object: KeyedObject) -> (value: Value, exact: String?)? {
    if let digits = ArchivedDecimal.text(object), let number = Double(digits) {
      return (.real(number), DefaultValue.exactDecimal(digits))
    }
    return object.real.flatMap { $0.isFinite ? (.real($0), nil) : nil }
  }

  static func write(_ attribute: AttributeDescription, to builder: inout ArchiveBuilder) -> PropertyListValue {
    switch (attribute.defaultValue, attribute.type) {
    case (nil, _), (.null, _): return ArchiveBuilder.null
    case (.integer(let number), .boolean): return builder.scalar(.boolean(number != 0))
    case (.integer(let number), _): return builder.scalar(.integer(number))
    case (.real(let number), .decimal): return builder.decimal(attribute.exactDefaultValue ?? number.description)
    case (.real(let seconds), .date): return builder.date(seconds)
    case (.real(let number), .float): return builder.scalar(.float(Float(number)))
    case (.real(let number), _): return builder.scalar(.real(number))
    case (.text(let text), .uri):
      let fields = ["NS.base": ArchiveBuilder.null, "NS.relative": builder.text(text)]
      return builder.object(["NSURL", "NSObject"], fields)
    case (.text(let text), _): return builder.text(text)
    case (.blob(let bytes), .uuid): return builder.object(["NSUUID", "NSObject"], ["NS.uuidbytes": .data(bytes)])
    case (.blob(let bytes), _): return builder.scalar(.data(bytes))
    }
  }
}

extension AttributeDescription {
  private static let length = Expression.keyPath(operand: .evaluatedObject, path: ["length"])

  /// Takes a bound in one of the forms that Xcode makes of minimum, maximum and pattern; false for any other predicate,
  /// and for a bound that is there already.
  mutating func takeBound(_ predicate: Predicate) -> Bool {
    guard case .compare(let left, let operation, let right) = predicate, operation.modifier == .direct,
      operation.options == 0
    else { return false }
    if type == .string, left == .evaluatedObject, operation.comparison == .matches, regularExpression == nil,
      case .constant(.text(let pattern)) = right
    {
      regularExpression = pattern
      return true
    }
    guard left == (type == .string ? Self.length : .evaluatedObject), let bound = bound(right) else { return false }
    switch operation.comparison {
    case .greaterOrEqual where minimumValue == nil: minimumValue = bound
    case .lessOrEqual where maximumValue == nil: maximumValue = bound
    default: return false
    }
    return true
  }

  private func bound(_ expression: Expression) -> Value? {
    switch (expression, type) {
    case (.constant(.integer(let number)), .string), (.constant(.integer(let number)), .integer16),
      (.constant(.integer(let number)), .integer32), (.constant(.integer(let number)), .integer64):
      return .integer(number)
    case (.constant(.integer(let number)), .double), (.constant(.integer(let number)), .float),
      (.constant(.integer(let number)), .decimal), (.constant(.integer(let number)), .date):
      return .real(Double(number))
    case (.constant(.real(let number)), .double), (.constant(.real(let number)), .float),
      (.constant(.real(let number)), .decimal), (.constant(.real(let number)), .date), (.date(let number), .date):
      return .real(number)
    case (.decimal(let digits), .decimal):
      return DefaultValue.exactDecimal(digits).map { .text($0) } ?? Double(digits).map { .real($0) }
    case (.decimal(let digits), .double), (.decimal(let digits), .float): return Double(digits).map { .real($0) }
    default: return nil
    }
  }

  /// Minimum, maximum and pattern as the predicates that Xcode makes of them, each with the number of its error.
  var bounds: [(predicate: Predicate, error: Int64)] {
    var found: [(predicate: Predicate, error: Int64)] = []
    let errors: (low: Int64, high: Int64) =
      type == .string ? (1670, 1660) : type == .date ? (1640, 1630) : (1620, 1610)
    let subject = type == .string ? Self.length : .evaluatedObject
    if let minimumValue {
      found.append((.compare(subject, .init(comparison: .greaterOrEqual), constant(minimumValue)), errors.low))
    }
    if let maximumValue {
      found.append((.compare(subject, .init(comparison: .lessOrEqual), constant(maximumValue)), errors.high))
    }
    if let regularExpression {
      found.append((.compare(.evaluatedObject, .init(comparison: .matches), .constant(.text(regularExpression))), 1680))
    }
    return found
  }

  private func constant(_ value: Value) -> Expression {
    switch (value, type) {
    case (.text(let digits), .decimal): return .decimal(digits)
    case (.real(let number), .decimal): return .decimal(number.description)
    case (.real(let seconds), .date): return .date(seconds)
    default: return .constant(value)
    }
  }
}
