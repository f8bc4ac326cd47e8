import Streams

/// A type of a record in Swift, for the rows of a table or a view.
struct RecordType {
  struct Property {
    var name: String
    /// The name of the column.
    var column: String
    var type: String
  }

  struct Association {
    var name: String
    var expression: String
  }

  var name: String
  /// The table or the view.
  var table: String
  /// What the rows are, for the comment.
  var subject: String
  /// Whether rows can be written: views only show.
  var isView: Bool
  var properties: [Property]
  var associations: [Association] = []
  var hasID: Bool

  /// The declaration. `dates` is how its dates are coded; nil if it has none.
  func text(dates: [String], hasUUID: Bool) -> String {
    let protocols =
      ["Codable", hasID ? "Identifiable" : nil, "FetchableRecord", isView ? "TableRecord" : "PersistableRecord"]
      .compactMap { $0 }
    var lines = ["/// \(subject).", "struct \(name): \((protocols + ["Sendable"]).joined(separator: ", ")) {"]
    lines.append("  static let databaseTableName = \(table.swiftLiteral)")
    lines += [""] + properties.map { "  var \(RecordNames.escaped($0.name)): \($0.type)" }
    lines += ["", "  enum CodingKeys: String, CodingKey, ColumnExpression {"]
    lines += properties.map { "    case \(RecordNames.escaped($0.name)) = \($0.column.swiftLiteral)" }
    lines.append("  }")
    if !associations.isEmpty { lines.append("") }
    lines += associations.map { "  static let \(RecordNames.escaped($0.name)) = \($0.expression)" }
    if !dates.isEmpty { lines += [""] + dates.map { "  " + $0 } }
    if hasUUID, !isView {
      lines += [
        "",
        "  static func databaseUUIDEncodingStrategy(for column: String) -> DatabaseUUIDEncodingStrategy { .uppercaseString }",
      ]
    }
    return (lines + ["}"]).joined(separator: "\n")
  }
}
