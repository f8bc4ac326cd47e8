import CoreDataStore
import RunSupport
import Streams

/// Finds links that stand in a join table more than once, because policies added them in several calls, or to those of
/// the source. A set holds an object once: the first link stays, the others are removed as late changes.
struct RepeatedLinks {
  let job: StepJob
  let output: StepOutput

  /// Logs the removal of repeated links of some join tables; returns how many there are, by relationship. The output's
  /// tables are finished on return.
  func remove(from joins: [Int], _ patches: PatchLog) throws -> [String: UInt64] {
    let snapshot = try output.finishedTables()
    defer { snapshot.close() }
    var removed: [String: UInt64] = [:]
    for join in joins {
      let table = job.plan.layout.joinTables[join]
      let count = try remove(from: table, join, snapshot: snapshot, patches: patches)
      if count > 0 { removed[table.relationship.description] = count }
    }
    return removed
  }

  private func remove(
    from join: JoinTable, _ index: Int, snapshot: DatabaseSnapshot, patches: PatchLog
  ) throws -> UInt64 {
    guard let root = output.database.root(of: join.name), let source = join.columns.firstIndex(of: join.sourceColumn),
      let destination = join.columns.firstIndex(of: join.destinationColumn)
    else { throw BatchError(.failed, "the schema lacks \(join.name)") }
    let sorter = ExternalSorter(
      memoryBytes: job.files.budget.sortBytes, path: job.files.path("links.sort"), fileSystem: job.files.fileSystem)
    let scan = TableScan(snapshot: snapshot, root: root, rowLimit: job.files.budget.rowLimit)
    let (page, row) = (RowPage(), RecordDecoder())
    var key = [UInt8](repeating: 0, count: 24)
    while try scan.next(into: page) {
      try job.monitor.throwIfStopRequested()
      for position in 0..<page.count where row.decode(page.record(position)) {
        guard let from = row.integer(source), let to = row.integer(destination) else { continue }
        for (word, value) in [from, to, page.rowid(position)].enumerated() {
          let biased = (UInt64(bitPattern: value) ^ 1 << 63).bigEndian
          key.withUnsafeMutableBytes { $0.storeBytes(of: biased, toByteOffset: 8 * word, as: UInt64.self) }
        }
        try key.withUnsafeBytes { try sorter.add($0) }
      }
    }
    var (last, count): ((UInt64, UInt64)?, UInt64) = (nil, 0)
    try sorter.drain { key in
      let link = (key.loadUnaligned(as: UInt64.self), key.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
      defer { last = link }
      guard let last, last == link else { return }
      let rowid = Int64(bitPattern: UInt64(bigEndian: key.loadUnaligned(fromByteOffset: 16, as: UInt64.self)) ^ 1 << 63)
      try patches.remove(table: job.plan.layout.entityTables.count + index, key: rowid)
      count += 1
    }
    return count
  }
}
