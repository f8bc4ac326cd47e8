/// Reads an index's records in index order, a page of rows at a time; also the rows of a WITHOUT ROWID table, which is
/// kept as an index.
///
/// Rowids of the pages it fills only count the records, from 1. The order is the file's: which collation made it does
/// not matter. Memory: one database page per level. A tree that loops or is deeper than any real one is an error; so
/// the scan ends for every file.
public final class IndexScan {
  private static let maximumDepth = 24

  private struct Level {
    let page: UInt32
    let buffer: PageBuffer
    /// Children come before their cells: 2n is child n, 2n + 1 is cell n. On a leaf only cells count.
    var next = 0
  }

  private let snapshot: DatabaseSnapshot
  private let overflow: OverflowReader
  private let utf16: UTF16Records?
  private var levels: [Level] = []
  private var pagesRead: UInt64 = 0
  private var records: Int64 = 0
  private let after: Int64

  /// Bytes of pages read so far, without overflow pages.
  public var bytesRead: UInt64 { pagesRead * UInt64(snapshot.geometry.pageSize) }

  /// Prepares a scan that leaves out the first `after` records. `rowLimit` is the largest record in bytes that is put
  /// together in memory.
  ///
  /// - Throws: ``StreamsError``: `damagedDatabase`.
  public init(snapshot: DatabaseSnapshot, root: UInt32, after: Int64 = 0, rowLimit: Int) throws {
    self.snapshot = snapshot
    self.after = after
    overflow = OverflowReader(snapshot: snapshot, limit: rowLimit, isScan: true)
    utf16 = UTF16Records(snapshot.header.encoding)
    try push(root)
  }

  /// Fills `page` with the next records; false when there are none. The page is emptied first.
  ///
  /// - Throws: ``StreamsError``.
  public func next(into page: RowPage) throws -> Bool {
    page.reset()
    do {
      try fill(page)
    } catch let error as StreamsError {
      throw error.reached(through: levels.map { ($0.page, $0.buffer) }, snapshot)
    }
    utf16?.convert(page)
    return page.count > 0
  }

  private func fill(_ page: RowPage) throws {
    while !page.isFull, let level = levels.last {
      let tree = try TreePage(number: level.page, bytes: UnsafeRawBufferPointer(level.buffer.bytes), snapshot: snapshot)
      levels[levels.count - 1].next += 1
      let (position, isLeaf) = (level.next, tree.kind == .indexLeaf)
      guard position < (isLeaf ? tree.cellCount : 2 * tree.cellCount + 1) else {
        levels.removeLast()
        continue
      }
      if isLeaf {
        try add(try tree.indexCell(position), of: tree, to: page)
      } else if position.isMultiple(of: 2) {
        try push(try tree.child(position / 2))
      } else {
        try add(try tree.indexCell(position / 2), of: tree, to: page)
      }
    }
  }

  private func push(_ number: UInt32) throws {
    pagesRead += 1
    guard levels.count < Self.maximumDepth, pagesRead <= snapshot.readablePages,
      !levels.contains(where: { $0.page == number })
    else { throw StreamsError(.damagedDatabase, "the b-tree loops", path: snapshot.path, page: number) }
    let buffer = PageBuffer(size: snapshot.geometry.pageSize)
    try snapshot.read(page: number, into: buffer.bytes)
    let tree = try TreePage(number: number, bytes: UnsafeRawBufferPointer(buffer.bytes), snapshot: snapshot)
    guard tree.kind == .indexLeaf || tree.kind == .indexInterior else {
      throw StreamsError(
        .damagedDatabase, "a page of another b-tree stands in an index's b-tree", path: snapshot.path, page: number)
    }
    try tree.checkPlaces()
    levels.append(Level(page: number, buffer: buffer))
  }

  private func add(_ cell: TreePage.Cell, of tree: TreePage, to page: RowPage) throws {
    let number = tree.number
    records += 1
    if cell.isMarked { throw tree.noRecord(cell) }
    guard records > after else { return }
    if cell.overflow != 0 {
      try overflow.checkChain(cell, page: number)
      try overflow.checkSize(cell.payloadLength, of: cell, page: number)
    }
    let target = page.room(cell.payloadLength)
    if cell.overflow != 0 {
      try overflow.copy(cell, page: number, to: target)
    } else if let base = cell.local.baseAddress {
      target.copyMemory(from: base, byteCount: cell.payloadLength)
    }
    page.finishRow(records, length: cell.payloadLength)
  }
}
