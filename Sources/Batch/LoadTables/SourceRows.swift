import CoreDataStore
import RunSupport
import Streams

/// The rows of a table of the source, and of its parts.
package struct SourceRows: Sendable {
  private let store: LoadStore
  private let table: TableSchema
  private let entity: String
  private let rowLimit: Int

  package init(_ store: LoadStore, _ table: LoadTable, rowLimit: Int) {
    (self.store, self.rowLimit) = (store, rowLimit)
    (self.table, entity) = (store.source(of: table), table.subject)
  }

  /// Rows of a table WITHOUT ROWID, as other tools make of join tables, have their numbers in the place of rowids.
  package func scan(after row: Int64?) throws -> RowScan {
    try RowScan(
      snapshot: store.reader.snapshot, root: table.rootPage, isWithoutRowid: table.isWithoutRowid, after: row,
      rowLimit: rowLimit, longValuesFrom: OutsideValue.threshold)
  }

  /// Whether that is also the first row after another one when it is looked up, nil at the end. Damaged keys of
  /// interior pages would hide rows where a part or another attempt begins. Throws `badStore`.
  package func expect(_ row: Int64?, after last: Int64?) throws {
    let page = RowPage()
    let found = try scan(after: last).next(into: page) ? page.rowid(0) : nil
    guard found != row else { return }
    let rows = [row, found].map { $0.map { "row \($0)" } ?? "the end" }
    throw BatchError(
      .badStore,
      "the pages of a table are out of order: behind \(last.map { "row \($0)" } ?? "the beginning") comes \(rows[0]) or \(rows[1])",
      hint: "Look at the store with PRAGMA integrity_check; what was loaded stays on the server", path: store.path,
      entity: entity
    )
  }
}

/// Reads a part of a table.
package final class PartScan {
  private let rows: SourceRows
  private let scan: RowScan
  private let last: Int64?
  private var isOver = false

  package var bytesRead: UInt64 { scan.bytesRead }

  /// The rows after one, up to another one; nil for the table's beginning and end.
  package init(_ rows: SourceRows, after: Int64?, upTo last: Int64?) throws {
    (self.rows, self.last) = (rows, last)
    scan = try rows.scan(after: after)
  }

  /// Fills a page with the next rows; false at the end.
  package func next(into page: RowPage) throws -> Bool {
    guard !isOver else { return false }
    guard try scan.next(into: page) else {
      if let last { try rows.expect(nil, after: last) }
      return false
    }
    guard let last, page.rowid(page.count - 1) > last else { return true }
    isOver = true
    var (low, high) = (0, page.count)
    while low < high {
      let middle = (low + high) / 2
      if page.rowid(middle) > last { high = middle } else { low = middle + 1 }
    }
    try rows.expect(page.rowid(low), after: last)
    page.keep(low)
    return low > 0
  }
}
