import Streams

/// A value expression of a mapping, as NSExpression describes it.
public indirect enum Expression: Sendable, Equatable {
  /// A constant.
  case constant(Value)
  /// `$source`, `$destination`, `$manager`, `$entityPolicy`, `$entityMapping`: the name without the dollar sign.
  case variable(String)
  /// A key path applied to an operand: `$source.country.continent`.
  case keyPath(operand: Expression, path: [String])
  /// `FUNCTION(operand, "selector:", arguments…)` or a function by name such as `now`.
  case function(operand: Expression?, name: String, arguments: [Expression])
}
