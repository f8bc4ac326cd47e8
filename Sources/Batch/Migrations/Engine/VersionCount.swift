import CoreDataStore
import Streams

/// Settles the accounts of the versions that a step has read: what no unit read is read now.
package struct VersionCount {
  /// A trial reads a part of each table.
  package struct Sample {
    /// Rows of tables, by their roots, where that is known.
    let rows: [UInt32: Double]
    /// After so many bytes of a table's rows, and of all tables' rows, no further page is read.
    let bytes: Int
    let allBytes: Int

    package init(rows: [UInt32: Double], bytes: Int = 2 << 20, allBytes: Int = 8 << 20) {
      (self.rows, self.bytes, self.allBytes) = (rows, bytes, allBytes)
    }
  }

  /// The store's version first, then those between.
  private(set) var accounts: [VersionAccount] = []
  /// Seconds that reading takes, in a trial those of all rows.
  package private(set) var seconds = 0.0
  private let sample: Sample?
  private var bytesRead = 0
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
        tally, level.binding, to: level.step.destination, known: level.graph.entities, next: level.layout)
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
      if let links = linksOfRows(bound.schema.rootPage, plan, level: level) {
        tallies[level].add(links: links, of: join)
        continue
      }
      try scan(plan, table: bound.schema, level: level) { page, tallies in
        tallies[level].add(links: UInt64(page.count), of: join)
      }
    }
  }

  /// How many links a passed step makes of the keys in rows that are counted by now; nil where they must be read.
  private func linksOfRows(_ join: UInt32, _ plan: StepPlan, level: Int) -> UInt64? {
    // Of rows that another step makes not all are counted yet.
    guard let passed = plan.passed, passed.plan.passed == nil, let (table, position) = passed.keysOfLinks(join) else {
      return nil
    }
    let layout = passed.plan.binding.layout
    let numbers = layout.entityNumbers.filter { layout.tablePosition(ofEntity: $0.key) == table }.values
    return numbers.reduce(0) { $0 &+ tallies[level + 1].rows.values($1, column: position) }
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
    var (rows, bytes, isWhole) = (0, 0, true)
    while try scan.next(into: page) {
      // A row has a header of its own.
      (rows, bytes) = (rows + page.count, bytes + page.byteCount + page.count * 16)
      if let passed = plan.passed {
        try passed.make(page, of: table.rootPage, into: seen)
        for (place, tally) in passed.tallies.enumerated() { tallies[level + 1 + place].add(tally) }
      }
      try body(plan.passed == nil ? page : seen, &tallies)
      isWhole = sample.map { bytes < $0.bytes && bytesRead + bytes < $0.allBytes } ?? true
      if !isWhole { break }
    }
    bytesRead += bytes
    let elapsed = (ContinuousClock.now - begin) / .seconds(1)
    seconds += isWhole ? elapsed : elapsed * max(1, try all(origin.root, snapshot) / Double(rows))
  }

  /// Rows of a table, estimated.
  private func all(_ root: UInt32, _ snapshot: DatabaseSnapshot) throws -> Double {
    // More rows than fit into the file are none of a sound store's.
    let most = Double(snapshot.pageCount) * Double(snapshot.geometry.pageSize) / 4
    return try min(most, sample?.rows[root] ?? TreeEstimate(root: root, in: snapshot, pages: 128).rows)
  }
}
