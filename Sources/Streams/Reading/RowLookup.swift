/// Finds single rows of a table by rowid, through a small cache of pages.
public final class RowLookup {
  private static let maximumDepth = 24

  private let snapshot: DatabaseSnapshot
  private let root: UInt32
  private let overflow: OverflowReader
  private let longRecords: LongRecords?
  private let utf16: UTF16Records?
  private let cache: PageCache
  private var assembled: [UInt8] = []

  /// Prepares look-ups. `cacheBytes` bounds the memory for pages; `rowLimit` is the largest payload put together in
  /// memory, and with `longValuesFrom` long texts and blobs are no part of it, as in ``TableScan``.
  public init(snapshot: DatabaseSnapshot, root: UInt32, cacheBytes: Int, rowLimit: Int, longValuesFrom: Int? = nil) {
    self.snapshot = snapshot
    self.root = root
    overflow = OverflowReader(snapshot: snapshot, limit: rowLimit, isScan: false)
    utf16 = UTF16Records(snapshot.header.encoding)
    longRecords = LongRecords(overflow, from: longValuesFrom, snapshot.header.encoding)
    cache = PageCache(snapshot: snapshot, bytes: cacheBytes)
  }

  /// Calls `body` with the row's record, or returns nil when there is no such row. The record is valid during the call.
  ///
  /// - Throws: ``StreamsError``.
  public func withRecord<R>(_ rowid: Int64, _ body: (UnsafeRawBufferPointer) throws -> R) throws -> R? {
    guard let (page, cell, buffer) = try find(rowid) else { return nil }
    return try withExtendedLifetime(buffer) {
      if cell.overflow == 0 { return try deliver(cell.local, body) }
      let length = try assemble(cell, page: page.number)
      return try assembled.withUnsafeBytes { try deliver(UnsafeRawBufferPointer(rebasing: $0[0..<length]), body) }
    }
  }

  /// Whether there is such a row. Nothing of its payload is read.
  ///
  /// - Throws: ``StreamsError``.
  public func contains(_ rowid: Int64) throws -> Bool { try find(rowid) != nil }

  private func find(_ rowid: Int64) throws -> (page: TreePage, cell: TreePage.Cell, buffer: PageBuffer)? {
    do {
      return try descend(rowid)
    } catch let error as StreamsError {
      throw error.reached(through: parents(of: rowid), snapshot)
    }
  }

  /// The interior pages that a look for a row passes by, as far as they can be read: for messages.
  private func parents(of rowid: Int64) -> [(number: UInt32, buffer: PageBuffer)] {
    var (pages, number): ([(number: UInt32, buffer: PageBuffer)], UInt32) = ([], root)
    while pages.count < Self.maximumDepth {
      let buffer = PageBuffer(size: snapshot.geometry.pageSize)
      guard (try? snapshot.read(page: number, into: buffer.bytes)) != nil,
        let page = try? TreePage(number: number, bytes: UnsafeRawBufferPointer(buffer.bytes), snapshot: snapshot),
        page.kind == .tableInterior, let child = try? page.child(page.firstCell(notBelow: rowid))
      else { break }
      pages.append((number, buffer))
      number = child
    }
    return pages
  }

  private func descend(_ rowid: Int64) throws -> (page: TreePage, cell: TreePage.Cell, buffer: PageBuffer)? {
    var number = root
    for _ in 0..<Self.maximumDepth {
      let buffer = try cache.page(number)
      let page = try TreePage(number: number, bytes: UnsafeRawBufferPointer(buffer.bytes), snapshot: snapshot)
      let index = try page.firstCell(notBelow: rowid)
      if page.kind == .tableInterior {
        number = try page.child(index)
        continue
      }
      guard page.kind == .tableLeaf else { break }
      guard index < page.cellCount else { return nil }
      let cell = try page.cell(index)
      guard cell.rowid == rowid else { return nil }
      if cell.isMarked { throw page.noRecord(cell) }
      return (page, cell, buffer)
    }
    throw StreamsError(.damagedDatabase, "the b-tree of a table is damaged", path: snapshot.path, page: number)
  }

  /// Puts a payload together, or its record with references; returns its length.
  private func assemble(_ cell: TreePage.Cell, page: UInt32) throws -> Int {
    try overflow.checkChain(cell, page: page)
    let isLong = try longRecords?.encode(cell, page: page) ?? false
    let length = isLong ? longRecords?.encoder.length ?? 0 : cell.payloadLength
    if !isLong { try overflow.checkSize(length, of: cell, page: page) }
    if assembled.count < length { assembled = [UInt8](repeating: 0, count: length) }
    try assembled.withUnsafeMutableBytes { bytes in
      guard let base = bytes.baseAddress else { return }
      if isLong { longRecords?.encoder.write(to: base) } else { try overflow.copy(cell, page: page, to: base) }
    }
    return length
  }

  @inline(__always)
  private func deliver<R>(_ record: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R
  {
    guard let utf16 else { return try body(record) }
    return try utf16.withConverted(record, body)
  }
}

/// Pages read lately, direct-mapped by page number: bounded, and without bookkeeping on a hit.
final class PageCache {
  private let snapshot: DatabaseSnapshot
  @exclusivity(unchecked) private var slots: [PageBuffer?]
  @exclusivity(unchecked) private var numbers: [UInt32]

  init(snapshot: DatabaseSnapshot, bytes: Int) {
    self.snapshot = snapshot
    let count = max(8, bytes / snapshot.geometry.pageSize)
    slots = Array(repeating: nil, count: count)
    numbers = Array(repeating: 0, count: count)
  }

  func page(_ number: UInt32) throws -> PageBuffer {
    let slot = Int(number) % slots.count
    if numbers[slot] == number, let buffer = slots[slot] { return buffer }
    let buffer = slots[slot] ?? PageBuffer(size: snapshot.geometry.pageSize)
    numbers[slot] = 0
    try snapshot.read(page: number, into: buffer.bytes)
    slots[slot] = buffer
    numbers[slot] = number
    return buffer
  }
}

extension RowLookup {
  /// The largest rowid of the table; nil when it is empty.
  ///
  /// - Throws: ``StreamsError``.
  public func lastRowid() throws -> Int64? {
    var number = root
    for _ in 0..<Self.maximumDepth {
      let buffer = try cache.page(number)
      let page = try TreePage(number: number, bytes: UnsafeRawBufferPointer(buffer.bytes), snapshot: snapshot)
      if page.kind == .tableLeaf { return page.cellCount == 0 ? nil : try page.rowid(page.cellCount - 1) }
      guard page.kind == .tableInterior else { break }
      number = try page.child(page.cellCount)
    }
    throw StreamsError(.damagedDatabase, "the b-tree of a table is damaged", path: snapshot.path, page: number)
  }
}
