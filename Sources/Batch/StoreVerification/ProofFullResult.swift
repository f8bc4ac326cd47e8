import CoreDataStore
import Streams

// What a full proof found beyond the rules of the model.
extension ProofResult {
  /// Values that their columns do not allow, faults of tables without rowids and of R-trees.
  func declared() -> CheckFindings {
    var findings = CheckFindings()
    for (table, rows) in zip(wanted.tables, found.rows) {
      for (rule, tally) in zip(table.rules, rows?.broken ?? []) {
        let columns = plan.schema.table(table.name)?.columns ?? []
        let column = columns.indices.contains(rule.column) ? columns[rule.column].name : "\(rule.column + 1)"
        findings.add(fault(.columnRule, message: Self.words(rule, column), in: table.name, tally: KeyTally(tally)))
      }
    }
    for (tree, entries) in zip(wanted.trees, found.entries.suffix(wanted.trees.count)) {
      guard let rows = entries?.keyed, let keyed = tree.keyed else { continue }
      addKeyed(tree, rows: rows, keyed: keyed, to: &findings)
    }
    for place in wanted.rtrees.indices { addRTree(place, to: &findings) }
    for (table, message) in wanted.faults {
      findings.add(fault(.index, message: message, in: table, tally: KeyTally(one: nil)))
    }
    return findings
  }

  /// Tables that SQLite has to judge: nothing else knows their expressions or collations, or runs through texts that
  /// are longer than the proof's memory.
  func judgedChecks() -> [StoreCheck] {
    var names = wanted.judged
    for (table, rows) in zip(wanted.tables, found.rows) where rows?.isPartial == true { names.insert(table.name) }
    for (tree, entries) in zip(wanted.trees, found.entries.suffix(wanted.trees.count))
    where entries?.keyed?.isPartial == true {
      names.insert(plan.schema.indexes.first { $0.name == tree.name }?.table ?? tree.name)
    }
    return names.sorted().map { FileCheck.checkIndexes(of: $0, weight: Double(plan.largestKey(of: $0)) * 10) }
  }

  private func fault(_ kind: Violation.Kind, message: String, in name: String, tally: KeyTally) -> Violation {
    let table = plan.table(name)
    return Violation(
      kind: kind, entity: table?.entity, property: table?.property, table: name, message: message, count: tally.count,
      examples: tally.examples)
  }

  private static func words(_ rule: ProofColumnRule, _ column: String) -> String {
    let words: [String?]
    switch rule.holding {
    case .anything: words = [nil]
    case .texts: words = ["a number instead of a text"]
    case .numbers: words = ["the text of a number instead of a number"]
    }
    let all = words.compactMap { $0 } + (rule.isNotNull ? ["NULL, which it does not allow"] : [])
    return "column \(column) holds \(all.joined(separator: ", or "))"
  }

  private func addKeyed(
    _ tree: ProofIndex, rows: ProofKeyedRows, keyed: ProofKeyedTree, to findings: inout CheckFindings
  ) {
    func add(_ kind: Violation.Kind, _ message: String, count: UInt64) {
      let index = plan.schema.indexes.first { $0.name == tree.name }
      findings.add(fault(kind, message: message, in: index?.table ?? tree.name, tally: KeyTally(count: count)))
    }
    add(.index, "records of \(tree.name) are out of the order of their key", count: rows.disordered)
    add(.unique, "a value of the unique index \(tree.name) occurs more than once", count: rows.repeated)
    guard let schema = plan.schema.table(tree.name) else { return }
    for (rule, count) in zip(keyed.rules, rows.broken) {
      add(.columnRule, Self.words(rule, schema.columns[rule.column].name), count: count)
    }
    for (index, wantedEntries) in zip(wanted.keyedIndexes(of: schema), rows.entries) {
      guard let place = wanted.trees.firstIndex(where: { $0.name == index.name }),
        let entries = found.entries[found.entries.count - wanted.trees.count + place]?.keyed,
        !entries.isPartial, !rows.isPartial, entries.entries.first != wantedEntries
      else { continue }
      add(.index, "the index \(index.name) and its table hold different entries", count: 1)
    }
  }

  private func addRTree(_ place: Int, to findings: inout CheckFindings) {
    let (tree, tables) = (wanted.rtrees[place], wanted.rtreeTables[place])
    guard let found = found.rtrees[place], let rowids = self.found.rows[tables.rows],
      let parents = self.found.rows[tables.parents]
    else { return }
    func sum(_ rows: ProofRows, _ table: Int) -> UInt64 {
      wanted.tables[table].pairs.last.flatMap { rows.pairs[$0.sum]?.forward } ?? 0
    }
    func add(_ message: String, _ tally: KeyTally) {
      findings.add(fault(.index, message: "the R-tree \(tree.name) \(message)", in: tree.name, tally: tally))
    }
    if rowids.digest.count != found.rows || sum(rowids, tables.rows) != found.rowSum {
      add("and its table of rows name different nodes", KeyTally(one: nil))
    }
    if parents.digest.count != found.children || sum(parents, tables.parents) != found.childSum {
      add("and its table of parents name different nodes", KeyTally(one: nil))
    }
    add("has nodes with impossible bounds", KeyTally(count: found.unbounded.count))
  }
}
