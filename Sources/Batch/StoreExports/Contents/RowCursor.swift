import Streams

/// Rows of a table one by one, in the order of their keys.
final class RowCursor {
  private let scan: TableScan
  private let page = RowPage()
  private let choice: RowChoice
  private let number: Int
  private let decoder = RecordDecoder()
  private var row = 0
  private var isAtEnd = false

  init(_ side: ContentsSide, rowLimit: Int) {
    scan = TableScan(snapshot: side.reader.snapshot, root: side.schema.rootPage, rowLimit: rowLimit)
    (choice, number) = (side.rows, side.number)
  }

  /// Bytes of pages read so far.
  var bytesRead: UInt64 { scan.bytesRead }

  /// The row at hand, valid until ``advance()``; nil at the end.
  func current() throws -> (key: Int64, bytes: UnsafeRawBufferPointer)? {
    while true {
      while row >= page.count {
        guard !isAtEnd else { return nil }
        isAtEnd = try !scan.next(into: page)
        row = 0
      }
      let record = page.record(row)
      if isWanted(record) { return (page.rowid(row), record) }
      row += 1
    }
  }

  /// Who takes a row that is damaged says so.
  private func isWanted(_ record: UnsafeRawBufferPointer) -> Bool {
    choice.takesAll || !decoder.decode(record) || choice.takes(decoder.integer(number) ?? 0)
  }

  func advance() { row += 1 }
}
