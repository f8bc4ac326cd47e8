/// A condition, as NSPredicate describes it.
///
/// Its ``description`` is text in NSPredicate's format, and ``init(format:)`` reads such text.
public indirect enum Predicate: Sendable, Equatable {
  /// How two values are compared; the raw values are those of NSPredicateOperatorType.
  public enum Comparison: Int64, Sendable, CaseIterable {
    /// `<`
    case less = 0
    /// `<=`
    case lessOrEqual = 1
    /// `>`
    case greater = 2
    /// `>=`
    case greaterOrEqual = 3
    /// `==`
    case equal = 4
    /// `!=`
    case notEqual = 5
    /// `MATCHES`: a regular expression for the whole text.
    case matches = 6
    /// `LIKE`: `?` is a character, `*` any number of them.
    case like = 7
    /// `BEGINSWITH`
    case beginsWith = 8
    /// `ENDSWITH`
    case endsWith = 9
    /// `IN`
    case isIn = 10
    /// `CONTAINS`
    case contains = 99
    /// `BETWEEN`
    case between = 100
  }

  /// Which members of a collection are compared; the raw values are those of NSComparisonPredicateModifier.
  public enum Modifier: Int64, Sendable, CaseIterable {
    /// The value as it is.
    case direct = 0
    /// All of them.
    case all = 1
    /// At least one of them.
    case any = 2
  }

  /// How predicates are joined; the raw values are those of NSCompoundPredicateType.
  public enum Junction: Int64, Sendable, CaseIterable {
    /// The one predicate does not hold.
    case not = 0
    /// All hold.
    case and = 1
    /// At least one holds.
    case or = 2
  }

  /// A comparison with what modifies it.
  public struct Operation: Sendable, Equatable {
    /// How the values are compared.
    public var comparison: Comparison
    /// Which members are compared.
    public var modifier: Modifier
    /// NSComparisonPredicateOptions: 1 without regard to case, 2 to diacritics, 4 normalized, 8 by locale.
    public var options: Int64

    /// Makes an operation.
    public init(comparison: Comparison, modifier: Modifier = .direct, options: Int64 = 0) {
      (self.comparison, self.modifier, self.options) = (comparison, modifier, options)
    }
  }

  /// Compares the values of two expressions.
  case compare(Expression, Operation, Expression)
  /// Joins predicates; NOT has one.
  case compound(Junction, [Predicate])
  /// `TRUEPREDICATE` and `FALSEPREDICATE`.
  case truth(Bool)
}
