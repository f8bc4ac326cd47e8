import CoreDataStore

/// A table with rowids, as the checks address it.
struct SweptTable: Sendable {
  let schema: TableSchema
  /// The entity that a fault is reported for; nil for tables that are not the model's.
  var entity: String?
  /// The relationship of a join table.
  var property: String?
  let indexes: [SweptIndex]
  /// A name of the rowid that no column hides.
  let rowid: String

  var quoted: String { StoreConnection.quoted(schema.name) }

  /// Nil when the table has no rowid, or when all its names are taken.
  init?(_ schema: TableSchema, indexes: [SweptIndex], entity: String? = nil, property: String? = nil) {
    let free = ["rowid", "_rowid_", "oid"].first { schema.position(of: $0) == nil }
    guard let free, !schema.isWithoutRowid else { return nil }
    self.schema = schema
    self.indexes = indexes
    self.entity = entity
    self.property = property
    rowid = free
  }
}

/// What every row of a table must be, beyond its links: NULL only where allowed, Z_ENT one of the table's.
struct RowRules: Sendable {
  /// An entity whose rows the table may hold.
  struct Entity: Sendable {
    let name: String
    let number: Int64
    /// Positions in ``RowRules/required``.
    let required: [Int]
  }
  /// A column that is not NULL in the rows of some entities.
  struct Required: Sendable {
    let property: PropertyReference
    let column: String
  }
  /// A column that is not NULL where another is not.
  struct Order: Sendable {
    let property: PropertyReference
    let key: String
    let order: String
  }

  /// The column with Z_ENT; nil for a join table.
  var entityColumn: String?
  var entities: [Entity] = []
  var required: [Required] = []
  var orders: [Order] = []
  /// The column whose value stands for the row in a report; nil means the rowid.
  var keyColumn: String?
}

/// Walks a table once, in the order of its keys: counts rows, applies the rules to each, and sums up the entries that
/// its indexes must hold.
struct TableSweep: Sendable {
  let table: SweptTable
  let rules: RowRules

  func check(weight: Double) -> StoreCheck {
    StoreCheck(name: "the rows of \(table.schema.name)", weight: weight) { connection in
      do {
        return try connection.withLengthLimit(Self.longest) { try run(readsLongValues: true, on: connection) }
      } catch let failure as StoreFailure where failure.isTooLong {
        return try run(readsLongValues: false, on: connection)
      }
    }
  }

  /// The longest value that is read to learn that it is not NULL. In a table that has longer ones SQLite is asked for
  /// types: that takes longer for short values.
  private static let longest: Int32 = 64 << 10

  private func run(readsLongValues: Bool, on connection: StoreConnection) throws -> CheckFindings {
    var walk = TableWalk(table: table, rules: rules, readsLongValues: readsLongValues)
    let list = ([table.rowid] + walk.columns).joined(separator: ", ")
    let statement = try connection.statement("SELECT \(list) FROM \(table.quoted) NOT INDEXED")
    while try statement.step() { walk.visit(statement) }
    return walk.findings()
  }
}

/// The state of a walk through a table.
private struct TableWalk {
  let table: SweptTable
  let rules: RowRules
  private let readsLongValues: Bool
  /// What to select after the rowid, each once.
  private(set) var columns: [String] = []

  private var indexColumns: [[Int]] = []
  private var hashedColumns: [Int] = []
  private var entityColumn: Int32 = -1
  private var keyColumn: Int32 = 0
  private var requiredColumns: [Int32] = []
  private var orderColumns: [(key: Int32, order: Int32)] = []

  private var hashes: [UInt64] = []
  private var sums: [EntrySum]
  private var found: RowTallies

