import CoreDataStore

/// An index that can be walked on its own: BINARY order over plain columns of a table with rowids.
struct SweptIndex: Sendable {
  let name: String
  let isUnique: Bool
  let columns: [String]
  let isDescending: [Bool]

  /// Nil for an index whose order this file does not know.
  init?(_ index: IndexSchema) {
    guard index.columns.allSatisfy({ $0.column != nil && $0.collation.uppercased() == "BINARY" }) else { return nil }
    name = index.name
    isUnique = index.isUnique
    columns = index.columns.compactMap(\.column)
    isDescending = index.columns.map(\.isDescending)
  }
}

/// Walks an index from end to end without its table: whether it is in order, whether unique values are unique, and the
/// sum of its entries? If the sum equals the one that ``TableSweep`` found, the index holds what its table asks for.
struct IndexSweep: Sendable {
  let table: SweptTable
  let index: SweptIndex

  func check(weight: Double) -> StoreCheck {
    StoreCheck(name: "the index \(index.name)", weight: weight) { try run(on: $0) }
  }

  /// Without an order: SQLite then walks the index from its first entry to its last, and entries come as they lie.
  private static func sql(_ table: SweptTable, _ index: SweptIndex) -> String {
    let list = (index.columns.map(StoreConnection.quoted) + [table.rowid]).joined(separator: ", ")
    return "SELECT \(list) FROM \(table.quoted) INDEXED BY \(StoreConnection.quoted(index.name))"
  }

  /// Whether SQLite reads the index alone. Of a column beyond the 63rd it takes the value from the table, and a walk
  /// would prove nothing.
  static func isPossible(_ table: SweptTable, _ index: SweptIndex, on connection: StoreConnection) throws -> Bool {
    var plan: [String] = []
    try connection.rows("EXPLAIN QUERY PLAN " + sql(table, index)) { plan.append($0.text(3) ?? "") }
    return plan.count == 1 && plan[0].contains("USING COVERING INDEX")
  }

  private func run(on connection: StoreConnection) throws -> CheckFindings {
    var walk = IndexWalk(index: index)
    try connection.rows(Self.sql(table, index)) { walk.visit($0) }
    var findings = CheckFindings(found: [index.name: walk.sum])
    findings.add(fault(.index, message: "entries of the index \(index.name) are out of order", rows: walk.disordered))
    findings.add(
      fault(.unique, message: "a value of the unique index \(index.name) occurs more than once", rows: walk.repeated))
    return findings
  }

  private func fault(_ kind: Violation.Kind, message: String, rows: KeyTally) -> Violation {
    Violation(
      kind: kind, entity: table.entity, property: table.property, table: table.schema.name, message: message,
      count: rows.count, examples: rows.examples)
  }

  /// Finds the entries that make an index differ from its table, by look-ups in both directions. Slow, and run only
  /// once it is known that there are some.
  func differences(on connection: StoreConnection) throws -> CheckFindings {
    let name = StoreConnection.quoted(index.name)
    let same = index.columns.map { "t.\(StoreConnection.quoted($0)) IS i.\(StoreConnection.quoted($0))" }
    let match = (["t.\(table.rowid) = i.\(table.rowid)"] + same).joined(separator: " AND ")
    let (whole, part) = ("\(table.quoted) t NOT INDEXED", "\(table.quoted) i INDEXED BY \(name)")
    var (missing, stale) = (KeyTally(), KeyTally())
    let missingSQL = "SELECT t.\(table.rowid) FROM \(whole) WHERE NOT EXISTS (SELECT 1 FROM \(part) WHERE \(match))"
    try connection.rows(missingSQL) { missing.add($0.integer(0)) }
    let staleSQL = "SELECT i.\(table.rowid) FROM \(part) WHERE NOT EXISTS (SELECT 1 FROM \(whole) WHERE \(match))"
    try connection.rows(staleSQL) { stale.add($0.integer(0)) }
    var findings = CheckFindings()
    findings.add(fault(.index, message: "rows are missing from the index \(index.name)", rows: missing))
    findings.add(fault(.index, message: "the index \(index.name) holds entries that no row has", rows: stale))
    if findings.violations.isEmpty {
      findings.add(
        Violation(
          kind: .index, entity: table.entity, table: table.schema.name,
          message: "the index \(index.name) and its table hold different entries"))
    }
    return findings
  }
}

/// Rows that share a fault: how many, and the first few.
struct KeyTally: Sendable {
  var count: UInt64 = 0
  var examples: [Violation.Example] = []

  mutating func add(_ key: Int64?, destination: Int64? = nil) {
    count += 1
    guard examples.count < Violation.exampleLimit else { return }
    examples.append(Violation.Example(key: key, destination: destination))
  }
}

/// The state of a walk through an index.
private struct IndexWalk {
  let index: SweptIndex
  var sum = EntrySum()
  var disordered = KeyTally()
  var repeated = KeyTally()
  private var last: [KeptCell]
  private var lastRowid = Int64.min
  private var isFirst = true

  init(index: SweptIndex) {
    self.index = index
    last = Array(repeating: KeptCell(), count: index.columns.count)
  }

  mutating func visit(_ row: StoreStatement) {
    let rowid = row.integer(Int32(last.count))
    var hash: UInt64 = 0
    var order = 0
    var hasNull = false
    for column in last.indices {
      let cell = row.cell(Int32(column))
      hash = StoreCell.mix(hash, cell.hash)
      if case .null = cell { hasNull = true }
      if order == 0, !isFirst {
        order = last[column].order(of: cell)
        if index.isDescending[column] { order = -order }
      }
      last[column].keep(cell)
    }
    sum.add(hash, rowid: rowid)
    if !isFirst {
      if order < 0 || order == 0 && rowid <= lastRowid { disordered.add(rowid) }
      // NULLs are equal to nothing, so they do not break uniqueness.
      if order == 0, index.isUnique, !hasNull { repeated.add(rowid) }
    }
    lastRowid = rowid
    isFirst = false
  }
}
