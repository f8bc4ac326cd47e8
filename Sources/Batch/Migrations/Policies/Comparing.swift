import CoreDataModel
import Foundation
import Streams

/// Comparisons of predicates, as NSPredicate has them: NULL equals NULL alone, and is neither less nor more than
/// anything.
package enum Comparing {
  /// Letters without case, accents or differences of form, by NSComparisonPredicateOptions.
  static func folded(_ text: String, options: Int64) -> String {
    var folding: String.CompareOptions = []
    if options & 1 != 0 { folding.insert(.caseInsensitive) }
    if options & 2 != 0 { folding.insert(.diacriticInsensitive) }
    return folding.isEmpty ? text : text.folding(options: folding, locale: nil)
  }

  /// Negative, zero or positive. Throws for values that have no order.
  package static func order(_ left: Value, _ right: Value, options: Int64 = 0) throws -> Int {
    switch (left, right) {
    case (.integer(let left), .integer(let right)): return left < right ? -1 : left > right ? 1 : 0
    case (.text(let left), .text(let right)):
      let (left, right) = (folded(left, options: options), folded(right, options: options))
      return left.unicodeScalars.elementsEqual(right.unicodeScalars)
        ? 0 : left.unicodeScalars.lexicographicallyPrecedes(right.unicodeScalars) ? -1 : 1
    case (.blob(let left), .blob(let right)): return left == right ? 0 : left.lexicographicallyPrecedes(right) ? -1 : 1
    default:
      guard let left = Arithmetic.double(left), let right = Arithmetic.double(right) else {
        throw ExpressionDamage("compares values of different kinds")
      }
      return left < right ? -1 : left > right ? 1 : 0
    }
  }

  static func areEqual(_ left: ExpressionValue, _ right: ExpressionValue, options: Int64) -> Bool {
    guard case .value(.text(let left)) = left, case .value(.text(let right)) = right else {
      return left.identity == right.identity
    }
    return folded(left, options: options).unicodeScalars.elementsEqual(folded(right, options: options).unicodeScalars)
  }

  package static func holds(
    _ comparison: CoreDataModel.Predicate.Comparison, left: ExpressionValue, right: ExpressionValue, options: Int64
  )
    throws -> Bool
  {
    switch comparison {
    case .equal: return areEqual(left, right, options: options)
    case .notEqual: return !areEqual(left, right, options: options)
    case .isIn: return try contains(right, part: left, options: options)
    case .contains: return try contains(left, part: right, options: options)
    case .between:
      guard case .list(let bounds) = right, bounds.count == 2 else {
        throw ExpressionDamage("has BETWEEN without two bounds")
      }
      return try holds(.greaterOrEqual, left: left, right: bounds[0], options: options)
        && holds(.lessOrEqual, left: left, right: bounds[1], options: options)
    case .less, .lessOrEqual, .greater, .greaterOrEqual:
      let (left, right) = (try left.single(), try right.single())
      guard left != .null, right != .null else { return false }
      let order = try order(left, right, options: options)
      return switch comparison {
      case .less: order < 0
      case .lessOrEqual: order <= 0
      case .greater: order > 0
      default: order >= 0
      }
    case .beginsWith, .endsWith, .like, .matches:
      return try texts(comparison, left: left.single(), right: right.single(), options: options)
    }
  }

  private static func contains(_ whole: ExpressionValue, part: ExpressionValue, options: Int64) throws -> Bool {
    if case .list(let members) = whole { return members.contains { areEqual($0, part, options: options) } }
    return try texts(.contains, left: whole.single(), right: part.single(), options: options)
  }

  private static func texts(
    _ comparison: CoreDataModel.Predicate.Comparison, left: Value, right: Value, options: Int64
  )
    throws -> Bool
  {
    if left == .null || right == .null { return false }
    guard case .text(let left) = left, case .text(let right) = right else {
      throw ExpressionDamage("compares as text what is no text")
    }
    if comparison == .matches { return try TextPattern(right, options).matches(.text(left)) }
    let (text, part) = (
      Array(folded(left, options: options).unicodeScalars), Array(folded(right, options: options).unicodeScalars)
    )
    switch comparison {
    case .beginsWith: return text.starts(with: part)
    case .endsWith: return text.reversed().starts(with: part.reversed())
    case .like: return isLike(text, part)
    default:
      return part.isEmpty ? false : text.indices.contains { text[$0...].starts(with: part) }
    }
  }

  /// `?` is a character, `*` any number of them; a backslash takes the meaning away. Never slower than one text times
  /// the other.
  private static func isLike(_ text: [Unicode.Scalar], _ pattern: [Unicode.Scalar]) -> Bool {
    var (place, next) = (0, 0)
    var retry: (place: Int, next: Int)?
    while place < text.count {
      let isEscaped = next + 1 < pattern.count && pattern[next] == "\\"
      if next < pattern.count, !isEscaped, pattern[next] == "*" {
        next += 1
        retry = (place, next)
      } else if next < pattern.count,
        isEscaped ? pattern[next + 1] == text[place] : ["?", text[place]].contains(pattern[next])
      {
        place += 1
        next += isEscaped ? 2 : 1
      } else if let old = retry {
        (place, next) = (old.place + 1, old.next)
        retry = (place, next)
      } else {
        return false
      }
    }
    return pattern[next...].allSatisfy { $0 == "*" }
  }
}
