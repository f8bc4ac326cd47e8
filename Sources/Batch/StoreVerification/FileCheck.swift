/// SQLite's own judgement of the file: pages, cells, the order of rows, the free list, pointer maps, and every row in
/// every index.
///
/// The latter it looks up at random: 11 s on a store of 2 million books with four indexes, on one thread, while the
/// other does all else.
enum FileCheck {
  private static let lineLimit = 20

  static func check(weight: Double) -> StoreCheck {
    StoreCheck(name: "the file's pages", weight: weight) { connection in
      try lines("PRAGMA integrity_check(\(lineLimit))", kind: .damaged, table: nil, on: connection)
    }
  }

  /// All of one table, and every index by random look-ups: of a table that has what only SQLite knows.
  static func checkIndexes(of table: String, weight: Double) -> StoreCheck {
    StoreCheck(name: "the indexes of \(table)", weight: weight) { connection in
      try lines(
        "PRAGMA integrity_check(\(StoreConnection.quoted(table)))", kind: .index, table: table, on: connection)
    }
  }

  private static func lines(
    _ sql: String, kind: Violation.Kind, table: String?, on connection: StoreConnection
  ) throws -> CheckFindings {
    var findings = CheckFindings()
    try connection.rows(sql) { row in
      guard let text = row.text(0), text != "ok", findings.violations.count < lineLimit else { return }
      findings.add(Violation(kind: kind, table: table, message: "SQLite reports: \(text)"))
    }
    return findings
  }
}
