import CoreDataStore
import Streams

/// Settles the accounts of the versions that a step has read: what no unit read is read now.
struct VersionCount {
  /// The store's version first, then those between.
  private(set) var accounts: [VersionAccount] = []
  /// Objects in tables that no mapping reads.
  private(set) var unread: UInt64 = 0
  private var tallies: [ContentTally]

  /// Takes what the step has counted. Reads source tables whose objects have no mapping, and join tables that no
  /// relationship carries.
  init(_ plan: StepPlan, _ state: StepState) throws {
    tallies = state.tallies
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
    let scan = try RowScan.whole(origin.root, plan.graph.reader.snapshot, isWithoutRowid: origin.isWithoutRowid)
    let (page, seen) = (RowPage(), RowPage())
    while try scan.next(into: page) {
      guard let passed = plan.passed else {
        try body(page, &tallies)
        continue
      }
      try passed.make(page, of: table.rootPage, into: seen)
      for (place, tally) in passed.tallies.enumerated() { tallies[level + 1 + place].add(tally) }
      try body(seen, &tallies)
    }
  }
}
