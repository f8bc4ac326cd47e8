import CoreDataStore

/// Whether the tables and columns are exactly the model's.
struct SchemaCheck {
  let layout: StoreLayout
  let binding: StoreBinding
  let schema: StoreSchema
  /// Whether the store was built just now. Then names must be the model's own; otherwise they may be those of an
  /// earlier version.
  let isNew: Bool
  /// Other tables that are meant to be there, folded.
  let expected: Set<String>

  func findings() -> CheckFindings {
    var findings = CheckFindings()
    for table in strangeTables() {
      findings.add(fault("table \(table) is not the model's", table: table), asWarning: !isNew)
    }
    for column in binding.extras.columns {
      let entity = binding.tables.first { $0.schema.name == column.table }?.layout.rootEntity
      findings.add(
        fault("column \(column.column) is not the model's", table: column.table, entity: entity), asWarning: !isNew)
    }
    for table in binding.tables {
      let pairs = zip(table.layout.columns, table.positions).map { ($0.name, $1) }
      rename(table.layout.name, columns: pairs, found: table.schema, entity: table.layout.rootEntity, into: &findings)
      if table.layout.columns.first?.role == .primaryKey, !table.schema.columns[table.positions[0]].isRowidAlias {
        findings.add(fault("Z_PK is not the table's key", table: table.schema.name, entity: table.layout.rootEntity))
      }
    }
    for join in binding.joins { check(join, into: &findings) }
    if isNew { checkIndexes(into: &findings) } else { nameMissing(into: &findings) }
    return findings
  }

  private func strangeTables() -> [String] {
    let extras = binding.extras
    let unread = (schema.virtualTables + schema.foreign).map(\.row).filter { $0.type == "table" }.map(\.name)
    let trees = rtrees.filter(\.isThere).flatMap(\.tree.tableNames).map(NameOrder.folded)
    let expected = expected.union(trees)
    return (extras.history + extras.cloudKit + extras.tables + unread).filter { name in
      let folded = NameOrder.folded(name)
      return !expected.contains(folded) && !folded.hasPrefix("sqlite_")
    }
  }

  private func check(_ join: StoreBinding.Join, into findings: inout CheckFindings) {
    let layout = join.layout
    var pairs = [(layout.sourceColumn, join.sourcePosition), (layout.destinationColumn, join.destinationPosition)]
    if let name = layout.sourceOrderColumn, let place = join.sourceOrderPosition { pairs.append((name, place)) }
    if let name = layout.destinationOrderColumn, let place = join.destinationOrderPosition {
      pairs.append((name, place))
    }
    rename(layout.name, columns: pairs, found: join.schema, entity: layout.relationship.entity, into: &findings)
  }

  /// Reports a name that was taken for the model's, but is not.
  private func rename(
    _ name: String, columns: [(name: String, position: Int)], found: TableSchema, entity: String,
    into findings: inout CheckFindings
  ) {
    if NameOrder.folded(found.name) != NameOrder.folded(name) {
      findings.add(fault("the table should be called \(name)", table: found.name, entity: entity), asWarning: !isNew)
    }
    for column in columns {
      let other = found.columns[column.position].name
      guard NameOrder.folded(other) != NameOrder.folded(column.name) else { continue }
      findings.add(
        fault("column \(other) should be called \(column.name)", table: found.name, entity: entity), asWarning: !isNew)
    }
  }

  private var rtrees: [(tree: RTreeLayout, isThere: Bool)] {
    layout.rtrees.map { tree in (tree, schema.virtualTables.contains { tree.isMade(by: $0.row) }) }
  }

  /// A missing index makes a store slow, not wrong: a warning.
  private func checkIndexes(into findings: inout CheckFindings) {
    guard let wanted = try? StoreLayout(model: layout.model).indexes else { return }
    let found = Set(schema.indexes.map { Shape($0.table, $0.columns.map { ($0.column ?? "", $0.isDescending) }) })
    for index in wanted where !found.contains(Shape(index.table, index.columns.map { ($0.name, $0.isDescending) })) {
      findings.add(fault("index \(index.name) is missing", table: index.table, entity: nil), asWarning: true)
    }
    nameMissingTrees(into: &findings)
  }

  /// What the model declares and a store lacks that others wrote.
  private func nameMissing(into findings: inout CheckFindings) {
    for index in (try? layout.adopting(binding, schema: schema))?.indexes ?? [] where index.isMissing {
      let what = index.isUnique ? "the uniqueness constraint" : "the index"
      findings.add(
        Violation(
          kind: .missingIndex, table: index.table, message: "\(what) \(index.name) of the model is missing"),
        asWarning: true)
    }
    nameMissingTrees(into: &findings)
  }

  private func nameMissingTrees(into findings: inout CheckFindings) {
    for (tree, isThere) in rtrees where !isThere {
      findings.add(fault("the R-tree \(tree.name) is missing", table: tree.table, entity: tree.entity), asWarning: true)
    }
  }

  private func fault(_ message: String, table: String, entity: String? = nil) -> Violation {
    Violation(kind: .schema, entity: entity, table: table, message: message)
  }
}

/// What an index is, whatever its name.
private struct Shape: Hashable {
  let table: String
  let columns: [String]

  init(_ table: String, _ columns: [(name: String, isDescending: Bool)]) {
    self.table = NameOrder.folded(table)
    self.columns = columns.map { NameOrder.folded($0.name) + ($0.isDescending ? " DESC" : "") }
  }
}
