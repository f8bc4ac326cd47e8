import Streams

/// Rows of a table one by one, in the order of their keys.
final class RowCursor {
  private let scan: TableScan
  private let page = RowPage()
  private var row = 0
  private var isAtEnd = false

  init(_ side: ContentsSide, rowLimit: Int) {
    scan = TableScan(snapshot: side.reader.snapshot, root: side.schema.rootPage, rowLimit: rowLimit)
  }

  /// Bytes of pages read so far.
  var bytesRead: UInt64 { scan.bytesRead }

  /// The row at hand, valid until ``advance()``; nil at the end.
  func current() throws -> (key: Int64, bytes: UnsafeRawBufferPointer)? {
    while row >= page.count {
      guard !isAtEnd else { return nil }
      isAtEnd = try !scan.next(into: page)
      row = 0
    }
    return (page.rowid(row), page.record(row))
  }

  func advance() { row += 1 }
}
