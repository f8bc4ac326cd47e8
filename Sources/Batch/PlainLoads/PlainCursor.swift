import CoreDataStore
import RunSupport
import Streams

/// Goes through the rows of a table one by one. One thread at a time.
final class PlainCursor {
  /// The row at hand.
  let record = RecordDecoder(columns: 64)
  private(set) var key: Int64 = 0
  private let scan: RowScan
  private let page = RowPage()
  private let path: String
  private var row = 0

  var bytesRead: UInt64 { scan.bytesRead }

  init(_ scan: RowScan, path: String) { (self.scan, self.path) = (scan, path) }

  /// Goes to the next row; false at the end.
  func next() throws -> Bool {
    row += 1
    if row >= page.count {
      row = 0
      guard try scan.next(into: page), page.count > 0 else { return false }
    }
    key = page.rowid(row)
    guard record.decode(page.record(row)) else {
      throw BatchError(.mismatch, "a row that was read back is damaged", path: path, key: key)
    }
    return true
  }
}
