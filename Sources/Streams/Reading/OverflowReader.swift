import Glibc

/// Follows overflow chains and puts payloads together, within a bound.
final class OverflowReader {
  private let snapshot: DatabaseSnapshot
  private let pages: OverflowPages
  /// The largest payload that is put together in memory, in bytes.
  let limit: Int
  /// Overflow pages that payloads may still have: in a scan, none belongs to two.
  private var pagesLeft: UInt64?

  /// Prepares reading; `isScan` for one that meets every payload of a b-tree once.
  init(snapshot: DatabaseSnapshot, limit: Int, isScan: Bool) {
    self.snapshot = snapshot
    self.limit = limit
    pagesLeft = isScan ? snapshot.readablePages : nil
    pages = OverflowPages(snapshot)
  }

  /// Copies a cell's payload to `target`, which has room for it: `limit` bytes of it at most, and no more of the chain
  /// is read.
  func copy(_ cell: TreePage.Cell, page: UInt32, to target: UnsafeMutableRawPointer, limit: Int = .max) throws {
    let count = min(limit, cell.payloadLength)
    var cursor = PayloadCursor(cell, page: page)
    try pages.copy(count, from: &cursor, to: target)
    if count == cell.payloadLength { try pages.expectEnd(cursor) }
  }

  /// Begins at the first byte of a cell's payload.
  func cursor(_ cell: TreePage.Cell, page: UInt32) -> (pages: OverflowPages, cursor: PayloadCursor) {
    (pages, PayloadCursor(cell, page: page))
  }

  /// A page that was read along with those of chains: leaves lie between them.
  func held(_ page: UInt32) -> UnsafeRawPointer? { pages.held(page) }

  /// Refuses a payload that the file itself cannot hold, or that shares pages with those before it.
  func checkChain(_ cell: TreePage.Cell, page: UInt32) throws {
    let perPage = UInt64(snapshot.geometry.usableSize - 4)
    let bytes = UInt64(cell.payloadLength - cell.local.count)
    guard bytes / perPage <= snapshot.readablePages else {
      throw StreamsError(
        .damagedDatabase, "\(cell.name) claims to be longer than the file", path: snapshot.path, page: page,
        cell: cell.index)
    }
    guard let left = pagesLeft else { return }
    let needed = (bytes + perPage - 1) / perPage
    guard needed <= left else { throw pages.damage(PayloadCursor(cell, page: page), "shares pages with others") }
    pagesLeft = left - needed
  }

  /// Refuses so many bytes of a cell that the memory budget cannot hold them, before anything is allocated for them.
  func checkSize(_ count: Int, of cell: TreePage.Cell, page: UInt32) throws {
    guard count > limit else { return }
    throw StreamsError.tooLarge(
      cell.name, needed: count, allowed: limit, path: snapshot.path, page: page, cell: cell.index)
  }
}

/// Memory for one or more database pages.
final class PageBuffer: @unchecked Sendable {
  // Sendable by discipline: a buffer has one owner at a time and moves with it.
  let base: UnsafeMutableRawPointer
  let size: Int

  init(size: Int) {
    self.size = size
    // A large buffer takes memory only where it is written: the system's pages are zero.
    base = calloc(1, size)!
  }

  deinit { free(base) }

  var bytes: UnsafeMutableRawBufferPointer { UnsafeMutableRawBufferPointer(start: base, count: size) }
}
