import RunSupport
import Streams

/// Builds the indexes of a store, one after the other, from entries that were collected while the tables were written,
/// or from the tables themselves.
///
/// A crash within an index begins that index again; its pages lie after the last checkpoint's length.
package final class IndexPass: @unchecked Sendable {
  // Sendable: the database is touched by the writing thread alone, the entries by the sorting one.
  private let database: DatabaseBuilder
  private let header: DatabaseHeader
  private let files: StepFiles
  private let monitor: RunMonitor
  private let indexes: [StoreIndex]
  private var entries: IndexEntries
  private let filled = BoundedQueue<Batch>(capacity: 4)
  private let used = BoundedQueue<IndexCells>(capacity: 8)
  private let usesThread: Bool

  /// Prepares indexes. `header` is the one that the database was begun with, `collected` has the entries of tables from
  /// whose first row on they were collected.
  package init(
    _ indexes: [StoreIndex], database: DatabaseBuilder, header: DatabaseHeader, files: StepFiles,
    monitor: RunMonitor = RunMonitor(),
    collected: IndexEntries? = nil, usesThread: Bool = true
  ) {
    self.usesThread = usesThread
    (self.database, self.header, self.files, self.indexes, self.monitor) = (database, header, files, indexes, monitor)
    entries = collected ?? IndexEntries(indexes, files: files)
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

  /// Builds all indexes from one on: a thread of its own, if there is to be one, sorts and merges what this one writes.
  /// Only the writing hands out pages, so their numbers do not depend on the sorting (I8).
  ///
  /// `body` is called after every index with the number of those that are written; when it throws, the pass ends.
  package func run(from first: Int, _ body: (Int) throws -> Void) throws {
    guard first < count else { return }
    try database.writer.flush()
    let pageCount = database.writer.nextPage - 1
    guard usesThread else {
      for position in first..<count {
        let builder = try builder(indexes[position])
        try sort(position, pageCount: pageCount) { try append($0, to: builder) }
        try builder.finish()
        try body(position + 1)
      }
      return
    }
    try runTogether(from: first, pageCount: pageCount, body)
  }

  private func runTogether(from first: Int, pageCount: UInt32, _ body: (Int) throws -> Void) throws {
    let sorting = try Worker { [self] in
      do {
        for position in first..<count { try sort(position, pageCount: pageCount, filled.push) }
      } catch {
        filled.abort(error)
        throw error
      }
    }
    do {
      for position in first..<count {
        try write(position)
        try body(position + 1)
      }
    } catch {
      filled.abort(error)
      used.abort(error)
      throw sorting.join() ?? error
    }
    if let error = sorting.join() { throw error }
  }

  private func write(_ position: Int) throws {
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

  /// Hands on the records of an index in order.
  private func sort(_ position: Int, pageCount: UInt32, _ take: (Batch) throws -> Void) throws {
    let index = indexes[position]
    let sorter = try entries.take(position) ?? scan(position, pageCount: pageCount)
    let rest = try sorter.drain(
      into: emptyCells(),
      onEqual: { left, right in
        throw BatchError(
          .policyFailed,
          "rows \(left) and \(right) of \(index.table) have equal values under the unique index \(index.name)",
          hint: "Make the values distinct in a policy; the source is untouched")
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
  private func scan(_ position: Int, pageCount: UInt32) throws -> IndexSorter {
    let table = indexes[position].table
    guard let root = database.root(of: table), let keys = entries.begin(table: table, from: position),
      let sorter = entries.take(position)
    else { throw BatchError(.failed, "the schema lacks \(table)") }
    let snapshot = try DatabaseSnapshot.building(
      path: database.writer.file.path, fileSystem: files.fileSystem, header: header, pageCount: pageCount)
    defer { snapshot.close() }
    keys.longValues = LongValueReader(snapshot: snapshot, limit: files.budget.rowLimit)
    let scan = TableScan(snapshot: snapshot, root: root, rowLimit: .max, longValuesFrom: MemoryBudget.longValueBytes)
    let page = RowPage()
    while try scan.next(into: page) {
      try monitor.throwIfStopRequested()
      try Self.adding(to: table) {
        for row in 0..<page.count {
          guard try keys.add(rowid: page.rowid(row), record: page.record(row)) else {
            throw Self.unfit(table, page.rowid(row))
          }
        }
        if let rowid = try keys.flush() { throw Self.unfit(table, rowid) }
      }
    }
    return sorter
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
