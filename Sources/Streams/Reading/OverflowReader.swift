/// Follows overflow chains and puts payloads together, within a bound.
struct OverflowReader {
  private let snapshot: DatabaseSnapshot
  private let buffer: PageBuffer
  /// The largest payload that is put together in memory, in bytes.
  private let limit: Int

  init(snapshot: DatabaseSnapshot, limit: Int) {
    self.snapshot = snapshot
    self.limit = limit
    buffer = PageBuffer(size: snapshot.geometry.pageSize)
  }

  /// Copies a cell's whole payload to `target`, which has room for it. A chain cannot loop: it ends with the payload.
  func copy(_ cell: TreePage.Cell, page: UInt32, to target: UnsafeMutableRawPointer) throws {
    if let base = cell.local.baseAddress { target.copyMemory(from: base, byteCount: cell.local.count) }
    var position = cell.local.count
    var next = cell.overflow
    let perPage = snapshot.geometry.usableSize - 4
    while position < cell.payloadLength {
      guard next >= 2, next <= snapshot.pageCount else {
        throw StreamsError(
          .damagedDatabase, "the overflow chain of row \(cell.rowid) is broken", path: snapshot.path, page: page)
      }
      try snapshot.read(page: next, into: buffer.bytes)
      let count = min(perPage, cell.payloadLength - position)
      (target + position).copyMemory(from: buffer.base + 4, byteCount: count)
      position += count
      next = UnsafeRawPointer(buffer.base).bigEndian32(0)
    }
  }

  /// Refuses a payload that the memory budget or the file itself cannot hold, before anything is allocated for it.
  func check(_ cell: TreePage.Cell, page: UInt32) throws {
    let pages = UInt64(cell.payloadLength) / UInt64(snapshot.geometry.usableSize)
    guard pages <= UInt64(snapshot.pageCount) else {
      throw StreamsError(
        .damagedDatabase, "row \(cell.rowid) claims to be longer than the file", path: snapshot.path, page: page)
    }
    guard cell.payloadLength <= limit else {
      throw StreamsError(
        .tooLarge, "row \(cell.rowid) takes \(cell.payloadLength) bytes, the memory budget allows \(limit)",
        path: snapshot.path, page: page, hint: "Run again with a larger --memory")
    }
  }
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
