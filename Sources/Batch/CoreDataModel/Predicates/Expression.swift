import Streams

/// An expression, as NSExpression describes it: of mapping models, predicates, derived attributes and fetch requests.
///
/// Its ``description`` is text in NSPredicate's format, and ``init(format:)`` reads such text.
public indirect enum Expression: Sendable, Equatable {
  /// A constant.
  case constant(Value)
  /// The digits of an NSDecimalNumber.
  case decimal(String)
  /// A date: seconds since 2001-01-01 UTC.
  case date(Double)
  /// `SELF`: the object that an expression is evaluated with.
  case evaluatedObject
  /// `$source`, `$destination`, `$manager`, `$entityPolicy`, `$entityMapping`: the name without the dollar sign.
  case variable(String)
  /// A key path applied to an operand, `$source.country.continent`; collection operators such as `@max` are parts of
  /// it. Key paths of `SELF` are written without it.
  case keyPath(operand: Expression, path: [String])
  /// `FUNCTION(operand, "selector:", arguments…)`; without operand a function by name such as `now` or `add:to:`.
  case function(operand: Expression?, name: String, arguments: [Expression])
  /// `{1, 2}`
  case aggregate([Expression])
  /// `SUBQUERY(collection, $variable, predicate)`: those members of a collection for which a predicate holds.
  case subquery(collection: Expression, variable: String, predicate: Predicate)
  /// `TERNARY(predicate, yes, no)`
  case conditional(Predicate, Expression, Expression)
  /// `left UNION right` and its like.
  case set(SetOperation, Expression, Expression)
  /// `FETCH(request, context, countOnly)`
  case fetch(request: Expression, context: Expression, isCountOnly: Bool)

  /// What becomes of two collections.
  public enum SetOperation: Int64, Sendable, CaseIterable {
    /// What is in one of them.
    case union = 5
    /// What is in both.
    case intersect = 6
    /// What is in the first alone.
    case minus = 7
  }

  /// A key path inside another one is one key path.
  static func path(_ operand: Expression, _ path: [String]) -> Expression {
    guard case .keyPath(let inner, let start) = operand else { return .keyPath(operand: operand, path: path) }
    return .keyPath(operand: inner, path: start + path)
  }
}

/// What is wrong with an archived or written expression; reads on after "the expression" or "the predicate".
package struct ExpressionDamage: Error, CustomStringConvertible {
  package let description: String
  /// What to do about it, where that is known.
  package let hint: String?

  package init(_ reason: String, hint: String? = nil) {
    description = reason
    self.hint = hint
  }

  /// What is wrong with something: it names what is not there, or is not supported.
  package func sentence(of what: String) -> String {
    hint == nil ? "\(what) is not supported (it \(self))" : "\(what) \(self)"
  }

  /// The same with its place in the text, which is found by a byte and given as a character, from 1.
  func near(_ byte: Int, of text: String) -> ExpressionDamage {
    ExpressionDamage(
      "\(description), near character \(String(decoding: text.utf8.prefix(byte), as: UTF8.self).count + 1)")
  }
}
