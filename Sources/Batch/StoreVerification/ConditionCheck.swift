import CoreDataStore

/// Looks for rows that break a CHECK clause of their table. Core Data makes none; tables of others may have them.
struct ConditionCheck: Sendable {
  let condition: TableCondition
  let table: SweptTable?

  /// The longest value that an expression may make, so that one out of a file cannot take all memory.
  private static let longest: Int32 = 8 << 20

  func check(weight: Double) -> StoreCheck {
    StoreCheck(name: "the conditions of \(condition.table)", weight: weight) { connection in
      try connection.withLengthLimit(Self.longest) { try run(on: connection) }
    }
  }

  private func run(on connection: StoreConnection) throws -> CheckFindings {
    var (rows, findings) = (KeyTally(), CheckFindings())
    let name = StoreConnection.quoted(condition.table)
    let statement: StoreStatement
    do {
      // The clause ends its line: a comment may end it.
      let sql = "SELECT \(table?.rowid ?? "NULL") FROM \(name) NOT INDEXED WHERE NOT (\(condition.text)\n)"
      statement = try connection.statement(sql)
    } catch let failure as StoreFailure where failure.isDamage {
      let message = "a CHECK clause cannot be evaluated by itself: \(failure.message)"
      findings.add(Violation(kind: .columnRule, table: condition.table, message: message), asWarning: true)
      return findings
    }
    while try statement.step() { rows.add(statement.integerIfAny(0)) }
    findings.add(
      Violation(
        kind: .columnRule, entity: table?.entity, property: table?.property, table: condition.table,
        message: "rows break a CHECK clause of the table", count: rows.count, examples: rows.examples))
    return findings
  }
}

extension CheckPlan {
  /// Every CHECK clause of the store.
  func conditionChecks() -> [StoreCheck] {
    schema.conditions.map { condition in
      ConditionCheck(condition: condition, table: table(condition.table))
        .check(weight: Double(largestKey(of: condition.table)))
    }
  }
}
