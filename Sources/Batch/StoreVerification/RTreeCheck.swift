import CoreDataStore

/// Holds an R-tree against its table: every object of its entity is in it, within bounds that enclose the object's
/// values and are hardly wider, and nothing else is. The tree itself is judged by SQLite, or by a full proof.
struct RTreeCheck: Sendable {
  let tree: RTreeLayout
  let table: SweptTable
  /// The table's columns, as the store calls them: those that are indexed, and that of the entity's number.
  let columns: [String]
  let entityColumn: String
  /// Whether the store was written just now. Core Data's own may treat objects without value in another way, and is not
  /// at fault.
  let isWritten: Bool
  /// Whether SQLite judges the tree, and not the proof.
  let asksSQLite: Bool

  func check(weight: Double) -> StoreCheck {
    StoreCheck(name: "the R-tree \(tree.name)", weight: weight) { try run(on: $0) }
  }

  private func run(on connection: StoreConnection) throws -> CheckFindings {
    var (lost, wrong, strange) = (KeyTally(), KeyTally(), KeyTally())
    let isNear = columns.indices.map(bounds).joined(separator: " AND ")
    try connection.rows(
      "SELECT o.\(table.rowid), r.Z_PK IS NULL FROM \(table.quoted) o NOT INDEXED LEFT JOIN \(quoted) r ON r.Z_PK = o.\(table.rowid) "
        + "WHERE \(isMember) AND (r.Z_PK IS NULL OR NOT (\(isNear)))"
    ) { row in
      if row.integer(1) == 1 { lost.add(row.integerIfAny(0)) } else { wrong.add(row.integerIfAny(0)) }
    }
    try connection.rows(
      "SELECT s.rowid FROM \(StoreConnection.quoted(tree.name + "_rowid")) s WHERE NOT EXISTS (SELECT 1 FROM \(table.quoted) o "
        + "WHERE o.\(table.rowid) = s.rowid AND \(isMember))"
    ) { strange.add($0.integerIfAny(0)) }
    var findings = CheckFindings()
    for (what, tally) in [
      ("lacks objects", lost), ("has bounds that are not those of the objects", wrong),
      ("has rows without objects", strange),
    ] {
      findings.add(fault("the R-tree \(tree.name) \(what)", tally), asWarning: !isWritten)
    }
    if asksSQLite, let damage = try damage(on: connection) {
      findings.add(fault("the R-tree \(tree.name): SQLite reports: \(damage)", KeyTally(one: nil)))
    }
    return findings
  }

  private var quoted: String { StoreConnection.quoted(tree.name) }

  private var isMember: String {
    guard let numbers = tree.entityNumbers else { return "1" }
    return "o.\(StoreConnection.quoted(entityColumn)) IN (\(numbers.map(String.init).joined(separator: ", ")))"
  }

  /// SQLite rounds outwards to floats, by two steps at most. Beyond the largest float, and closer to 0 than the least
  /// one, it does not reach that far; of NULL it makes 0.
  private func bounds(_ column: Int) -> String {
    let stored = "o.\(StoreConnection.quoted(columns[column]))"
    let value = "CAST(ifnull(\(stored), 0) AS REAL)"
    let (least, most) = (bound(column, "_MIN"), bound(column, "_MAX"))
    let isNear =
      "\(least) <= \(value) + 1e-44 AND \(most) >= \(value) - 1e-44 AND \(most) - \(least) <= abs(\(value)) * 1e-6 + 1e-44"
    return "(abs(\(value)) > 3.4e38 OR \(isNear)\(isWritten ? "" : " OR \(stored) IS NULL"))"
  }

  private func bound(_ column: Int, _ end: String) -> String {
    "r.\(StoreConnection.quoted(tree.columns[column] + end))"
  }

  /// What SQLite finds wrong with the tree; nil for nothing, and if this SQLite cannot check it.
  private func damage(on connection: StoreConnection) throws -> String? {
    var found: String?
    var isKnown = false
    try connection.rows("PRAGMA function_list") { if $0.text(0) == "rtreecheck" { isKnown = true } }
    guard isKnown else { return nil }
    try connection.rows("SELECT rtreecheck(\(SQLText.literal(tree.name)))") { found = $0.text(0) }
    return found == "ok" ? nil : found
  }

  private func fault(_ message: String, _ tally: KeyTally) -> Violation {
    Violation(
      kind: .index, entity: tree.entity, table: table.schema.name, message: message, count: tally.count,
      examples: tally.examples)
  }
}

extension CheckPlan {
  /// The R-trees that the store has as the model wants them. `isWritten`: whether the store was written just now.
  /// `asksSQLite`: whether SQLite judges the trees themselves.
  func rtreeChecks(isWritten: Bool, asksSQLite: Bool) -> [StoreCheck] {
    layout.rtrees.compactMap { tree in
      guard schema.virtualTables.contains(where: { tree.isMade(by: $0.row) }),
        let position = layout.tablePosition(ofEntity: tree.entity)
      else { return nil }
      let bound = binding.tables[position]
      guard let swept = table(bound.schema.name), let entityColumn = column(.entity, in: bound) else { return nil }
      let places = tree.columns.compactMap { name in bound.layout.columns.firstIndex { $0.name == name } }
      return RTreeCheck(
        tree: tree, table: swept, columns: places.map { bound.schema.columns[bound.positions[$0]].name },
        entityColumn: entityColumn, isWritten: isWritten, asksSQLite: asksSQLite
      ).check(weight: Double(largestKey(of: bound.schema.name)) * 10)
    }
  }
}
