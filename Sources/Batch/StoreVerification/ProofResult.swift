import CoreDataStore
import RunSupport
import Streams

/// Turns what the proof found into findings that name entities and keys.
struct ProofResult {
  let plan: CheckPlan
  let wanted: ProofPlan
  let found: Proof.Findings
  let expectation: StoreVerifier.Expectation?
  let memory: MemoryBudget

  /// What the proof found in a sound file. Rows that it cannot name are looked for by SQLite.
  func findings(
    on connection: StoreConnection, board: ([StoreCheck], (Double, String) -> Void) throws -> [CheckFindings]
  ) throws -> [CheckFindings] {
    let others = wanted.isFull ? judgedChecks() : plan.unwalkableChecks()
    var findings = try rows() + board(others) { _, _ in } + indexes(on: connection)
    if wanted.isFull { findings.append(declared()) }
    if hasDoubtfulKeys { findings += keys(try board(plan.references().map(plan.check)) { _, _ in }) }
    return findings
  }

  /// Counts, warnings, and rows that break the rules of their table.
  private func rows() -> [CheckFindings] {
    zip(wanted.tables, found.rows).compactMap { table, rows in
      guard let rows, let swept = plan.table(table.name) else { return nil }
      let rules = plan.rules(for: swept)
      var tallies = RowTallies(rules)
      tallies.rows = rows.digest.count
      tallies.entityRows = rows.kinds
      tallies.missing = rows.missing.map(KeyTally.init)
      tallies.unordered = rows.misplaced.map(KeyTally.init)
      (tallies.badEntity, tallies.badKey) = (KeyTally(rows.strangeKinds), KeyTally(rows.lowKeys))
      return tallies.findings(swept, rules)
    }
  }

  /// Faults of the file's structure.
  func damage() -> CheckFindings {
    CheckFindings(
      violations: found.damage.map { name, error in
        let table = plan.table(name) ?? plan.schema.indexes.first { $0.name == name }.flatMap { plan.table($0.table) }
        return Violation(
          kind: .damaged, entity: table?.entity, property: table?.property, table: table?.schema.name,
          message: "\(name): \(error.message)" + (error.page.map { " (database page \($0))" } ?? ""))
      })
  }

  /// Tables and trees whose rows are not the ones that were written.
  func contents() -> CheckFindings {
    var findings = CheckFindings()
    for (table, rows) in zip(wanted.tables, found.rows) {
      guard let rows, let expected = expectation?.digests[table.name] else { continue }
      add(table.name, digest: rows.digest, expected: expected, to: &findings)
    }
    for (tree, entries) in zip(wanted.trees, found.entries.suffix(wanted.trees.count)) {
      guard let entries, let expected = expectation?.digests[tree.name] else { continue }
      add(tree.name, digest: entries.digest, expected: expected, to: &findings)
    }
    return findings
  }

  private func add(_ name: String, digest: ProofDigest, expected: ProofDigest, to findings: inout CheckFindings) {
    guard digest != expected else { return }
    let keys = digest.rows(differingFrom: expected, largest: max(plan.largestKey(of: name), 1) &* 2 &+ 1000)
    let what =
      digest.count < expected.count
      ? "rows are missing"
      : digest.count > expected.count ? "there are rows that were not written" : "rows are not as written"
    let table = plan.table(name)
    findings.add(
      Violation(
        kind: .contents, entity: table?.entity, property: table?.property, table: name,
        message: "\(what) in table \(name)", count: UInt64(max(1, keys.count)),
        examples: keys.map { Violation.Example(key: $0, destination: nil) }))
  }

  /// Indexes that are out of order, or hold other entries than their tables ask for.
  private func indexes(on connection: StoreConnection) throws -> [CheckFindings] {
    var results: [CheckFindings] = []
    var position = 0
    for (table, rows) in zip(wanted.tables, found.rows) {
      for (number, index) in table.indexes.enumerated() {
        defer { position += 1 }
        guard let entries = found.entries[position], let rows, let swept = plan.table(table.name), index.columns != nil
        else {
          continue
        }
        var findings = CheckFindings()
        let name = index.name
        findings.add(
          swept.fault(
            .index, message: "entries of the index \(name) are out of order", tally: KeyTally(entries.disordered)))
        findings.add(
          swept.fault(
            .unique, message: "a value of the unique index \(name) occurs more than once",
            tally: KeyTally(entries.repeated)))
        results.append(findings)
        guard rows.entries[number] != entries.digest || rows.isPartial || entries.isPartial else { continue }
        results.append(try difference(index, table: swept, rows: rows, entries: entries, on: connection))
      }
    }
    return results
  }

  private func difference(
    _ index: ProofIndex, table: SweptTable, rows: ProofRows, entries: ProofEntries, on connection: StoreConnection
  ) throws -> CheckFindings {
    // Entries that are too long for the proof's memory are judged by SQLite alone.
    if rows.isPartial || entries.isPartial {
      return try CheckBoard.findings(of: FileCheck.checkIndexes(of: table.schema.name, weight: 1), on: connection)
    }
    guard let walked = table.indexes.first(where: { $0.name == index.name }) else {
      let message = "the index \(index.name) and its table hold different entries"
      return CheckFindings(violations: [table.fault(.index, message: message, tally: KeyTally(one: nil))])
    }
    let check = StoreCheck(name: "the index \(index.name)", weight: 1) {
      try IndexSweep(table: table, index: walked).differences(on: $0)
    }
    return try CheckBoard.findings(of: check, on: connection)
  }

  /// Whether there is a key that leads nowhere, or a one-to-one relationship whose sides differ. SQLite finds which
  /// rows they are.
  private var hasDoubtfulKeys: Bool { expectation?.isSample != true && (hasBadKeys || hasUnequalSides) }

  private var hasBadKeys: Bool { !found.dangling.isEmpty || found.rows.contains { ($0?.badReferences ?? 0) > 0 } }

  private var hasUnequalSides: Bool {
    var sums: [Int: (forward: UInt64, backward: UInt64)] = [:]
    for (sum, pair) in found.rows.compactMap({ $0?.pairs }).joined() where sum < wanted.pairCount {
      let old = sums[sum] ?? (0, 0)
      sums[sum] = (old.forward &+ pair.forward, old.backward &+ pair.backward)
    }
    return sums.values.contains { $0.forward != $0.backward }
  }

  /// What SQLite found of the keys that the proof doubts; it must not have found less.
  private func keys(_ findings: [CheckFindings]) -> [CheckFindings] {
    guard !found.dangling.isEmpty, wanted.followsKeys(memory), findings.allSatisfy(\.violations.isEmpty) else {
      return findings
    }
    let message = "a key leads to no row, or to one of a wrong entity, and SQLite does not find it"
    return findings + [CheckFindings(violations: [Violation(kind: .dangling, message: message)])]
  }
}

extension KeyTally {
  init(_ tally: ProofTally) {
    self.init(count: tally.count, examples: tally.keys.map { Violation.Example(key: $0, destination: nil) })
  }

  /// One row.
  init(one key: Int64?) {
    self.init()
    add(key)
  }
}
