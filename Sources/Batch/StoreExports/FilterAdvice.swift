import CoreDataModel
import RunSupport

/// What to write instead of a condition that an export cannot ask about.
enum FilterAdvice {
  /// What leads on from a fault of a condition.
  static func hint(for damage: ExpressionDamage, in condition: String) -> String {
    if let hint = damage.hint, !hint.isEmpty { return hint }
    let quoted = datesQuoted(condition)
    guard quoted == condition else {
      return "Put a date in quotation marks: --where \(ShellWords.quoted(quoted))"
    }
    return "Write it as NSPredicate does, for example: pages > 100 AND title BEGINSWITH \"A\""
  }

  /// The condition with quotation marks around its dates that have none.
  private static func datesQuoted(_ condition: String) -> String {
    let texts = /"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|\b[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ][0-9:.]+(?:Z|[+\-][0-9:]+)?)?/
    return condition.replacing(texts) { match in
      ExportDate.seconds(String(match.0)) == nil ? String(match.0) : "\"\(match.0)\""
    }
  }

  /// A path that names no column. `isKey` says of its first part, if that is a column, whether it holds keys of other
  /// objects.
  static func unknown(_ path: [String], isKey: Bool?) -> ExpressionDamage {
    let name = path.joined(separator: ".")
    guard path.count > 1, isKey != false else {
      return ExpressionDamage("names \(name), which is no column here", hint: "")
    }
    let what = "names \(name), and only an object's own columns can be asked, not those of related objects"
    guard isKey == true else {
      return ExpressionDamage(what, hint: "Ask about the object's own columns, for example: pages > 100")
    }
    return ExpressionDamage(
      what, hint: "The column \(path[0]) holds the related object's key (Z_PK). Ask for that: \(path[0]) == 7")
  }
}
