import RunSupport
import Streams

/// Collects and sorts the entries of indexes while their tables are written, by stages behind the writing one or, of
/// small stores, at once.
///
/// Only for tables whose rows all come by here from the first one on: what is left out is read from the finished table
/// by ``IndexPass``, which gives the same bytes (I8).
final class EntryCollector: @unchecked Sendable {
  // Sendable: what changes is touched by the writing thread alone; lanes have their own.
  private let tableNames: [String]
  private var entries: IndexEntries
  private var lanes: [EntryLane] = []

  /// Begins to collect for tables without rows; nil if none of them has an index. `tableNames` are those of all tables
  /// that records are numbered by; further numbers are spools. Records refer to long values of `source`. `used` gets
  /// pages whose entries are taken.
  init?(
    _ indexes: [StoreIndex], tableNames: [String], isEmpty: [Bool], files: StepFiles, source: DatabaseSnapshot,
    used: BoundedQueue<RecordPage>, crew: Crew?
  ) {
    self.tableNames = tableNames
    entries = crew == nil ? IndexEntries(indexes, files: files, processors: 1) : IndexEntries(indexes, files: files)
    var keys: [[TableKeys?]] = []
    for (table, isEmpty) in zip(tableNames, isEmpty) {
      keys.append(isEmpty ? entries.begin(table: table) : [])
    }
    if keys.allSatisfy({ $0.allSatisfy { $0 == nil } }) { return nil }
    entries.share(with: crew)
    // Each page goes through all lanes, the last of which gives it back.
    for lane in (0..<entries.laneCount).reversed() {
      let own = keys.map { lane < $0.count ? $0[lane] : nil }
      let longValues = LongValueReader(snapshot: source, limit: files.budget.rowLimit)
      lanes.insert(
        EntryLane(own, tableNames: tableNames, longValues: longValues, next: lanes.first, used: used, crew: crew), at: 0
      )
    }
  }

  /// The stage that takes pages; nil where they are taken at once.
  var stage: CrewStage<RecordPage>? { lanes[0].stage }

  /// Hands over a page whose records are written. Throws what ended the collecting.
  func push(_ page: RecordPage) throws { try lanes[0].push(page) }

  /// Works until everything is taken, and returns the entries. Nothing can be pushed afterwards.
  func finish() throws -> IndexEntries {
    defer { cancel() }
    for lane in lanes {
      try lane.stage?.drain()
      for table in lane.forgotten { entries.forget(table: tableNames[table]) }
    }
    return entries
  }

  /// Ends the collecting; scratch files vanish with the last reference to this.
  func cancel() {
    for lane in lanes { lane.end() }
    lanes = []
    entries.share(with: nil)
  }
}
