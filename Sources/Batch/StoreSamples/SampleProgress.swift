import CoreDataStore

/// How much of a sample is written: counts rows in tables and rows in indexes alike, as they take about as long.
struct SampleProgress {
  /// Rows of every index, in the order in which indexes are built.
  private let indexRows: [UInt64]
  private let total: UInt64
  private var done: UInt64 = 0
  private let report: (Double) -> Void

  init(plan: SamplePlan, report: @escaping (Double) -> Void) {
    let layout = plan.layout
    let links = layout.joinTables.indices.map { plan.links(ofTable: $0)?.expectedCount ?? 0 }
    let names = layout.entityTables.map(\.name) + layout.joinTables.map(\.name)
    let counts = plan.keys.map(\.count) + links
    let rows = Dictionary(zip(names, counts), uniquingKeysWith: { first, _ in first })
    indexRows = links + layout.indexes.map { rows[$0.table] ?? 0 }
    total = max(1, counts.reduce(0, +) + indexRows.reduce(0, +))
    self.report = report
  }

  mutating func advance(by rows: UInt64) {
    done += rows
    // Links are estimated, and 1 means that all is durable.
    report(min(0.999, Double(done) / Double(total)))
  }

  mutating func finishIndex(_ position: Int) { advance(by: indexRows[position]) }
}
