/// Reads a table's rows in rowid order, a page of rows at a time, from the beginning or after a given rowid.
///
/// Memory: one database page per level of the tree and a run of neighbouring leaf pages. A tree that loops, is deeper
/// than any real one, or is out of order is an error; so the scan ends for every file.
public final class TableScan {
  /// No real tree is deeper: 20 levels of two children exceed any file.
  private static let maximumDepth = 24
  private static let runBytes = 128 * 1024

  private struct Level {
    let page: UInt32
    let buffer: PageBuffer
    var next: Int
  }

  private let snapshot: DatabaseSnapshot
  private let root: UInt32
  private let overflow: OverflowReader
  private let payloadLimit: Int
  private let longRecords: LongRecords?
  private let utf16: UTF16Records?
  @exclusivity(unchecked) private var levels: [Level] = []
  private var runBuffer: PageBuffer
  private var leafDepth: Int?
  @exclusivity(unchecked) private var runPages: [UInt32] = []
  @exclusivity(unchecked) private var runPosition = 0
  @exclusivity(unchecked) private var cellPosition = 0
  /// Where the cell before lies on its page, and whether the page's cells were found not to overlap.
  @exclusivity(unchecked) private var lowestPlace = Int.max
  @exclusivity(unchecked) private var placesChecked = false
  @exclusivity(unchecked) private var lastRowid: Int64?
  private var started = false
  private let after: Int64?
  @exclusivity(unchecked) private var pagesRead: UInt64 = 0

  /// Prepares a scan. `rowLimit` is the largest payload in bytes that is put together in memory; of a row that has more
  /// than `payloadLimit` only the beginning is delivered, and no more is read. With `longValuesFrom`, texts and blobs
  /// of that many bytes or more are not read: the row's record has a ``LongValue`` in their place, and `rowLimit` is
  /// for the rest. Texts of a database in UTF-16 are always read, as they are converted.
  public init(
    snapshot: DatabaseSnapshot, root: UInt32, after rowid: Int64? = nil, rowLimit: Int, payloadLimit: Int = .max,
    longValuesFrom: Int? = nil
  ) {
    self.payloadLimit = payloadLimit
    self.snapshot = snapshot
    self.root = root
    after = rowid
    overflow = OverflowReader(snapshot: snapshot, limit: rowLimit, isScan: true)
    utf16 = UTF16Records(snapshot.header.encoding)
    longRecords = LongRecords(overflow, from: longValuesFrom, snapshot.header.encoding)
    let perRun = max(1, Self.runBytes / snapshot.geometry.pageSize)
    runBuffer = PageBuffer(size: perRun * snapshot.geometry.pageSize)
  }

  /// Bytes of leaf and interior pages read so far.
  public var bytesRead: UInt64 { pagesRead * UInt64(snapshot.geometry.pageSize) }

  /// Fills `page` with the next rows; false when there are none. The page is emptied first.
  ///
  /// - Throws: ``StreamsError``.
  public func next(into page: RowPage) throws -> Bool {
    page.reset()
    do {
      if !started {
        started = true
        try start()
      }
      while !page.isFull {
        if runPosition < runPages.count {
          try readCells(into: page)
        } else if try !nextRun() {
          break
        }
      }
    } catch let error as StreamsError {
      throw error.reached(through: levels.map { ($0.page, $0.buffer) }, snapshot)
    }
    utf16?.convert(page)
    return page.count > 0
  }

  private func leafBytes(_ position: Int) -> UnsafeRawBufferPointer {
    let size = snapshot.geometry.pageSize
    return UnsafeRawBufferPointer(rebasing: runBuffer.bytes[position * size..<(position + 1) * size])
  }

  private func readCells(into page: RowPage) throws {
    let number = runPages[runPosition]
    let leaf = try TreePage(number: number, bytes: leafBytes(runPosition), snapshot: snapshot)
    guard leaf.kind == .tableLeaf else { throw wrongKind(number) }
    let maximumLocal = min(snapshot.geometry.maximumTableLocal, payloadLimit)
    while cellPosition < leaf.cellCount, !page.isFull {
      if takeWhole(leaf, maximumLocal, to: page) { continue }
      let cell = try leaf.cell(cellPosition)
      cellPosition += 1
      if cell.place.upperBound > lowestPlace {
        if !placesChecked { try leaf.checkPlaces() }
        placesChecked = true
      }
      lowestPlace = cell.place.lowerBound
      if let after, cell.rowid <= after { continue }
      if let lastRowid, cell.rowid <= lastRowid {
        throw StreamsError(
          .damagedDatabase, "rowid \(cell.rowid) follows \(lastRowid): the b-tree is out of order or loops",
          path: snapshot.path, page: number, cell: cell.index)
      }
      lastRowid = cell.rowid
      if cell.isMarked { throw leaf.noRecord(cell) }
      if cell.overflow != 0 {
        try addLong(cell, number, to: page)
        continue
      }
      let length = min(cell.payloadLength, payloadLimit)
      if let base = cell.local.baseAddress { page.room(length).copyMemory(from: base, byteCount: length) }
      page.finishRow(cell.rowid, length: length)
    }
    if cellPosition >= leaf.cellCount { endLeaf() }
  }

