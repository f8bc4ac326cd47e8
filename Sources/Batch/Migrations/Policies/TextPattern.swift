import CoreDataModel
import Foundation
import Streams

/// A regular expression that a whole text has to match.
package struct TextPattern {
  private let expression: NSRegularExpression

  /// Throws ``ExpressionDamage`` for what is no regular expression.
  package init(_ pattern: String, _ options: Int64) throws {
    let options: NSRegularExpression.Options = options & 1 == 0 ? [] : [.caseInsensitive]
    guard let expression = try? NSRegularExpression(pattern: "\\A(?:\(pattern))\\z", options: options) else {
      throw ExpressionDamage("has a regular expression that is none")
    }
    self.expression = expression
  }

  /// NULL matches nothing; a value that is no text is damage.
  package func matches(_ value: Value) throws -> Bool {
    if value == .null { return false }
    guard case .text(let text) = value else { throw ExpressionDamage("compares as text what is no text") }
    return expression.firstMatch(in: text, range: NSRange(text.startIndex..., in: text)) != nil
  }
}
