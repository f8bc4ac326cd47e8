/// A b-tree page of a table, checked: its kind, its cells, its children.
///
/// Every offset that the page names is checked against the page before it is used.
struct TreePage {
  enum Kind: UInt8 {
    case indexInterior = 2
    case tableInterior = 5
    case indexLeaf = 10
    case tableLeaf = 13
  }

  let number: UInt32
  let kind: Kind
  let cellCount: Int
  private let bytes: UnsafeRawBufferPointer
  private let base: UnsafeRawPointer
  private let start: Int
  // Not counted for every page and row: whoever reads pages holds their snapshot.
  private unowned(unsafe) let snapshot: DatabaseSnapshot

  /// Checks a page's header. The bytes have the page's size.
  init(number: UInt32, bytes: UnsafeRawBufferPointer, snapshot: DatabaseSnapshot) throws {
    self.number = number
    self.bytes = UnsafeRawBufferPointer(rebasing: bytes[0..<snapshot.geometry.usableSize])
    self.snapshot = snapshot
    base = bytes.baseAddress!
    start = number == 1 ? DatabaseHeader.length : 0
    guard let kind = Kind(rawValue: bytes[start]) else {
      throw StreamsError(
        .damagedDatabase, "a page of a b-tree has the unknown kind \(bytes[start])", path: snapshot.path, page: number)
    }
    self.kind = kind
    cellCount = Int(base.bigEndian16(start + 3))
    guard start + headerLength + 2 * cellCount <= self.bytes.count else { throw Self.damage(snapshot, number) }
  }

  var isInterior: Bool { kind == .tableInterior || kind == .indexInterior }
  private var headerLength: Int { isInterior ? 12 : 8 }

  private static func damage(_ snapshot: DatabaseSnapshot, _ page: UInt32, cell: Int? = nil) -> StreamsError {
    let what = cell == nil ? "the cell list of a b-tree page" : "a cell of a b-tree page"
    return StreamsError(.damagedDatabase, "\(what) lies outside the page", path: snapshot.path, page: page, cell: cell)
  }

  private func offset(ofCell index: Int) throws -> Int {
    let offset = Int(base.bigEndian16(start + headerLength + 2 * index))
    // A cell begins after the offsets of all cells.
    guard offset >= start + headerLength + 2 * cellCount, offset < bytes.count else {
      throw Self.damage(snapshot, number, cell: index)
    }
    return offset
  }

  /// The child of an interior page: `cellCount` for the right-most one.
  func child(_ index: Int) throws -> UInt32 {
    var place = start + 8
    if index < cellCount {
      place = try offset(ofCell: index)
      guard place + 4 <= bytes.count else { throw Self.damage(snapshot, number, cell: index) }
    }
    let child = base.bigEndian32(place)
    guard snapshot.holdsData(child) else {
      throw StreamsError(
        .damagedDatabase, "the b-tree goes on at page \(child), which cannot be part of it", path: snapshot.path,
        page: number,
        cell: index)
    }
    return child
  }

  /// The largest rowid below the child of a table's interior page.
  func key(_ index: Int) throws -> Int64 {
    var offset = try offset(ofCell: index) + 4
    guard let key = Varint.read(bytes, at: &offset) else { throw Self.damage(snapshot, number, cell: index) }
    return Int64(bitPattern: key)
  }

  /// A row on a table leaf, or a record in an index: what lies on the page, and where the rest begins.
  struct Cell {
    var rowid: Int64
    var payloadLength: Int
    var local: UnsafeRawBufferPointer
    /// Where `local` begins on the page.
    var localOffset: Int
    var overflow: UInt32
    /// Position on the page, for messages.
    var index: Int
    /// Bytes of the page that the cell takes.
    var place: Range<Int>

    /// Whether it begins with a byte that begins no record. Records with references are recognized by it.
    var isMarked: Bool { local.first == LongValue.mark }
    /// For messages: records of an index have no rowid.
    var name: String { rowid == 0 ? "a record" : "row \(rowid)" }
  }

  /// An error for a cell that no record begins in.
  func noRecord(_ cell: Cell) -> StreamsError {
    StreamsError(
      .damagedDatabase, "\(cell.name) has no header", path: snapshot.path, page: number, cell: cell.index)
  }

  /// The rowid of a cell of a table leaf.
  func rowid(_ index: Int) throws -> Int64 {
    var offset = try offset(ofCell: index)
    guard Varint.read(bytes, at: &offset) != nil, let rowid = Varint.read(bytes, at: &offset) else {
      throw Self.damage(snapshot, number, cell: index)
    }
    return Int64(bitPattern: rowid)
  }

  /// A row that lies whole on its leaf, and where: what most rows are.
  struct WholeRow {
    var rowid: Int64
    /// Where the cell begins, and its payload, and where both end.
    var begin: Int
    var payload: Int
    var end: Int
  }

