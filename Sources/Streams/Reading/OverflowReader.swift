/// Follows overflow chains and puts payloads together, within a bound.
final class OverflowReader {
  private let snapshot: DatabaseSnapshot
  private let buffer: PageBuffer
  /// The largest payload that is put together in memory, in bytes.
  private let limit: Int
  /// Overflow pages that may still be read: in a scan, none is read twice.
  private var pagesLeft: UInt64

  /// Prepares reading; `isScan` for one that meets every payload of a b-tree once.
  init(snapshot: DatabaseSnapshot, limit: Int, isScan: Bool) {
    self.snapshot = snapshot
    self.limit = limit
    pagesLeft = isScan ? snapshot.readablePages : .max
    buffer = PageBuffer(size: snapshot.geometry.pageSize)
  }

  /// Copies a cell's whole payload to `target`, which has room for it. Each page of a chain decides the next one, so a chain
  /// that comes back to one of its pages never ends; one that ends with its payload has no loop.
  ///
  /// With `limit` only that many bytes are copied, and no more of the chain is read.
  func copy(_ cell: TreePage.Cell, page: UInt32, to target: UnsafeMutableRawPointer, limit: Int = .max) throws {
    if let base = cell.local.baseAddress { target.copyMemory(from: base, byteCount: min(limit, cell.local.count)) }
    var position = cell.local.count
    let end = min(limit, cell.payloadLength)
    var next = cell.overflow
    let perPage = snapshot.geometry.usableSize - 4
    while position < end {
      guard snapshot.holdsData(next) else {
        throw damage(cell, page, next == 0 ? "ends too early" : "goes on at page \(next), which cannot be part of it")
      }
      guard pagesLeft > 0 else { throw damage(cell, page, "shares pages with others") }
      pagesLeft -= 1
      try snapshot.read(page: next, into: buffer.bytes)
      let count = min(perPage, end - position)
      (target + position).copyMemory(from: buffer.base + 4, byteCount: count)
      position += count
      next = UnsafeRawPointer(buffer.base).bigEndian32(0)
    }
    guard next == 0 || end < cell.payloadLength else { throw damage(cell, page, "loops or is too long") }
  }

  /// Refuses a payload that the memory budget or the file itself cannot hold, before anything is allocated for it.
  func check(_ cell: TreePage.Cell, page: UInt32) throws {
    let pages = UInt64(cell.payloadLength - cell.local.count) / UInt64(snapshot.geometry.usableSize - 4)
    guard pages <= snapshot.readablePages else {
      throw StreamsError(
        .damagedDatabase, "\(Self.name(cell)) claims to be longer than the file", path: snapshot.path, page: page,
        cell: cell.index)
    }
    guard cell.payloadLength <= limit else {
      throw StreamsError(
        .tooLarge, "\(Self.name(cell)) takes \(cell.payloadLength) bytes, the memory budget allows \(limit)",
        path: snapshot.path, page: page, cell: cell.index, hint: "Run again with a larger --memory")
    }
  }

  private func damage(_ cell: TreePage.Cell, _ page: UInt32, _ what: String) -> StreamsError {
    StreamsError(
      .damagedDatabase, "the overflow chain of \(Self.name(cell)) \(what)", path: snapshot.path, page: page, cell: cell.index)
  }

  // Records of an index have no rowid.
  private static func name(_ cell: TreePage.Cell) -> String { cell.rowid == 0 ? "a record" : "row \(cell.rowid)" }
}

/// Memory for one or more database pages.
final class PageBuffer: @unchecked Sendable {
  // Sendable by discipline: a buffer has one owner at a time and moves with it.
  let base: UnsafeMutableRawPointer
  let size: Int

  init(size: Int) {
    self.size = size
    base = .allocate(byteCount: size, alignment: 16)
    base.clear(size)
  }

  deinit { base.deallocate() }

  var bytes: UnsafeMutableRawBufferPointer { UnsafeMutableRawBufferPointer(start: base, count: size) }
}
