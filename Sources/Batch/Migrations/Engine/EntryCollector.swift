import RunSupport
import Streams

/// Collects and sorts the entries of indexes while their tables are written, on a thread behind the writing one or, of
/// small stores, on that one.
///
/// Only for tables whose rows all come by here from the first one on: what is left out is read from the finished table
/// by ``IndexPass``, which gives the same bytes (I8).
final class EntryCollector: @unchecked Sendable {
  // Sendable: all that changes belongs to the thread until it was joined.
  private let tableNames: [String]
  private let tableCount: Int
  private var entries: IndexEntries
  // Read for every record: without counting references.
  @exclusivity(unchecked) private var keys: [Unmanaged<TableKeys>?] = []
  private let owned: [TableKeys?]
  private let pages = BoundedQueue<RecordPage>(capacity: 2)
  private let used: BoundedQueue<RecordPage>
  private let usesThread: Bool
  private var worker: Worker?

  /// Begins to collect for tables without rows; nil if none of them has an index. `tableNames` are those of all tables
  /// that records are numbered by; further numbers are spools. Records refer to long values of `source`. `used` gets
  /// pages whose entries are taken.
  init?(
    _ indexes: [StoreIndex], tableNames: [String], isEmpty: [Bool], files: StepFiles, source: DatabaseSnapshot,
    used: BoundedQueue<RecordPage>, usesThread: Bool = true
  ) throws {
    (self.tableNames, tableCount, self.used, self.usesThread) = (tableNames, tableNames.count, used, usesThread)
    var entries = IndexEntries(indexes, files: files)
    owned = zip(tableNames, isEmpty).map { $1 ? entries.begin(table: $0) : nil }
    self.entries = entries
    let longValues = LongValueReader(snapshot: source, limit: files.budget.rowLimit)
    for table in owned { table?.longValues = longValues }
    if owned.allSatisfy({ $0 == nil }) { return nil }
    keys = owned.map { $0.map { Unmanaged.passUnretained($0) } }
    if !usesThread { return }
    worker = try Worker { [self] in
      do {
        while let page = try pages.pop() { try takeWhole(page) }
      } catch {
        pages.abort(error)
        throw error
      }
    }
  }

  /// Hands over a page whose records are written. Throws what ended the collecting.
  func push(_ page: RecordPage) throws { try usesThread ? pages.push(page) : takeWhole(page) }

  private func takeWhole(_ page: RecordPage) throws {
    try take(page)
    page.reset()
    try used.push(page)
  }

  private func take(_ page: RecordPage) throws {
    try page.forEach { number, rowid, record in
      // Records of a spool come to their table later: not by here.
      if let spooled = KeyAssignment.spoolTable(number) { return forget(spooled) }
      guard let table = keys[number] else { return }
      try IndexPass.adding(to: tableNames[number]) {
        guard try table._withUnsafeGuaranteedRef({ try $0.add(rowid: rowid, record: record) }) else {
          throw IndexPass.unfit(tableNames[number], rowid)
        }
      }
    }
    // The page keeps the records until then, so that tables which take turns row by row are sorted by the hundred, too.
    for number in keys.indices {
      guard let table = keys[number] else { continue }
      try IndexPass.adding(to: tableNames[number]) {
        if let rowid = try table._withUnsafeGuaranteedRef({ try $0.flush() }) {
          throw IndexPass.unfit(tableNames[number], rowid)
        }
      }
    }
  }

  private func forget(_ table: Int) {
    guard keys[table] != nil else { return }
    keys[table] = nil
    entries.forget(table: tableNames[table])
  }

  /// Waits until everything is taken, and returns the entries. Nothing can be pushed afterwards.
  func finish() throws -> IndexEntries {
    pages.finish()
    if let error = end() { throw error }
    return entries
  }

  /// Ends the collecting; scratch files vanish with the last reference to this.
  func cancel() {
    pages.abort(BatchError(.stopped, "the entries of indexes are not needed any more"))
    _ = end()
  }

  /// The thread keeps this alive, and this the thread: that ends here.
  private func end() -> (any Error)? {
    defer { worker = nil }
    return worker?.join()
  }
}
