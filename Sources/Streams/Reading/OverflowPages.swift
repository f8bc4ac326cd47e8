/// A place within a payload: on the page of its cell, or on a page of its overflow chain.
struct PayloadCursor {
  /// What lies ahead on the page at hand.
  var ahead: UnsafeRawBufferPointer
  /// The page at hand, and where `ahead` begins on it.
  var page: UInt32
  var offset: Int
  /// The overflow page after the one at hand; 0 after the last.
  var next: UInt32
  /// Bytes of the payload after the cursor.
  var left: Int
  /// The row, for messages.
  var name: String { rowid == 0 ? "a record" : "row \(rowid)" }
  var rowid: Int64
  var home: (page: UInt32, cell: UInt16)
}

extension PayloadCursor {
  /// The first byte of a cell's payload; its page stays in memory as long as the cursor.
  init(_ cell: TreePage.Cell, page: UInt32) {
    self.init(
      ahead: cell.local, page: page, offset: cell.localOffset, next: cell.overflow, left: cell.payloadLength,
      rowid: cell.rowid,
      home: (page, UInt16(truncatingIfNeeded: cell.index)))
  }

  /// The first byte of a long value, whose bytes on their first page are `ahead`.
  init(_ value: LongValue, rowid: Int64, ahead: UnsafeRawBufferPointer) {
    self.init(
      ahead: ahead, page: value.page, offset: Int(value.offset), next: value.next,
      left: value.byteCount + Int(value.rest),
      rowid: rowid, home: value.home)
  }

  /// A reference to the value that begins here.
  func reference(type: UInt64, length: Int) -> LongValue {
    LongValue(
      type: type, page: page, offset: UInt16(truncatingIfNeeded: offset), count: UInt32(min(length, ahead.count)),
      next: next,
      rest: UInt32(left - length), home: home)
  }
}

/// Pages of overflow chains, read ahead in runs: the pages of a chain mostly are neighbours, as are those of rows that
/// follow each other.
final class OverflowPages {
  private static let windowBytes = 256 * 1024
  /// Between neighbouring chains lie leaves and pointer-map pages.
  private static let gap: UInt32 = 8

  let snapshot: DatabaseSnapshot
  /// Memory for the pages, made when the first is read: most tables have no overflow pages.
  @exclusivity(unchecked) private var window: UnsafeMutableRawBufferPointer?
  private let most: Int
  private let pageSize: Int
  private let perPage: Int
  @exclusivity(unchecked) private var first: UInt32 = 0
  @exclusivity(unchecked) private var held: UInt32 = 0
  @exclusivity(unchecked) private var ahead = 1

  init(_ snapshot: DatabaseSnapshot) {
    self.snapshot = snapshot
    // The pages of a log do not lie together.
    most = snapshot.logFrames > 0 ? 1 : max(1, Self.windowBytes / snapshot.geometry.pageSize)
    pageSize = snapshot.geometry.pageSize
    perPage = snapshot.geometry.usableSize - 4
  }

  deinit { window?.deallocate() }

  /// A page, valid until the next call. `wanted` is how many the chain has from here on.
  func page(_ number: UInt32, wanted: Int) throws -> UnsafeRawPointer {
    if let found = held(number) { return found }
    try read(number, wanted: wanted)
    guard let found = held(number) else { throw StreamsError(.inputOutput, "no page was read", path: snapshot.path) }
    return found
  }

  /// A page that was read already, as those between chains are; valid until the next call.
  func held(_ number: UInt32) -> UnsafeRawPointer? {
    guard number >= first, number - first < held, let base = window?.baseAddress else { return nil }
    return UnsafeRawPointer(base) + Int(number - first) * pageSize
  }

  private func read(_ number: UInt32, wanted: Int) throws {
    let window = window ?? .allocate(byteCount: most * pageSize, alignment: 16)
    self.window = window
    let follows = number >= first && number - first < held + Self.gap
    ahead = follows ? min(2 * ahead, most) : 1
    let count = min(max(ahead, min(wanted, most)), Int(snapshot.pageCount - number) + 1)
    (first, held) = (number, 0)
    do {
      try snapshot.read(run: number, count: count, into: window)
      held = UInt32(count)
    } catch  where count > 1 {
      // What was read ahead may be what cannot be read.
      try snapshot.read(run: number, count: 1, into: window)
      held = 1
    }
  }

  /// Copies the next `count` bytes. A chain that comes back to one of its pages never ends; one that ends with its
  /// payload has no loop.
  func copy(_ count: Int, from cursor: inout PayloadCursor, to target: UnsafeMutableRawPointer) throws {
    var done = 0
    while done < count {
      if cursor.ahead.isEmpty { try turn(&cursor) }
      let part = min(cursor.ahead.count, count - done)
      if let base = cursor.ahead.baseAddress { (target + done).copyMemory(from: base, byteCount: part) }
      cursor.advance(part)
      done += part
    }
  }

  /// Leaves out the next `count` bytes.
  func skip(_ count: Int, from cursor: inout PayloadCursor) throws {
    var done = 0
    while done < count {
      if cursor.ahead.isEmpty { try turn(&cursor) }
      let part = min(cursor.ahead.count, count - done)
      cursor.advance(part)
      done += part
    }
  }

  private func turn(_ cursor: inout PayloadCursor) throws {
    let number = cursor.next
    guard snapshot.holdsData(number) else {
      throw damage(cursor, number == 0 ? "ends too early" : "goes on at page \(number), which cannot be part of it")
    }
    let base = try page(number, wanted: (cursor.left + perPage - 1) / perPage)
    cursor.next = base.bigEndian32(0)
    cursor.ahead = UnsafeRawBufferPointer(start: base + 4, count: min(perPage, cursor.left))
    (cursor.page, cursor.offset) = (number, 4)
  }

  /// The chain ends where its payload does.
  func expectEnd(_ cursor: PayloadCursor) throws {
    guard cursor.next == 0 else { throw damage(cursor, "loops or is too long") }
  }

  func damage(_ cursor: PayloadCursor, _ what: String) -> StreamsError {
    StreamsError(
      .damagedDatabase, "the overflow chain of \(cursor.name) \(what)", path: snapshot.path, page: cursor.home.page,
      cell: Int(cursor.home.cell))
  }
}

extension PayloadCursor {
  fileprivate mutating func advance(_ count: Int) {
    ahead = UnsafeRawBufferPointer(rebasing: ahead[count...])
    offset += count
    left -= count
  }
}
