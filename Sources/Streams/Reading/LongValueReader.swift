/// Reads long values from the database that records with references were read from. One thread at a time.
public final class LongValueReader: LongValues {
  private let snapshot: DatabaseSnapshot
  private let pages: OverflowPages
  private let limit: Int
  private let start: PageBuffer

  /// Prepares reading; `limit` is the largest value in bytes that is put together in memory.
  public init(snapshot: DatabaseSnapshot, limit: Int) {
    self.snapshot = snapshot
    self.limit = limit
    pages = OverflowPages(snapshot)
    start = PageBuffer(size: snapshot.geometry.pageSize)
  }

  /// A value's bytes, whole.
  ///
  /// - Throws: ``StreamsError``: `tooLarge` for one beyond the limit, `damagedDatabase`.
  public func bytes(of value: LongValue) throws -> [UInt8] {
    guard value.byteCount <= limit else {
      throw StreamsError.tooLarge(
        "a value that is looked into", needed: value.byteCount, allowed: limit, path: snapshot.path,
        page: value.home.page, cell: Int(value.home.cell))
    }
    var cursor = try begin(value, rowid: 0)
    return try [UInt8](unsafeUninitializedCapacity: value.byteCount) { bytes, count in
      guard let base = bytes.baseAddress else { return }
      try copy(value.byteCount, from: &cursor, to: base)
      try finish(value, cursor)
      count = value.byteCount
    }
  }

  /// A value's first byte, of one that has some.
  ///
  /// - Throws: ``StreamsError``: `damagedDatabase`.
  public func firstByte(of value: LongValue) throws -> UInt8 {
    var cursor = try begin(value, rowid: 0)
    var byte: UInt8 = 0
    if value.byteCount > 0 { try copy(1, from: &cursor, to: &byte) }
    return byte
  }

  /// Gives a value's bytes piece by piece, so many at a time; whatever its length.
  ///
  /// - Throws: ``StreamsError``: `damagedDatabase`.
  public func forEachPiece(of value: LongValue, bytes: Int, _ body: (UnsafeRawBufferPointer) throws -> Void) throws {
    var cursor = try begin(value, rowid: 0)
    let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: max(1, min(bytes, value.byteCount)), alignment: 16)
    defer { piece.deallocate() }
    var left = value.byteCount
    while left > 0, let target = piece.baseAddress {
      let count = min(left, piece.count)
      try copy(count, from: &cursor, to: target)
      left -= count
      // Before the last piece goes out: what follows it may show that the chain is damaged.
      if left == 0 { try finish(value, cursor) }
      try body(UnsafeRawBufferPointer(rebasing: piece[..<count]))
    }
  }

  /// A record with the values themselves in the place of references, in the columns asked for.
  ///
  /// - Throws: as ``bytes(of:)`` does.
  public func filled(_ row: RecordDecoder, columns: (Int) -> Bool) throws -> [UInt8] {
    let encoder = RecordEncoder()
    for column in 0..<row.columnCount {
      if columns(column), let value = row.longValue(column) {
        try bytes(of: value).withUnsafeBytes { encoder.append(type: value.type, body: $0) }
      } else {
        encoder.append(type: row.type(column), body: row.body(column))
      }
    }
    var record = [UInt8](repeating: 0, count: encoder.length)
    record.withUnsafeMutableBytes { if let base = $0.baseAddress { encoder.write(to: base) } }
    return record
  }

  /// The place where a value begins; valid until the next call of this function.
  func begin(_ value: LongValue, rowid: Int64) throws -> PayloadCursor {
    var ahead = UnsafeRawBufferPointer(start: nil, count: 0)
    if value.count > 0 {
      let end = Int(value.offset) + Int(value.count)
      guard end <= snapshot.geometry.usableSize else {
        throw StreamsError(.damagedDatabase, "a reference to a long value is damaged", path: snapshot.path)
      }
      try snapshot.read(page: value.page, into: start.bytes)
      ahead = UnsafeRawBufferPointer(rebasing: start.bytes[Int(value.offset)..<end])
    }
    return PayloadCursor(value, rowid: rowid, ahead: ahead)
  }

  /// Copies bytes of a value that ``begin(_:rowid:)`` began.
  func copy(_ count: Int, from cursor: inout PayloadCursor, to target: UnsafeMutableRawPointer) throws {
    try pages.copy(count, from: &cursor, to: target)
  }

  /// The chain of a value ends with it, if nothing follows.
  func finish(_ value: LongValue, _ cursor: PayloadCursor) throws {
    if value.rest == 0 { try pages.expectEnd(cursor) }
  }
}
