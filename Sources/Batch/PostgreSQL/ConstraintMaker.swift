/// Makes what comes behind the rows, each in a transaction with its note. What real data do not allow is left out, and told: keys that
/// lead nowhere, values that are missing or come twice, texts that are too long for an index. No row is changed for it.
struct ConstraintMaker {
  let book: LoadBook
  let statements: PostgresStatements

  private var session: any PostgresSession { book.session }

  func make(_ planned: PostgresConstraint, _ number: Int, _ units: [LoadBook.Unit]) throws {
    var (constraint, note) = (planned, String?.none)
    if planned.kind == .notNull { (constraint, note) = allowing(planned, units[planned.table]) }
    do {
      try session.execute("BEGIN")
      if !constraint.sql.isEmpty { try session.execute(constraint.sql) }
      try book.note(planned, number: number, note: note)
      try session.execute("COMMIT")
    } catch let error as PostgresError where !error.isConnectionLost {
      guard let reason = Self.tolerated(error, planned) else { throw error }
      try session.execute("ROLLBACK")
      try session.execute("BEGIN")
      try book.note(planned, number: number, note: reason)
      try session.execute("COMMIT")
    }
  }

  /// Leaves columns out that have rows without a value.
  private func allowing(_ planned: PostgresConstraint, _ unit: LoadBook.Unit) -> (PostgresConstraint, String?) {
    guard !unit.remarks.missing.isEmpty else { return (planned, nil) }
    let table = statements.schema.tables[planned.table]
    let columns = unit.remarks.missing.keys.sorted().filter { $0 < table.columns.count }
    let list = columns.map { "\(table.columns[$0].name) in \(unit.remarks.missing[$0] ?? 0) rows" }.joined(separator: ", ")
    var left = planned
    left.sql = statements.notNull(planned.table, except: Set(columns))?.sql ?? ""
    return (left, "\(table.name): the model requires values that are missing: \(list); the columns stay without NOT NULL")
  }

  private static func tolerated(_ error: PostgresError, _ constraint: PostgresConstraint) -> String? {
    switch (constraint.kind, error.state) {
    case (.validation, "23503"):
      return "\(constraint.name) stays NOT VALID, as keys lead to no row: \(error.message)"
    case (.unique, "23505"):
      return "\(constraint.name) is not made, as values come twice: \(error.message)"
    // A row of an index has a third of a page at most.
    case (.unique, "54000"), (.index, "54000"):
      return "\(constraint.name) is not made, as a value is too long for an index: \(error.message)"
    default: return nil
    }
  }
}