  init(table: SweptTable, rules: RowRules, readsLongValues: Bool) {
    self.table = table
    self.readsLongValues = readsLongValues
    self.rules = rules
    sums = Array(repeating: EntrySum(), count: table.indexes.count)
    found = RowTallies(rules)
    func quoted(_ name: String) -> String { StoreConnection.quoted(name) }
    if let name = rules.entityColumn { entityColumn = Int32(select(quoted(name))) }
    if let name = rules.keyColumn { keyColumn = Int32(select(quoted(name))) }
    requiredColumns = rules.required.map { required in
      Int32(select(readsLongValues ? quoted(required.column) : "typeof(\(quoted(required.column)))"))
    }
    orderColumns = rules.orders.map { (Int32(select(quoted($0.key))), Int32(select(quoted($0.order)))) }
    indexColumns = table.indexes.map { $0.columns.map { select(quoted($0)) } }
    hashedColumns = Set(indexColumns.joined()).sorted()
    hashes = Array(repeating: 0, count: columns.count + 1)
  }

  /// The place of an expression in the statement; the rowid is at 0.
  private mutating func select(_ expression: String) -> Int {
    if let place = columns.firstIndex(of: expression) { return place + 1 }
    columns.append(expression)
    return columns.count
  }

  mutating func visit(_ row: StoreStatement) {
    let rowid = row.integer(0)
    found.rows &+= 1
    for column in hashedColumns { hashes[column] = row.cell(Int32(column)).hash }
    for index in indexColumns.indices {
      var hash: UInt64 = 0
      for column in indexColumns[index] { hash = StoreCell.mix(hash, hashes[column]) }
      sums[index].add(hash, rowid: rowid)
    }
    for (position, columns) in orderColumns.enumerated() where row.isNull(columns.order) && !row.isNull(columns.key) {
      found.unordered[position].add(row.integerIfAny(keyColumn))
    }
    guard entityColumn >= 0 else { return }
    if rowid < 1 { found.badKey.add(rowid) }
    guard let number = row.integerIfAny(entityColumn),
      let entity = rules.entities.firstIndex(where: { $0.number == number })
    else { return found.badEntity.add(rowid) }
    found.entityRows[entity] &+= 1
    for required in rules.entities[entity].required where isMissing(requiredColumns[required], row) {
      found.missing[required].add(rowid)
    }
  }

  private func isMissing(_ column: Int32, _ row: StoreStatement) -> Bool {
    readsLongValues ? row.isNull(column) : row.text(column) == "null"
  }

  func findings() -> CheckFindings {
    var findings = found.findings(table, rules)
    for (index, sum) in zip(table.indexes, sums) { findings.wanted[index.name] = sum }
    return findings
  }
}

/// What a walk through a table's rows counted, whoever walked.
struct RowTallies {
  var rows: UInt64 = 0
  /// By the rules' entities, required columns and orders.
  var entityRows: [UInt64]
  var missing: [KeyTally]
  var unordered: [KeyTally]
  var badEntity = KeyTally()
  var badKey = KeyTally()

  init(_ rules: RowRules) {
    entityRows = Array(repeating: 0, count: rules.entities.count)
    missing = Array(repeating: KeyTally(), count: rules.required.count)
    unordered = Array(repeating: KeyTally(), count: rules.orders.count)
  }

  func findings(_ table: SweptTable, _ rules: RowRules) -> CheckFindings {
    var findings = CheckFindings(walked: (table.schema.name, rows))
    for (entity, count) in zip(rules.entities, entityRows) { findings.entityRows[entity.name] = count }
    findings.add(table.fault(.entityNumber, message: "Z_ENT names no entity that the table may hold", tally: badEntity))
    findings.add(table.fault(.key, message: "Z_PK is below 1", tally: badKey))
    for (required, tally) in zip(rules.required, missing) {
      findings.add(
        table.fault(.requiredNull, message: "a required value is NULL", tally: tally, property: required.property),
        asWarning: true)
    }
    for (order, tally) in zip(rules.orders, unordered) {
      let message = "an object of an ordered relationship has no place in it"
      findings.add(
        table.fault(.missingOrder, message: message, tally: tally, property: order.property), asWarning: true)
    }
    return findings
  }
}

extension SweptTable {
  /// A fault that rows of the table share.
  func fault(
    _ kind: Violation.Kind, message: String, tally: KeyTally, property: PropertyReference? = nil
  ) -> Violation {
    Violation(
      kind: kind, entity: property?.entity ?? entity, property: property?.name ?? self.property, table: schema.name,
      message: message, count: tally.count, examples: tally.examples)
  }
}
