import CoreDataStore
import RunSupport
import Streams

/// Goes through the texts that the rows of an entity have in one column.
struct NameScan {
  private let manager: StepObjects
  private let source: SourceEntity
  private let entityPosition: Int
  private let column: Int

  /// `manager`'s locator must be prepared for the table.
  init(_ manager: StepObjects, source: SourceEntity, entityPosition: Int, column: Int) {
    (self.manager, self.source, self.entityPosition, self.column) = (manager, source, entityPosition, column)
  }

  /// Calls `body` with rowid and text of every row that has one, in rowid order, until it returns false. False as well
  /// once a row's column holds something else, or what is not in the row.
  func forEach(_ body: (Int64, UnsafeRawBufferPointer) throws -> Bool) throws -> Bool {
    // One page waits, one is read, one is looked at: pages are large.
    let (pages, used) = (BoundedQueue<RowPage>(capacity: 1), BoundedQueue<RowPage>(capacity: 4))
    let reader = try reader(of: pages, used)
    do {
      while let page = try pages.pop() {
        guard try take(page, body) else { throw NoMore() }
        try used.push(page)
      }
    } catch {
      pages.abort(error)
      _ = reader.join()
      if error is NoMore { return false }
      throw error
    }
    if let error = reader.join() { throw error }
    return true
  }

  /// Starts the thread that reads the table's pages of rows.
  private func reader(of pages: BoundedQueue<RowPage>, _ used: BoundedQueue<RowPage>) throws -> Worker {
    let (files, snapshot) = (manager.lookups.files, manager.graph.reader.snapshot)
    let scan = ReadingScan(
      TableScan(
        snapshot: snapshot, root: manager.graph.binding.tables[source.table].schema.rootPage,
        rowLimit: files.budget.rowLimit, longValuesFrom: MemoryBudget.longValueBytes))
    return try Worker {
      do {
        while true {
          try files.throwIfStopped()
          let page = used.tryPop() ?? RowPage()
          guard try scan.scan.next(into: page) else { return pages.finish() }
          try pages.push(page)
        }
      } catch {
        pages.abort(error)
        throw error
      }
    }
  }

  private func take(_ page: RowPage, _ body: (Int64, UnsafeRawBufferPointer) throws -> Bool) throws -> Bool {
    let locator = manager.locator
    for row in 0..<page.count {
      guard locator.locate(page.record(row)), let number = locator.integer(entityPosition) else { return false }
      guard number == Int64(source.number), !locator.isNull(column) else { continue }
      guard locator.isText(column) else { return false }
      let text = locator.column(column).body
      guard LookupTable.isSound(text), try body(page.rowid(row), text) else { return false }
    }
    return true
  }
}

/// A scan that the reading thread has alone.
private final class ReadingScan: @unchecked Sendable {
  let scan: TableScan
  init(_ scan: TableScan) { self.scan = scan }
}

/// Ends the reading thread: no more rows are wanted.
private struct NoMore: Error {}
