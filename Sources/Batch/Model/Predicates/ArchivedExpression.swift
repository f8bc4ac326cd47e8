import Streams

/// An NSExpression as archives hold it, and as predicate format writes it.
indirect enum ArchivedExpression: Sendable, Equatable {
  case constant(Value)
  /// The digits of an NSDecimalNumber.
  case decimal(String)
  /// Seconds since 2001-01-01 UTC.
  case date(Double)
  /// `SELF`
  case evaluatedObject
  /// The name without the dollar sign.
  case variable(String)
  /// Key paths of `SELF` are written without it.
  case keyPath(operand: ArchivedExpression, path: String)
  /// A function by name such as `now` or `count:`, or a method of an operand.
  case function(operand: ArchivedExpression?, name: String, arguments: [ArchivedExpression])
  /// `{1, 2}`
  case aggregate([ArchivedExpression])
  case subquery(collection: ArchivedExpression, variable: String, predicate: ArchivedPredicate)

  /// A key path inside another one is one key path.
  static func path(_ operand: ArchivedExpression, _ path: String) -> ArchivedExpression {
    guard case .keyPath(let inner, let start) = operand else { return .keyPath(operand: operand, path: path) }
    return .keyPath(operand: inner, path: "\(start).\(path)")
  }
}

/// An NSPredicate as archives hold it, and as predicate format writes it.
indirect enum ArchivedPredicate: Sendable, Equatable {
  /// NSPredicateOperatorType.
  enum Comparison: Int64, Sendable {
    case less = 0
    case lessOrEqual = 1
    case greater = 2
    case greaterOrEqual = 3
    case equal = 4
    case notEqual = 5
    case matches = 6
    case like = 7
    case beginsWith = 8
    case endsWith = 9
    case isIn = 10
    case contains = 99
    case between = 100
  }

  /// NSComparisonPredicateModifier.
  enum Modifier: Int64, Sendable {
    case direct = 0
    case all = 1
    case any = 2
  }

  /// NSCompoundPredicateType.
  enum Junction: Int64, Sendable {
    case not = 0
    case and = 1
    case or = 2
  }

  struct Operation: Sendable, Equatable {
    var comparison: Comparison
    var modifier = Modifier.direct
    /// NSComparisonPredicateOptions: 1 without regard to case, 2 to diacritics, 4 normalized, 8 by locale.
    var options: Int64 = 0
  }

  case compare(ArchivedExpression, Operation, ArchivedExpression)
  case compound(Junction, [ArchivedPredicate])
  case truth(Bool)
}

/// What is wrong with an archived or written expression; reads on after "the expression" or "the predicate".
struct ExpressionDamage: Error, CustomStringConvertible {
  let description: String
  init(_ reason: String) { description = reason }
}
