/// Names of types and properties in Swift.
enum RecordNames {
  /// `book_tags` becomes `bookTags`; other characters than letters and digits separate words.
  static func camelCase(_ name: String) -> String {
    let words = name.split { !$0.isLetter && !$0.isNumber }
    guard let first = words.first else { return "value" }
    let rest = words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }
    let text = first.prefix(1).lowercased() + first.dropFirst() + rest.joined()
    return text.first?.isNumber == true ? "_" + text : text
  }

  /// The type for an entity: `BookRecord`, which is no type of Foundation's or GRDB's.
  static func type(_ name: String) -> String {
    let text = camelCase(name)
    return text.prefix(1).uppercased() + text.dropFirst() + "Record"
  }

  /// A property's name where it stands for itself.
  static func escaped(_ name: String) -> String { words.contains(name) ? "`\(name)`" : name }

  /// Names that a record's own members have, or that Swift takes for itself even in backticks.
  static let taken: Set<String> = [
    "self", "Self", "Type", "Protocol", "init", "databaseTableName", "hashValue", "databaseSelection",
    "persistenceConflictPolicy",
  ]

  /// Words of the language (The Swift Programming Language, "Lexical Structure").
  private static let words = Set(
    """
    associatedtype borrowing class consuming deinit enum extension fileprivate func import inout internal let nonisolated open operator \
    precedencegroup private protocol public rethrows static struct subscript typealias var break case catch continue default defer do \
    else fallthrough for guard if in repeat return switch throw throws where while Any as await false is nil super true try
    """.split(separator: " ").map(String.init))
}
