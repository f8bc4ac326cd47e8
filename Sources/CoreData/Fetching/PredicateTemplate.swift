import CoreDataModel

/// A predicate's format with placeholders, made the format of a predicate with variables.
enum PredicateTemplate {
  static let variable = "godwitArgument"

  /// Puts keys in the place of `%K`, and variables in that of other placeholders.
  static func filled(_ format: String, _ arguments: [Any?]) throws -> String {
    var (text, quote, place) = ("", Character?.none, 0)
    var rest = Substring(format)
    while let letter = rest.popFirst() {
      if let open = quote {
        text.append(letter)
        if letter == "\\", let next = rest.popFirst() { text.append(next) }
        if letter == open { quote = nil }
      } else if letter == "%", rest.first == "%" {
        text.append(rest.removeFirst())
      } else if letter == "%" {
        guard place < arguments.count else { throw ExpressionDamage("has more placeholders than arguments") }
        text += try replacement(&rest, arguments[place], at: place)
        place += 1
      } else {
        if letter == "'" || letter == "\"" { quote = letter }
        text.append(letter)
      }
    }
    return text
  }

  private static func replacement(_ rest: inout Substring, _ argument: Any?, at place: Int) throws -> String {
    // %ld, %lld, %lu, %hd, %zd, %.2f
    rest = rest.drop { "lhzq.0123456789".contains($0) }
    switch rest.popFirst() {
    case "K":
      guard let key = argument as? String else { throw ExpressionDamage("has %K for what is no key") }
      return key
    case "@", "d", "i", "u", "f", "g", "e", "x", "c", "s", "D", "U": return "$\(variable)\(place)"
    case let other: throw ExpressionDamage("has the placeholder %\(other.map(String.init) ?? ""), which is not known")
    }
  }
}
