import CoreDataStore
import Streams

/// Settles the accounts of the versions that a step has read: what no unit read is read now.
package struct VersionCount {
  /// A trial reads a part of each table.
  package struct Sample {
    /// Rows of tables, by their roots, where that is known.
    let rows: [UInt32: Double]
    /// After so many rows of a table no further page is read.
    let most: UInt64

    package init(rows: [UInt32: Double], most: UInt64 = 20_000) { (self.rows, self.most) = (rows, most) }
  }

  /// The store's version first, then those between.
  private(set) var accounts: [VersionAccount] = []
  /// Seconds that reading takes, in a trial those of all rows.
  package private(set) var seconds = 0.0
  private let sample: Sample?
  /// Objects in tables that no mapping reads.
  private(set) var unread: UInt64 = 0
  private var tallies: [ContentTally]

  /// Takes what the step has counted. Reads source tables whose objects have no mapping, and join tables that no
  /// relationship carries.
  package init(_ plan: StepPlan, _ state: StepState, sample: Sample? = nil) throws {
    (tallies, self.sample) = (state.tallies, sample)
    let levels = Array(sequence(first: plan) { $0.passed?.plan })
    for level in levels { try read(level) }
    accounts = try zip(levels, tallies).reversed().map { level, tally in
      try level.step.lines().account.counted(
        tally, level.binding, known: level.graph.entities, next: level.layout)
    }
    accounts[0].lines += TriggerLines(plan).lines
  }

  private mutating func read(_ plan: StepPlan) throws {
    let level = tallies.count - 1 - plan.depth
    var (tables, joins): (Set<Int>, Set<UInt32>) = ([], [])
    for unit in plan.units {
      if case .rows(let table, _) = unit { tables.insert(table) }
      if case .links(let link) = unit { joins.insert(link.scan.root) }
    }
    for (table, bound) in plan.binding.tables.enumerated() where !tables.contains(table) {
      let tally = try TableTally(plan.binding, table: table, plan.conversions)
      let before = tallies[level].rows.objects
      try scan(plan, table: bound.schema, level: level) { page, tallies in
        try tally.count(page, into: &tallies[level], path: plan.graph.reader.path)
      }
      unread += tallies[level].rows.objects - before
    }
    for (join, bound) in plan.binding.joins.enumerated() where !joins.contains(bound.schema.rootPage) {
      try scan(plan, table: bound.schema, level: level) { page, tallies in
        tallies[level].add(links: UInt64(page.count), of: join)
      }
    }
  }

  /// Reads a table of a step's source; of a version between, its rows are made on the way, and what they are made of is
  /// counted with them.
  private mutating func scan(
    _ plan: StepPlan, table: TableSchema, level: Int, body: (RowPage, inout [ContentTally]) throws -> Void
  ) throws {
    guard let origin = plan.graph.origin(table.rootPage, isWithoutRowid: table.isWithoutRowid) else { return }
    let snapshot = plan.graph.reader.snapshot
    let scan = try RowScan.whole(origin.root, snapshot, isWithoutRowid: origin.isWithoutRowid)
    let (page, seen) = (RowPage(), RowPage())
    let begin = ContinuousClock.now
    var rows: UInt64 = 0
    while rows < sample?.most ?? .max, try scan.next(into: page) {
      rows += UInt64(page.count)
      guard let passed = plan.passed else {
        try body(page, &tallies)
        continue
      }
      try passed.make(page, of: table.rootPage, into: seen)
      for (place, tally) in passed.tallies.enumerated() { tallies[level + 1 + place].add(tally) }
      try body(seen, &tallies)
    }
    let elapsed = (ContinuousClock.now - begin) / .seconds(1)
    seconds += elapsed * max(1, try all(origin.root, snapshot) / Double(max(1, rows)))
  }

  /// Rows of a table of which a trial reads a part; 0 in a run.
  private func all(_ root: UInt32, _ snapshot: DatabaseSnapshot) throws -> Double {
    guard let sample else { return 0 }
    return try sample.rows[root] ?? TreeEstimate(root: root, in: snapshot, pages: 128).rows
  }
}