  /// The row of a table leaf's cell by a short look; nil for any other cell, and for one that is damaged or lies at the
  /// very end of the page: ``cell(_:)`` tells them apart.
  @inline(__always)
  func wholeRow(_ index: Int, maximumLocal: Int) -> WholeRow? {
    let begin = Int(base.bigEndian16(start &+ 8 &+ 2 &* index))
    guard begin >= start &+ 8 &+ 2 &* cellCount, begin &+ 2 &* Varint.maximumLength <= bytes.count else { return nil }
    var place = begin
    func nextByte() -> UInt8 {
      defer { place &+= 1 }
      return base.load(fromByteOffset: place, as: UInt8.self)
    }
    var byte = nextByte()
    var size = Int(byte)
    if byte >= 0x80 {
      byte = nextByte()
      size = (size & 0x7f) << 7 | Int(byte)
      if byte >= 0x80 { return nil }
    }
    var rowid: Int64 = 0
    repeat {
      byte = nextByte()
      rowid = rowid << 7 | Int64(byte & 0x7f)
    } while byte >= 0x80 && place &- begin < Varint.maximumLength
    let end = place &+ size
    guard byte < 0x80, size <= maximumLocal, end <= bytes.count else { return nil }
    return WholeRow(rowid: rowid, begin: begin, payload: place, end: end)
  }

  /// The payload of a row.
  @inline(__always)
  func payload(_ row: WholeRow) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: base + row.payload, count: row.end &- row.payload)
  }

  /// A cell of a table leaf.
  func cell(_ index: Int) throws -> Cell {
    let begin = try offset(ofCell: index)
    var offset = begin
    guard let size = Varint.read(bytes, at: &offset), let rowid = Varint.read(bytes, at: &offset) else {
      throw Self.damage(snapshot, number, cell: index)
    }
    return try cell(
      index, begin, rowid: Int64(bitPattern: rowid), size: size, at: offset,
      maximumLocal: snapshot.geometry.maximumTableLocal)
  }

  /// A cell of an index's leaf or interior page. It has no rowid of its own: 0.
  func indexCell(_ index: Int) throws -> Cell {
    let begin = try offset(ofCell: index)
    var offset = begin + (kind == .indexInterior ? 4 : 0)
    guard let size = Varint.read(bytes, at: &offset) else { throw Self.damage(snapshot, number, cell: index) }
    return try cell(
      index, begin, rowid: 0, size: size, at: offset, maximumLocal: snapshot.geometry.maximumIndexLocal)
  }

  private func cell(
    _ index: Int, _ begin: Int, rowid: Int64, size: UInt64, at offset: Int, maximumLocal: Int
  ) throws -> Cell {
    guard size <= 0x7fff_ffff else { throw Self.damage(snapshot, number, cell: index) }
    let length = Int(size)
    let local = snapshot.geometry.localLength(payload: length, maximum: maximumLocal)
    let end = offset + local
    let behind = end + (local < length ? 4 : 0)
    guard behind <= bytes.count else { throw Self.damage(snapshot, number, cell: index) }
    let overflow = local < length ? base.bigEndian32(end) : 0
    // Readers take 0 for "the whole payload is here", so a chain that is missing must not pass for that.
    guard local == length || overflow > 0 else {
      throw StreamsError(
        .damagedDatabase, "the overflow chain of \(rowid == 0 ? "a cell" : "row \(rowid)") is missing",
        path: snapshot.path, page: number, cell: index)
    }
    return Cell(
      rowid: rowid, payloadLength: length, local: UnsafeRawBufferPointer(rebasing: bytes[offset..<end]),
      localOffset: offset, overflow: overflow, index: index, place: begin..<behind)
  }

  /// The first cell of a table's interior or leaf page whose rowid is at least `rowid`; `cellCount` when none is.
  func firstCell(notBelow rowid: Int64) throws -> Int {
    var low = 0
    var high = cellCount
    while low < high {
      let middle = (low + high) / 2
      let key = try kind == .tableLeaf ? self.rowid(middle) : key(middle)
      if key < rowid { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// Checks that no two cells of a leaf, or of an index's page, lie on each other. Readers call this for pages whose
  /// cells do not simply follow each other downwards, as they do on pages that were filled in order.
  func checkPlaces() throws {
    let isTable = kind == .tableLeaf
    var places = try (0..<cellCount).map { index in
      let place = try isTable ? cell(index).place : indexCell(index).place
      return UInt64(place.lowerBound) << 40 | UInt64(place.upperBound) << 20 | UInt64(index)
    }
    places.sort()
    for position in places.indices.dropFirst()
    where places[position] >> 40 < places[position - 1] >> 20 & 0xfffff {
      throw StreamsError(
        .damagedDatabase, "cells of a b-tree page overlap", path: snapshot.path, page: number,
        cell: Int(places[position] & 0xfffff))
    }
  }
}
