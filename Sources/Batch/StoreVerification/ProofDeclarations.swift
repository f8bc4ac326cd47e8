import CoreDataStore
import Streams

// What a full proof looks at beyond the rules of the model: what SQLite's integrity_check looks at, and R-trees.
extension ProofPlan {
  /// Adds what the declarations of all tables ask for.
  mutating func addDeclarations() {
    for place in tables.indices {
      guard let schema = plan.schema.table(tables[place].name) else { continue }
      tables[place].rules = Self.rules(schema)
      if Self.isJudged(schema) || tables[place].indexes.contains(where: { $0.columns == nil }) {
        judged.insert(schema.name)
      }
    }
    tables[0].rules = (0..<5).compactMap {
      ProofColumnRule(column: $0, isNotNull: false, holding: $0 == 3 ? .numbers : .texts)
    }
    for place in trees.indices { addKey(of: place) }
    for row in plan.schema.foreign.map(\.row)
    where ["table", "index"].contains(row.type) && row.rootPage > 0
      && !NameOrder.folded(row.name).hasPrefix("sqlite_")
    {
      judged.insert(row.type == "index" ? row.tableName : row.name)
    }
    for text in plan.schema.virtualTables { addTree(text.row) }
    addMissingIndexes()
  }

  private mutating func addMissingIndexes() {
    let there = Set(plan.schema.rows.filter { $0.type == "index" }.map { NameOrder.folded($0.name) })
    for table in plan.schema.tables {
      for name in table.clauseIndexes where !there.contains(NameOrder.folded(name)) {
        faults.append((table.name, "the index \(name), which a clause of the table asks for, is missing"))
      }
    }
  }

  /// Whether SQLite has to look at values of a table: at declared types, and at those that an expression gives to short
  /// records.
  private static func isJudged(_ schema: TableSchema) -> Bool {
    schema.isStrict || schema.columns.contains(where: \.hasUnknownDefault)
  }

  private static func rules(_ schema: TableSchema) -> [ProofColumnRule] {
    schema.columns.enumerated().compactMap { place, column in
      guard !column.isRowidAlias, !column.hasUnknownDefault else { return nil }
      let holding: ProofColumnRule.Holding
      switch column.affinity {
      case .text: holding = .texts
      case .integer, .real, .numeric: holding = .numbers
      case .blob: holding = .anything
      }
      return ProofColumnRule(column: place, isNotNull: column.isNotNull, holding: holding)
    }
  }

  // MARK: Tables without rowids

  private mutating func addKey(of place: Int) {
    let name = trees[place].name
    if let schema = plan.schema.table(name), schema.isWithoutRowid {
      let indexes = keyedIndexes(of: schema)
      guard let key = keys(schema.key, at: schema.position), !Self.isJudged(schema),
        indexes.allSatisfy({ keys($0.columns + $0.further, at: schema.position) != nil })
      else { return _ = judged.insert(name) }
      var tree = ProofKeyedTree(key: key)
      (tree.rules, tree.defaults) = (Self.rules(schema), Self.defaults(schema))
      tree.entries = indexes.map { ($0.columns + $0.further).compactMap { $0.column.flatMap(schema.position) } }
      trees[place].keyed = tree
    } else if let index = plan.schema.indexes.first(where: { $0.name == name }),
      plan.schema.table(index.table)?.isWithoutRowid == true
    {
      let columns = index.columns + index.further
      var names = columns.indices.makeIterator()
      guard let key = keys(columns, at: { _ in names.next() }) else { return }
      var tree = ProofKeyedTree(key: key, uniqueCount: index.isUnique ? index.columns.count : nil)
      tree.entries = [Array(columns.indices)]
      trees[place].keyed = tree
    }
  }

  /// The indexes of a table WITHOUT ROWID, in the order of the table's sums of entries.
  func keyedIndexes(of table: TableSchema) -> [IndexSchema] {
    plan.schema.indexes.filter { NameOrder.folded($0.table) == NameOrder.folded(table.name) }
  }

  private func keys(_ keys: [IndexSchema.Key], at position: (String) -> Int?) -> [ProofIndexColumn]? {
    let columns = keys.compactMap { key -> ProofIndexColumn? in
      guard let place = key.column.flatMap(position), let comparison = Self.comparison(key) else { return nil }
      return ProofIndexColumn(column: place, isDescending: isDescending(key), collation: comparison)
    }
    return columns.count == keys.count && !columns.isEmpty ? columns : nil
  }

  // MARK: R-trees

  private mutating func addTree(_ row: SchemaRow) {
    guard let shape = RTreeShape(row.sql ?? "") else { return }
    let (nodes, rows, parents) = (
      shadow("_node", of: row, columns: ["nodeno", "data"]), shadow("_rowid", of: row, columns: ["rowid", "nodeno"]),
      shadow("_parent", of: row, columns: ["nodeno", "parentnode"])
    )
    guard shape.isPossible, let nodes, let rows, let parents else {
      return faults.append((row.name, "the R-tree \(row.name) or its tables are not as SQLite makes them"))
    }
    let first = pairCount + 2 * rtrees.count
    tables[rows].pairs.append(.init(column: 1, sum: first, isForward: true))
    tables[parents].pairs.append(.init(column: 1, sum: first + 1, isForward: true))
    rtrees.append(
      ProofRTree(name: row.name, nodes: tables[nodes].root, bounds: shape.bounds, isInteger: shape.isInteger))
    rtreeTables.append((rows, parents))
  }

  /// The place of a table that an R-tree keeps, whose columns are the rowid and what SQLite asks for by name.
  private func shadow(_ suffix: String, of row: SchemaRow, columns: [String]) -> Int? {
    guard let schema = plan.schema.table(row.name + suffix), schema.columns.first?.isRowidAlias == true,
      schema.columns.prefix(2).map({ NameOrder.folded($0.name) }) == columns
    else { return nil }
    return tables.firstIndex { $0.name == schema.name }
  }
}