  private func endLeaf() {
    (runPosition, cellPosition) = (runPosition + 1, 0)
    (lowestPlace, placesChecked) = (.max, false)
  }

  /// Adds the next row where it is whole on its leaf, and in order, as most are; else nothing is done.
  @inline(__always)
  private func takeWhole(_ leaf: TreePage, _ maximumLocal: Int, to page: RowPage) -> Bool {
    guard let lastRowid, let row = leaf.wholeRow(cellPosition, maximumLocal: maximumLocal), row.end <= lowestPlace,
      row.rowid > lastRowid
    else { return false }
    let payload = leaf.payload(row)
    guard let first = payload.first, first != LongValue.mark, let base = payload.baseAddress else { return false }
    page.room(payload.count).copyMemory(from: base, byteCount: payload.count)
    page.finishRow(row.rowid, length: payload.count)
    (self.lastRowid, lowestPlace, cellPosition) = (row.rowid, row.begin, cellPosition + 1)
    return true
  }

  /// Adds a row with an overflow chain.
  private func addLong(_ cell: TreePage.Cell, _ number: UInt32, to page: RowPage) throws {
    try overflow.checkChain(cell, page: number)
    if let longRecords, try longRecords.encode(cell, page: number) {
      longRecords.encoder.write(to: page.room(longRecords.encoder.length))
      page.finishRow(cell.rowid, length: longRecords.encoder.length, outside: longRecords.outside)
      return
    }
    try overflow.checkSize(cell.payloadLength, of: cell, page: number)
    let length = min(cell.payloadLength, payloadLimit)
    try overflow.copy(cell, page: number, to: page.room(length), limit: length)
    page.finishRow(cell.rowid, length: length)
  }

  private func wrongKind(_ page: UInt32) -> StreamsError {
    StreamsError(
      .damagedDatabase, "a page of another b-tree stands in a table's b-tree", path: snapshot.path, page: page)
  }

  private func start() throws {
    let buffer = PageBuffer(size: snapshot.geometry.pageSize)
    try snapshot.read(page: root, into: buffer.bytes)
    pagesRead += 1
    let page = try TreePage(number: root, bytes: UnsafeRawBufferPointer(buffer.bytes), snapshot: snapshot)
    if page.kind == .tableLeaf {
      runBuffer.base.copyMemory(from: buffer.base, byteCount: buffer.size)
      (runPages, runPosition, cellPosition) = ([root], 0, 0)
      return
    }
    try push(root, buffer: buffer, page: page)
  }

  private func push(_ number: UInt32, buffer: PageBuffer, page: TreePage) throws {
    guard page.kind == .tableInterior else { throw wrongKind(number) }
    guard levels.count < Self.maximumDepth, !levels.contains(where: { $0.page == number }) else {
      throw StreamsError(.damagedDatabase, "the b-tree loops", path: snapshot.path, page: number)
    }
    var next = 0
    if let after, lastRowid == nil, after < .max { next = try page.firstCell(notBelow: after + 1) }
    levels.append(Level(page: number, buffer: buffer, next: next))
  }

  /// Reads the next run of leaf pages; descends and climbs as needed. False at the end of the table.
  private func nextRun() throws -> Bool {
    while let level = levels.last {
      let number = level.page
      let page = try TreePage(number: number, bytes: UnsafeRawBufferPointer(level.buffer.bytes), snapshot: snapshot)
      guard level.next <= page.cellCount else {
        levels.removeLast()
        continue
      }
      let run = try run(in: page, from: level.next)
      if run.count == 1, let page = overflow.held(run[0]) {
        runBuffer.base.copyMemory(from: page, byteCount: snapshot.geometry.pageSize)
      } else {
        try snapshot.read(run: run[0], count: run.count, into: runBuffer.bytes)
      }
      pagesRead += UInt64(run.count)
      guard pagesRead <= 2 * snapshot.readablePages + 64 else {
        throw StreamsError(.damagedDatabase, "the b-tree loops", path: snapshot.path, page: number)
      }
      let first = try TreePage(number: run[0], bytes: leafBytes(0), snapshot: snapshot)
      if first.kind == .tableLeaf {
        leafDepth = levels.count
        levels[levels.count - 1].next += run.count
        (runPages, runPosition, cellPosition) = (run, 0, 0)
        return true
      }
      levels[levels.count - 1].next += 1
      let buffer = PageBuffer(size: snapshot.geometry.pageSize)
      buffer.base.copyMemory(from: runBuffer.base, byteCount: buffer.size)
      try push(run[0], buffer: buffer, page: first)
    }
    return false
  }

  /// Children that are neighbours in the file, from `start` on, as many as the run buffer holds.
  private func run(in page: TreePage, from start: Int) throws -> [UInt32] {
    var run = [try page.child(start)]
    // Above the leaves, pages are read one by one: only the first of a run would be used.
    let most = levels.count == leafDepth ? runBuffer.size / snapshot.geometry.pageSize : 1
    var index = start + 1
    while run.count < most, index <= page.cellCount, run[run.count - 1] < UInt32.max {
      let child = try page.child(index)
      guard child == run[run.count - 1] + 1 else { break }
      run.append(child)
      index += 1
    }
    return run
  }
}
