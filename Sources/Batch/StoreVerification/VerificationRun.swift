import CoreDataModel
import CoreDataStore
import RunSupport
import Streams

/// One verification: the parts in their order, and what they found.
struct VerificationRun {
  let path: String
  private let model: ManagedObjectModel
  private var numbering: EntityNumbering
  private var layout: StoreLayout
  let expectation: StoreVerifier.Expectation?
  let fileSystem: any FileSystem
  let memory: MemoryBudget
  let monitor: RunMonitor?
  let places: ExternalDataPlaces

  var findings = CheckFindings()
  private var tables: [VerificationReport.Rows] = []
  private var entityRows: [String: UInt64] = [:]

  init(
    path: String, model: ManagedObjectModel, expectation: StoreVerifier.Expectation?, fileSystem: any FileSystem,
    memory: MemoryBudget,
    monitor: RunMonitor?, places: ExternalDataPlaces
  ) throws {
    self.places = places
    (self.fileSystem, self.memory) = (fileSystem, memory)
    self.path = path
    self.monitor = monitor
    (self.model, numbering) = (model, try EntityNumbering(model: model))
    layout = try StoreLayout(model: model, purpose: .reading)
    self.expectation = expectation
  }

  private static let fixedTables = Set(StoreLayout.fixedTables.map { NameOrder.folded($0.name) })

  mutating func run(_ mode: VerificationMode, progress: (Double, String) -> Void) throws {
    let connection = try StoreConnection(path: path, monitor: monitor)
    let schema = try connection.readSchema()
    if schema.table("Z_PRIMARYKEY") != nil { try takeReadableNumbers(on: connection) }
    let binding: StoreBinding
    do {
      binding = try StoreBinding(model: model, numbering: numbering, schema: schema, path: path)
    } catch let error as BatchError where error.code == .badStore {
      // Without its tables nothing can be said about rows.
      findings.add(Violation(kind: .schema, entity: error.entity, message: error.message))
      take([try CheckBoard.findings(of: FileCheck.check(weight: 1), on: connection)])
      return
    }
    let plan = try CheckPlan(binding: binding, schema: schema, on: connection)
    take([CheckFindings(violations: plan.unreadable)])
    let proof = try prove(plan, mode: mode) { progress(mode == .sqlite ? 0.2 * $0 : $0, $1) }
    if mode != .sqlite, let result = proof.result {
      take(try result.findings(on: connection) { try board($0, progress: $1) })
    } else {
      // A proof with a result has seen every cell. To have SQLite look again takes a third of the time.
      take(try board(plan.checks(), knowsCells: proof.result != nil) { progress(0.2 + 0.8 * $0, $1) })
      take(try differences(plan, on: connection))
    }
    take(proof.faults)
    if mode != .fast { take(try board(plan.conditionChecks()) { _, _ in }) }
    take(try board(plan.countChecks(entityRows)) { _, _ in })
    take(try board(plan.rtreeChecks(isWritten: expectation != nil, asksSQLite: mode != .full)) { _, _ in })
    take(try board(plan.externalChecks(places, fileSystem: fileSystem, monitor: monitor)) { _, _ in })
    take(try names(plan, on: connection))
    try compareRows(plan, on: connection)
    try nameEntities(plan, on: connection)
  }

  /// Damage is a finding, and the proof follows.
  private mutating func takeReadableNumbers(on connection: StoreConnection) throws {
    do { try takeNumbers(on: connection) } catch let failure as StoreFailure where failure.isDamage {
      let message = "SQLite cannot read the table: \(failure.message)"
      findings.add(Violation(kind: .damaged, table: "Z_PRIMARYKEY", message: message))
    }
  }

  /// A store that was not built just now may number the entities otherwise than its model.
  private mutating func takeNumbers(on connection: StoreConnection) throws {
    guard expectation?.hasModelNames != true else { return }
    var keys: [StoreReader.PrimaryKey] = []
    try connection.rows("SELECT Z_ENT, Z_NAME, Z_SUPER, Z_MAX FROM Z_PRIMARYKEY") { row in
      keys.append(
        .init(
          entityNumber: row.integer(0), name: row.text(1) ?? "", superNumber: row.integer(2), maximum: row.integer(3)))
    }
    do {
      numbering = try StoreNumbers(model: model, keys: keys, path: path).numbering()
      layout = try StoreLayout(model: model, purpose: .reading, numbering: numbering)
    } catch let error as BatchError where error.code == .badStore {
      findings.add(Violation(kind: .primaryKeys, entity: error.entity, table: "Z_PRIMARYKEY", message: error.message))
    }
  }

  private func board(
    _ checks: [StoreCheck], knowsCells: Bool = false, progress: (Double, String) -> Void
  ) throws -> [CheckFindings] {
    guard !checks.isEmpty else { return [] }
    return try CheckBoard(path: path, checks: checks, monitor: monitor, knowsCells: knowsCells).run(progress: progress)
  }

