/// Functions of predicate format that are known by name: NSExpression's, except for those whose results differ from run
/// to run.
package enum FormatFunctions {
  /// Numbers of arguments; nil for one or more. Of one argument, a collection's members are meant.
  private static let known: [String: Int?] = [
    "uppercase:": 1, "lowercase:": 1, "canonical:": 1, "length:": 1, "now": 0, "castObject:toType:": 2, "sum:": nil,
    "count:": nil, "min:": nil, "max:": nil, "average:": nil, "add:to:": 2, "from:subtract:": 2, "multiply:by:": 2,
    "divide:by:": 2, "modulus:by:": 2, "raise:toPower:": 2, "abs:": 1, "ceiling:": 1, "floor:": 1, "trunc:": 1,
    "sqrt:": 1,
  ]

  /// Types of `CAST`.
  static let castTypes: Set<String> = ["NSString", "NSNumber", "NSDecimalNumber", "NSDate"]

  /// Operators by what binds stronger and stronger, with the functions that they stand for.
  static let operators: [[(symbol: String, function: String)]] = [
    [("+", "add:to:"), ("-", "from:subtract:")], [("*", "multiply:by:"), ("/", "divide:by:")],
    [("**", "raise:toPower:")],
  ]

  /// The full name of a function: `uppercase` is `uppercase:`. Nil for one that is not known.
  package static func fullName(_ name: String) -> String? {
    [name, name + ":"].first { known[$0] != nil }
  }

  /// Whether a function takes that many arguments.
  package static func takes(_ name: String, _ count: Int) -> Bool {
    guard let wanted = known[name] else { return true }
    return wanted.map { $0 == count } ?? (count > 0)
  }
}
