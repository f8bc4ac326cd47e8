import RunSupport
import Streams

/// Takes the entries of some indexes out of pages of records, and hands the pages on: as a stage of a crew, or at once.
final class EntryLane: @unchecked Sendable {
  // Sendable: all that changes belongs to the thread that works at the stage, until that was drained.
  private let tableNames: [String]
  // Read for every record: without counting references.
  @exclusivity(unchecked) private var keys: [Unmanaged<TableKeys>?]
  @exclusivity(unchecked) private var owned: [TableKeys?]
  /// Tables whose rows do not all come by here.
  private(set) var forgotten: [Int] = []
  private let next: EntryLane?
  private let used: BoundedQueue<RecordPage>
  /// The pages on their way, and the work; nil where pages are taken at once.
  private(set) var stage: CrewStage<RecordPage>?
  /// Pages that may wait.
  private static let depth = 2

  /// `owned` is by table what takes the rows, nil where it has no index. Pages go on to `next`, or emptied to `used`.
  init(
    _ owned: [TableKeys?], tableNames: [String], longValues: LongValueReader, next: EntryLane?,
    used: BoundedQueue<RecordPage>, crew: Crew?
  ) {
    (self.owned, self.tableNames, self.next, self.used) = (owned, tableNames, next, used)
    keys = owned.map { $0.map { Unmanaged.passUnretained($0) } }
    for table in owned { table?.longValues = longValues }
    guard let crew else { return }
    let body: (RecordPage) throws -> Void = { [self] page in try takeWhole(page) }
    stage =
      next?.stage.map { CrewStage(crew, capacity: Self.depth, next: $0, body) }
      ?? CrewStage(crew, capacity: Self.depth, body)
  }

  /// Takes a page: at once, or when a thread comes to it.
  func push(_ page: RecordPage) throws {
    guard let stage else { return try takeWhole(page) }
    try stage.push(page)
  }

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

  /// Leaves the crew. The stage keeps this alive, and this the stage: that ends here.
  func end() {
    stage?.remove()
    stage = nil
  }
}
