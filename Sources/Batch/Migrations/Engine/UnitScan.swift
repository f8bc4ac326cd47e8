import Streams

/// The pieces of a table that a rehearsal reads.
package struct RowSample: Sendable, Equatable {
  /// Rowids after which pieces begin, ascending; nil for the table's beginning.
  package var beginnings: [Int64?]
  /// Rows of a piece.
  package var rows: Int

  package init(beginnings: [Int64?], rows: Int) {
    self.beginnings = beginnings
    self.rows = rows
  }
}

/// The rows that a unit reads: all of a table after the last one that a checkpoint names, or pieces of it. One thread
/// at a time.
final class UnitScan: @unchecked Sendable {
  // Sendable: one thread of the pipeline at a time reads, and the lock of its crew hands the scan over.
  private let open: (Int64?) throws -> RowScan
  private var scan: RowScan
  private var pieces: ArraySlice<Int64?> = []
  private let rowsOfPiece: Int
  private var left = Int.max
  private var last: Int64?
  private var bytesBefore: UInt64 = 0

  /// Prepares a scan; `open` makes one that begins after a rowid.
  init(after row: Int64?, sample: RowSample?, open: @escaping (Int64?) throws -> RowScan) throws {
    self.open = open
    rowsOfPiece = sample?.rows ?? .max
    guard let sample else {
      scan = try open(row)
      return
    }
    pieces = sample.beginnings.dropFirst()
    left = sample.rows
    scan = try open(sample.beginnings.first ?? nil)
  }

  /// Bytes of pages read so far.
  var bytesRead: UInt64 { bytesBefore + scan.bytesRead }

  /// Fills `page` with the next rows; false when there are none.
  func next(into page: RowPage) throws -> Bool {
    while true {
      if left > 0, try scan.next(into: page) {
        page.keep(left)
        if left != .max { left -= page.count }
        last = page.rowid(page.count - 1)
        return true
      }
      guard let begin = pieces.popFirst() else { return false }
      bytesBefore += scan.bytesRead
      left = rowsOfPiece
      // Behind what the piece before had.
      scan = try open(begin.map { max($0, last ?? $0) } ?? last)
    }
  }
}
