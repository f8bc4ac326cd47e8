/// Makes what comes after the rows, each in a transaction with its note. What real data do not allow is left out, and
/// noted: keys that lead nowhere, values that come twice, texts that are too long for an index. No row is changed for
/// it.
struct ConstraintMaker {
  let book: LoadBook

  private var session: any PostgresSession { book.session }

  func make(_ constraint: PostgresConstraint, _ number: Int) throws {
    do {
      try inTransaction(constraint, number: number, note: nil) { try session.execute(constraint.sql) }
    } catch let error as PostgresError where !error.isConnectionLost {
      guard let reason = Self.tolerated(error, constraint) else { throw error }
      try session.execute("ROLLBACK")
      try inTransaction(constraint, number: number, note: reason) {}
    }
  }

  private func inTransaction(_ constraint: PostgresConstraint, number: Int, note: String?, body: () throws -> Void)
    throws
  {
    try session.execute("BEGIN")
    try body()
    try book.note(constraint, number: number, note: note)
    try session.execute("COMMIT")
  }

  private static func tolerated(_ error: PostgresError, _ constraint: PostgresConstraint) -> String? {
    switch (constraint.kind, error.state) {
    case (.validation, "23503"):
      return "\(constraint.name) stays NOT VALID, because keys lead to no row: \(error.message)"
    // Of a join table that others wrote to: rowids are never so.
    case (.primaryKey, "23505"):
      return "\(constraint.name) has no primary key, because rows are there twice: \(error.message)"
    case (.primaryKey, "23502"):
      return "\(constraint.name) has no primary key, because keys are missing: \(error.message)"
    case (.unique, "23505"):
      return "\(constraint.name) is not created, because values are there twice: \(error.message)"
    // A row of an index has a third of a page at most.
    case (.unique, "54000"), (.index, "54000"):
      return "\(constraint.name) is not created, because a value is too long for an index: \(error.message)"
    default: return nil
    }
  }
}
