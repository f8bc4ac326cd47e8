import CoreDataModel
import Streams

/// What a computed value is: a number alone does not say from when it counts where a date is wanted.
package enum Measure: Sendable {
  case date
  case number
  /// A UUID, which becomes a text where texts are wanted.
  case uuid
  case text
  case boolean
  /// Binary data, or the archive of a transformable.
  case bytes
  /// Not known before the rows are read.
  case other

  /// With an article, as messages say it.
  package var noun: String {
    switch self {
    case .date: "a date"
    case .number: "a number"
    case .uuid: "a UUID"
    case .text: "a text"
    case .boolean: "a Boolean"
    case .bytes: "bytes"
    case .other: "a value"
    }
  }

  /// Seconds from 1970 to 2001: an expression that adds or subtracts them says which epoch it means.
  static let secondsTo2001 = 978_307_200.0

  /// How a number becomes a date.
  package static let hint =
    "In a mapping file write { date: $source.NAME, epoch: unix, unit: ms } for milliseconds since 1970, unit: s for seconds, "
    + "epoch: 2001 for seconds since 2001; in an expression $source.NAME / 1000.0 - 978307200, $source.NAME - 978307200, "
    + "CAST($source.NAME, \"NSDate\")"

  /// What arithmetic makes of measures: a date stays one.
  static func combined(_ measures: [Measure]) -> Measure {
    if measures.contains(.date) { return .date }
    return measures.allSatisfy { $0 == .number } ? .number : .other
  }

  /// Of one value or another.
  static func either(_ yes: Measure, _ no: Measure) -> Measure {
    if yes == .number || no == .number { return .number }
    if yes == .uuid || no == .uuid { return .uuid }
    return yes == no ? yes : .other
  }

  /// Of the values of an attribute.
  package static func of(_ type: AttributeType?) -> Measure {
    switch type {
    case .date: .date
    case .integer16, .integer32, .integer64, .double, .float, .decimal: .number
    case .uuid: .uuid
    case .string, .uri: .text
    case .boolean: .boolean
    case .binaryData, .transformable: .bytes
    case nil, .undefined, .objectID, .composite: .other
    }
  }

  private static func of(_ number: Double) -> Measure { number.magnitude == secondsTo2001 ? .date : .number }

  private static let arithmetic: Set<String> = [
    "add:to:", "from:subtract:", "multiply:by:", "divide:by:", "modulus:by:", "raise:toPower:", "abs:", "ceiling:",
    "floor:",
    "trunc:",
    "sqrt:",
  ]

  /// Of an expression whose `$source` is an object of an entity of the model, and `$item` one of another.
  package static func of(_ expression: Expression, _ model: ManagedObjectModel, source: String, item: String? = nil)
    -> Measure
  {
    switch expression {
    case .constant(.integer(let integer)): return of(Double(integer))
    case .constant(.real(let double)): return of(double)
    case .decimal(let digits): return Double(digits).map(of) ?? .other
    case .date: return .date
    case .keyPath(.variable(let name), let path):
      guard var entity = name == "source" ? source : name == "item" ? item : nil, let last = path.last else {
        return .other
      }
      for step in path.dropLast() {
        guard let relationship = model.relationship(step, of: entity) else { return .other }
        entity = relationship.destinationEntity
      }
      return of(model.attribute(last, of: entity)?.type)
    case .function(nil, "castObject:toType:", let arguments):
      guard arguments.count == 2, case .constant(.text(let type)) = arguments[1] else { return .other }
      return type == "NSDate" ? .date : type == "NSNumber" || type == "NSDecimalNumber" ? .number : .other
    case .function(nil, let name, let arguments) where arithmetic.contains(name):
      return combined(arguments.map { of($0, model, source: source, item: item) })
    default: return .other
    }
  }
}

extension RuleValue {
  /// What the value is; a constant is what its author says. `other` tells of folds, and of values of the destination.
  package func measure(_ expression: (Expression) -> Measure, other: (RuleValue) -> Measure) -> Measure {
    func inner(_ value: RuleValue) -> Measure { value.measure(expression, other: other) }
    return switch self {
    case .expression(.constant), .expression(.decimal), .undecided: .other
    case .expression(let value): expression(value)
    case .date, .moment, .perRow(.date): .date
    case .uuid, .perRow(.uuid), .cast(_, .uuid): .uuid
    case .cast(_, .integer), .cast(_, .double), .number, .distance: .number
    case .cast(_, .text), .cast(_, .uri), .join, .split, .prefix, .lookup, .formatted: .text
    case .cast(_, .boolean): .boolean
    case .sum(let values): Measure.combined(values.map(inner))
    case .choice(_, let yes, let no): Measure.either(inner(yes), inner(no))
    case .fallback(let value, _), .when(_, let value): inner(value)
    case .fold, .became: other(self)
    }
  }
}