  /// Tables, columns and the fixed tables: what the store says of itself.
  private func names(_ plan: CheckPlan, on connection: StoreConnection) throws -> [CheckFindings] {
    let isNew = expectation?.hasModelNames ?? false
    let fixed = FixedTableCheck(layout: layout, path: path, isNew: isNew)
    let known = (expectation?.otherTables ?? []).union((expectation?.rows ?? [:]).keys)
    let expected = Set(known.map(NameOrder.folded))
    return [
      SchemaCheck(layout: layout, binding: plan.binding, schema: plan.schema, isNew: isNew, expected: expected)
        .findings(),
      try fixed.metadata(expectedUUID: expectation?.uuid, on: connection),
      try fixed.primaryKeys(largest: plan.largestKeys, on: connection),
    ]
  }

  mutating func take(_ parts: [CheckFindings]) {
    for part in parts {
      findings.violations += part.violations
      findings.warnings += part.warnings
      if let walked = part.walked { tables.append(.init(name: walked.table, rows: walked.rows)) }
      entityRows.merge(part.entityRows) { $0 &+ $1 }
      findings.wanted.merge(part.wanted) { $1 }
      findings.found.merge(part.found) { $1 }
      if let external = part.external { findings.external = findings.external?.adding(external) ?? external }
    }
  }

  /// Looks closer at the indexes whose entries are not those of their tables.
  private func differences(_ plan: CheckPlan, on connection: StoreConnection) throws -> [CheckFindings] {
    let swept = plan.schema.tables.compactMap { plan.table($0.name) }
    return try swept.flatMap { table in
      try table.indexes.compactMap { index in
        // A walk that ended at damage has no sum, and its finding already.
        guard let wanted = findings.wanted[index.name], let found = findings.found[index.name], wanted != found else {
          return nil
        }
        let check = StoreCheck(name: "the index \(index.name)", weight: 1) {
          try IndexSweep(table: table, index: index).differences(on: $0)
        }
        return try CheckBoard.findings(of: check, on: connection)
      }
    }
  }

  private mutating func compareRows(_ plan: CheckPlan, on connection: StoreConnection) throws {
    let found = Dictionary(tables.map { (NameOrder.folded($0.name), $0.rows) }, uniquingKeysWith: { first, _ in first })
    for (name, expected) in (expectation?.rows ?? [:]).sorted(by: { $0.key < $1.key }) {
      let rows = try found[NameOrder.folded(name)] ?? count(name, on: connection)
      guard rows != expected else { continue }
      let count = rows.map { $0.counted("row") } ?? "no readable rows"
      let table = plan.table(name)
      findings.add(
        Violation(
          kind: .rowCount, entity: table?.entity, property: table?.property, table: name,
          message: "table \(name) has \(count) instead of \(expected)"))
    }
  }

  /// Rows of a table that is not the model's and cannot be swept, as one with generated columns; nil when there is no
  /// such table.
  private func count(_ name: String, on connection: StoreConnection) throws -> UInt64? {
    var isThere = false
    let quoted = StoreConnection.quoted(name)
    try connection.rows("SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0") { row in
      isThere = isThere || row.text(0) == name
    }
    guard isThere else { return nil }
    var count: Int64 = 0
    try connection.rows("SELECT count(*) FROM \(quoted)") { count = $0.integer(0) }
    return UInt64(clamping: count)
  }

  /// Names the entity of the first row concerned, where it is a sub-entity of the one that declares the property.
  private mutating func nameEntities(_ plan: CheckPlan, on connection: StoreConnection) throws {
    for bound in plan.binding.tables {
      guard let table = plan.table(bound.schema.name), let column = plan.column(.entity, in: bound) else { continue }
      let sql = "SELECT \(StoreConnection.quoted(column)) FROM \(table.quoted) WHERE \(table.rowid) = "
      func named(_ violation: Violation) throws -> Violation {
        guard violation.table == bound.schema.name, let key = violation.examples.first?.key else { return violation }
        var named = violation
        try connection.rows(sql + String(key)) { row in
          let position = Int(exactly: row.integer(0)).map { $0 &- 1 } ?? -1
          if layout.entityNames.indices.contains(position) { named.entity = layout.entityNames[position] }
        }
        return named
      }
      findings.violations = try findings.violations.map(named)
      findings.warnings = try findings.warnings.map(named)
    }
  }

  func report(seconds: Double) -> VerificationReport {
    let entities = layout.entityNames.filter { layout.model.entity($0)?.isAbstract == false }
    let unread = entities.filter { entityRows[$0] == nil }
    return VerificationReport(
      path: path, tables: tables.filter { !Self.fixedTables.contains(NameOrder.folded($0.name)) },
      entities: entities.compactMap { name in entityRows[name].map { .init(name: name, rows: $0) } },
      unreadEntities: unread.isEmpty ? nil : unread, external: findings.external,
      violations: findings.violations,
      warnings: findings.warnings, seconds: seconds)
  }
}
