import RunSupport
import Streams

/// Applies changes to objects that were already written, and clears keys of objects that policies left out: copies the
/// step's tables into a new file, in order, and changes the rows on the way. The file without the changes is the input
/// and stays as it is, so a crash begins the pass again.
struct PatchPass {
  let job: StepJob
  let output: StepOutput
  let patches: PatchLog
  /// What has to be cleared; nil for nothing.
  let lost: LostReferences?

  /// Returns the new output, which takes the place of the old one; its tables are filled but not finished.
  func run(into path: String) throws -> StepOutput {
    let sorter = ExternalSorter(
      memoryBytes: job.files.budget.sortBytes, path: job.files.path("patches.sort"), fileSystem: job.files.fileSystem)
    var key: [UInt8] = []
    try patches.forEach { patch in
      try job.monitor.throwIfStopRequested()
      key.removeAll(keepingCapacity: true)
      withUnsafeBytes(of: UInt32(patch.table).bigEndian) { key.append(contentsOf: $0) }
      withUnsafeBytes(of: (UInt64(bitPattern: patch.key) ^ 1 << 63).bigEndian) { key.append(contentsOf: $0) }
      withUnsafeBytes(of: patch.sequence.bigEndian) { key.append(contentsOf: $0) }
      withUnsafeBytes(of: UInt32(patch.column).bigEndian) { key.append(contentsOf: $0) }
      key.append(contentsOf: patch.record)
      try key.withUnsafeBytes { try sorter.add($0) }
    }
    let snapshot = try output.finishedTables()
    defer { snapshot.close() }
    let patched = try StepOutput(
      path: path, plan: job.plan, header: job.header, hasIndexes: job.hasIndexes,
      keepsDigests: job.keepsDigests,
      files: StepFiles(
        prefix: job.files.prefix + ".patched", fileSystem: job.files.fileSystem, budget: job.files.budget),
      from: snapshot, restoring: nil, watcher: job.watcher)
    let merge = PatchMerge(
      snapshot: snapshot, from: output, to: patched, rowLimit: job.files.budget.rowLimit, monitor: job.monitor,
      lost: lost, claimed: ClaimedKeys(job.plan))
    lost?.open(snapshot, roots: merge.roots, cacheBytes: job.files.budget.lookupCacheBytes)
    try sorter.drain { try merge.apply($0) }
    try merge.finish()
    return patched
  }
}

/// Goes through the tables of one file in order and applies sorted changes to the rows it copies.
private final class PatchMerge {
  private let snapshot: DatabaseSnapshot
  private let to: StepOutput
  private let names: [String]
  let roots: [UInt32]
  private let lost: LostReferences?
  private let claimed: ClaimedKeys
  private let rowLimit: Int
  private let monitor: RunMonitor
  private var table = 0
  private var scan: TableScan
  private let page = RowPage()
  private var position = 0
  private let row = RecordDecoder()
  private let encoder = RecordEncoder()
  private let records = RecordPage()
  /// Changed columns of the row at hand.
  private var changes: [Int: Value] = [:]
  private var changedKey: Int64 = 0
  private let values = RecordDecoder()

  init(
    snapshot: DatabaseSnapshot, from: StepOutput, to: StepOutput, rowLimit: Int, monitor: RunMonitor,
    lost: LostReferences?, claimed: ClaimedKeys
  ) {
    self.snapshot = snapshot
    (self.lost, self.claimed) = (lost, claimed)
    self.to = to
    self.rowLimit = rowLimit
    self.monitor = monitor
    names = from.plan.tableNames
    roots = names.map { from.database.root(of: $0) ?? 0 }
    scan = Self.scan(snapshot, root: roots[0], rowLimit: rowLimit)
  }

  private static func scan(_ snapshot: DatabaseSnapshot, root: UInt32, rowLimit: Int) -> TableScan {
    TableScan(snapshot: snapshot, root: root, rowLimit: rowLimit, longValuesFrom: MemoryBudget.longValueBytes)
  }

  /// Takes the next change: table, key, sequence, column, value.
  func apply(_ patch: UnsafeRawBufferPointer) throws {
    let target = Int(UInt32(bigEndian: patch.loadUnaligned(as: UInt32.self)))
    let key = Int64(bitPattern: UInt64(bigEndian: patch.loadUnaligned(fromByteOffset: 4, as: UInt64.self)) ^ 1 << 63)
    let column = Int(UInt32(bigEndian: patch.loadUnaligned(fromByteOffset: 20, as: UInt32.self)))
    if !changes.isEmpty, target != table || key != changedKey { try finishChanged() }
    while table < target {
      try copyRows(below: nil)
      try nextTable()
    }
    try copyRows(below: key)
    guard position < page.count, page.rowid(position) == key else {
      if lost?.mayLack(table) == true { return }
      throw BatchError(
        .policyFailed, "a policy changed an object of \(names[table]) that does not exist",
        hint: "It was left out by the policy of its own mapping", key: key)
    }
    guard values.decode(UnsafeRawBufferPointer(rebasing: patch[24...])) else {
      throw BatchError(.failed, "a change is damaged", key: key)
    }
    changedKey = key
    let value = try values.value(0)
    if let before = changes[column] { try check(column, of: key, from: before, to: value) }
    changes[column] = value
  }

  private func check(_ column: Int, of key: Int64, from old: Value, to new: Value) throws {
    try claimed.check(table: table, column: column, key: key, from: old, to: new)
  }

  private func finishChanged() throws {
    try write()
    try flush()
  }

  /// Writes the row at hand with its changes.
  private func write() throws {
    let (key, record) = (page.rowid(position), page.record(position))
    position += 1
    let mayLose = lost?.concern(table) == true
    guard mayLose || !changes.isEmpty else { return records.append(table: table, rowid: key, record: record) }
    guard row.decode(record) else { throw BatchError(.failed, "a written row is damaged", key: key) }
    defer { changes.removeAll(keepingCapacity: true) }
    guard changes[PatchLog.removal] == nil else { return }
    guard try !mayLose || lost?.clear(row, rowid: key, of: table, &changes) == true else { return }
    guard !changes.isEmpty else { return records.append(table: table, rowid: key, record: record) }
    encoder.reset()
    for column in 0..<row.columnCount {
      if let value = changes[column] {
        if let old = row.integer(column) { try check(column, of: key, from: .integer(old), to: value) }
        encoder.append(value)
      } else {
        encoder.append(type: row.type(column), body: row.body(column))
      }
    }
    records.append(table: table, rowid: key, encoder)
  }

  private func flush() throws {
    try to.take(records)
    monitor.hold(bytes: records.byteCount)
    records.reset()
  }

  /// Copies rows without changes: those below a key, or all that are left.
  private func copyRows(below key: Int64?) throws {
    while true {
      if position >= page.count {
        position = 0
        // The pass is done again from the log of changes: nothing of it has to be kept.
        try monitor.throwIfStopRequested()
        guard try scan.next(into: page) else { return }
      }
      while position < page.count {
        if let key, page.rowid(position) >= key { return try flush() }
        try write()
      }
      try flush()
    }
  }

  private func nextTable() throws {
    table += 1
    position = 0
    scan = Self.scan(snapshot, root: roots[table], rowLimit: rowLimit)
    _ = try scan.next(into: page)
  }

  /// Copies what is left.
  func finish() throws {
    if !changes.isEmpty { try finishChanged() }
    while true {
      try copyRows(below: nil)
      guard table + 1 < names.count else { return }
      try nextTable()
    }
  }
}
