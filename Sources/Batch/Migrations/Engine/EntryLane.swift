import RunSupport
import Streams

/// Takes the entries of some indexes out of pages of records, and hands the pages on; on a thread of its own, if there is
/// to be one.
final class EntryLane: @unchecked Sendable {
  // Sendable: all that changes belongs to the thread until it was joined.
  private let tableNames: [String]
  // Read for every record: without counting references.
  @exclusivity(unchecked) private var keys: [Unmanaged<TableKeys>?]
  @exclusivity(unchecked) private var owned: [TableKeys?]
  /// Tables whose rows do not all come by here.
  private(set) var forgotten: [Int] = []
  /// The pages on their way to the thread.
  let pages = BoundedQueue<RecordPage>(capacity: 1)
  private let next: EntryLane?
  private let used: BoundedQueue<RecordPage>
  private let usesThread: Bool
  private var worker: Worker?

  /// Starts the thread. `owned` is by table what takes the rows, nil where it has no index. Pages go on to `next`, or emptied to
  /// `used`.
  init(
    _ owned: [TableKeys?], tableNames: [String], longValues: LongValueReader, next: EntryLane?,
    used: BoundedQueue<RecordPage>, usesThread: Bool
  ) throws {
    (self.owned, self.tableNames, self.next, self.used, self.usesThread) = (owned, tableNames, next, used, usesThread)
    keys = owned.map { $0.map { Unmanaged.passUnretained($0) } }
    for table in owned { table?.longValues = longValues }
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

  /// Takes a page: at once, or when the thread comes to it.
  func push(_ page: RecordPage) throws { try usesThread ? pages.push(page) : takeWhole(page) }

  private func takeWhole(_ page: RecordPage) throws {
    try take(page)
    if let next { return try next.push(page) }
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
    owned[table]?.removeAll()
    (keys[table], owned[table]) = (nil, nil)
    forgotten.append(table)
  }

  /// Waits until the thread has ended, and returns what ended it. The thread keeps this alive, and this the thread: that
  /// ends here.
  func end() -> (any Error)? {
    defer { worker = nil }
    return worker?.join()
  }
}
