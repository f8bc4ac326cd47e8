import RunSupport
import Streams

/// Builds the indexes of a store, one after the other, from entries that were collected while the tables were written,
/// or from the tables themselves.
///
/// A crash within an index begins that index again; its pages lie after the last checkpoint's length.
package final class IndexPass: @unchecked Sendable {
  // Sendable: the database is touched by the writing thread alone, a sorter by the thread of its lane.
  private let database: DatabaseBuilder
  private let header: DatabaseHeader
  private let files: StepFiles
  private let monitor: RunMonitor
  private let indexes: [StoreIndex]
  private var entries: IndexEntries
  private let used = BoundedQueue<IndexCells>(capacity: .max)
  private let usesThreads: Bool
  private let equalRows: (EqualRows) -> any Error

  /// Prepares indexes. `header` is the one that the database was begun with, `collected` has the entries of tables from
  /// whose first row on they were collected, `equalRows` makes the error for rows that are equal and must not be.
  package init(
    _ indexes: [StoreIndex], database: DatabaseBuilder, header: DatabaseHeader, files: StepFiles,
    monitor: RunMonitor = RunMonitor(),
    collected: IndexEntries? = nil, usesThreads: Bool = true,
    equalRows: @escaping (EqualRows) -> any Error = \.advised
  ) {
    (self.usesThreads, self.equalRows) = (usesThreads, equalRows)
    (self.database, self.header, self.files, self.indexes, self.monitor) = (database, header, files, indexes, monitor)
    entries = collected ?? IndexEntries(indexes, files: files)
  }

  /// Two rows whose values are equal in a unique index, for whoever has better advice than that for a migration.
  package struct EqualRows: Error {
    package let index: String
    package let table: String
    package let first: Int64
    package let second: Int64

    package var advised: any Error {
      BatchError(
        .policyFailed,
        "rows \(first) and \(second) of \(table) have equal values under the unique index \(index)",
        hint: "Make the values distinct in a policy; the source is untouched")
    }
  }

  /// The number of indexes.
  var count: Int { indexes.count }

  /// Writes all indexes without keys, for SQLite to fill.
  func writeEmpty() throws {
    for index in indexes { try builder(index).finish() }
  }

  private func builder(_ index: StoreIndex) throws -> IndexBuilder {
    guard let root = database.root(of: index.name) else { throw BatchError(.failed, "the schema lacks \(index.name)") }
    return IndexBuilder(root: root, writer: database.writer)
  }

  /// The name of an index.
  func name(_ position: Int) -> String { indexes[position].name }

  /// Sorted records of one index, in order.
  private struct Batch: Sendable {
    let cells: IndexCells
    let isLast: Bool
  }

  /// Builds all indexes from one on: the threads of the lanes, if there are to be any, sort and merge what this one writes,
  /// each as far ahead as its memory allows. Only the writing hands out pages, so their numbers do not depend on the
  /// sorting (I8).
  ///
  /// `body` is called after every index with the number of those that are written; when it throws, the pass ends.
  package func run(from first: Int, _ body: (Int) throws -> Void) throws {
    guard first < count else { return }
    let sorters = try sorters(from: first)
    if usesThreads { return try write(sorters, body) }
    for sorted in sorters {
      let builder = try builder(indexes[sorted.position])
      try sort(sorted) { try append($0, to: builder) }
      try builder.finish()
      try body(sorted.position + 1)
    }
  }

  private func write(_ sorters: [Sorted], _ body: (Int) throws -> Void) throws {
    // A sixth of the memory that is there for sorting lies in queues.
    let places = max(4, entries.sortBytes / 6 / IndexCells.usualCapacity / entries.laneCount)
    let filled = (0..<entries.laneCount).map { _ in BoundedQueue<Batch>(capacity: places) }
    var threads: [Worker] = []
    do {
      for (lane, queue) in filled.enumerated() {
        let own = sorters.filter { entries.lane(of: $0.position) == lane }
        threads.append(try Worker { [self] in try sort(own, into: queue) })
      }
      for sorted in sorters {
        try write(sorted.position, from: filled[entries.lane(of: sorted.position)])
        try body(sorted.position + 1)
      }
    } catch {
      for queue in filled { queue.abort(error) }
      throw threads.compactMap { $0.join() }.first ?? error
    }
    if let error = threads.compactMap({ $0.join() }).first { throw error }
  }

  private func write(_ position: Int, from filled: BoundedQueue<Batch>) throws {
    let builder = try builder(indexes[position])
    while let batch = try filled.pop() {
      try append(batch, to: builder)
      if batch.isLast { break }
    }
    try builder.finish()
  }

  private func append(_ batch: Batch, to builder: IndexBuilder) throws {
    // Between two indexes there is a checkpoint; within one nothing is kept, and a large one takes long.
    if !batch.isLast { try monitor.throwIfStopRequested() }
    try builder.append(batch.cells)
    monitor.hold(bytes: batch.cells.byteCount)
    try used.push(batch.cells)
  }

  /// Entries of one index on their way to a lane's thread, which is the only one that touches them from there on.
  private struct Sorted: @unchecked Sendable {
    let position: Int
    let sorter: IndexSorter
  }

  /// Takes the entries of all indexes from one on, in the order in which they are written; those of tables that were not
  /// collected are read first.
  private func sorters(from first: Int) throws -> [Sorted] {
    try database.writer.flush()
    let pageCount = database.writer.nextPage - 1
    for position in first..<count where !entries.has(position) { try scan(position, pageCount: pageCount) }
    return try (first..<count).map { position in
      guard let sorter = entries.take(position) else {
        throw BatchError(.failed, "the schema lacks \(indexes[position].table)")
      }
      return Sorted(position: position, sorter: sorter)
    }
  }

  /// Hands on the records of a lane's indexes, each in order.
  private func sort(_ sorters: [Sorted], into filled: BoundedQueue<Batch>) throws {
    do {
      for sorted in sorters { try sort(sorted, filled.push) }
    } catch {
      filled.abort(error)
      throw error
    }
  }

  private func sort(_ sorted: Sorted, _ take: (Batch) throws -> Void) throws {
    let index = indexes[sorted.position]
    let rest = try sorted.sorter.drain(
      into: emptyCells(),
      onEqual: { left, right in
        throw equalRows(EqualRows(index: index.name, table: index.table, first: left, second: right))
      },
      onFull: { full in
        try take(Batch(cells: full, isLast: false))
        return emptyCells()
      })
    try take(Batch(cells: rest, isLast: true))
  }

  private func emptyCells() -> IndexCells {
    let cells = used.tryPop() ?? IndexCells()
    cells.reset()
    return cells
  }

  /// Reads the table of an index, once for all of its indexes from this one on.
  private func scan(_ position: Int, pageCount: UInt32) throws {
    let table = indexes[position].table
    let lanes = entries.begin(table: table, from: position).compactMap { $0 }
    guard let root = database.root(of: table) else { throw BatchError(.failed, "the schema lacks \(table)") }
    let snapshot = try DatabaseSnapshot.building(
      path: database.writer.file.path, fileSystem: files.fileSystem, header: header, pageCount: pageCount)
    defer { snapshot.close() }
    let longValues = LongValueReader(snapshot: snapshot, limit: files.budget.rowLimit)
    for keys in lanes { keys.longValues = longValues }
    let scan = TableScan(snapshot: snapshot, root: root, rowLimit: .max, longValuesFrom: MemoryBudget.longValueBytes)
    let page = RowPage()
    while try scan.next(into: page) {
      try monitor.throwIfStopRequested()
      for keys in lanes { try Self.add(page, to: keys, table: table) }
    }
  }

  private static func add(_ page: RowPage, to keys: TableKeys, table: String) throws {
    try adding(to: table) {
      for row in 0..<page.count {
        guard try keys.add(rowid: page.rowid(row), record: page.record(row)) else {
          throw unfit(table, page.rowid(row))
        }
      }
      if let rowid = try keys.flush() { throw unfit(table, rowid) }
    }
  }

  /// Says of a value that is too long for an index where it is.
  static func adding(to table: @autoclosure () -> String, _ body: () throws -> Void) throws {
    do {
      try body()
    } catch let error as LongKey {
      throw BatchError(
        .refused, "an index cannot be built over row \(error.rowid) of \(table()): \(error.cause.message)",
        hint: error.cause.hint,
        path: error.cause.path)
    }
  }

  /// The answer for a row without an index entry.
  static func unfit(_ table: String, _ rowid: Int64) -> BatchError {
    BatchError(.failed, "a row of \(table) cannot be indexed", key: rowid)
  }
}
