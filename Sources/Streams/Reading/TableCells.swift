/// A b-tree page of a table, checked: its kind, its cells, its children.
///
/// Every offset that the page tells is checked against the page before it is used.
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
  private let snapshot: DatabaseSnapshot

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

  private var headerLength: Int { kind == .tableInterior || kind == .indexInterior ? 12 : 8 }

  private static func damage(_ snapshot: DatabaseSnapshot, _ page: UInt32, cell: Int? = nil) -> StreamsError {
    let place = cell.map { "cell \($0)" } ?? "the cell list"
    return StreamsError(.damagedDatabase, "\(place) of a b-tree page lies outside the page", path: snapshot.path, page: page)
  }

  private func offset(ofCell index: Int) throws -> Int {
    let offset = Int(base.bigEndian16(start + headerLength + 2 * index))
    guard offset >= start + headerLength, offset < bytes.count else { throw Self.damage(snapshot, number, cell: index) }
    return offset
  }

  /// The child of an interior page: `cellCount` for the right-most one.
  func child(_ index: Int) throws -> UInt32 {
    if index == cellCount { return base.bigEndian32(start + 8) }
    let offset = try offset(ofCell: index)
    guard offset + 4 <= bytes.count else { throw Self.damage(snapshot, number, cell: index) }
    return base.bigEndian32(offset)
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
    var overflow: UInt32
  }

  /// The rowid of a cell of a table leaf.
  func rowid(_ index: Int) throws -> Int64 {
    var offset = try offset(ofCell: index)
    guard Varint.read(bytes, at: &offset) != nil, let rowid = Varint.read(bytes, at: &offset) else {
      throw Self.damage(snapshot, number, cell: index)
    }
    return Int64(bitPattern: rowid)
  }

  /// A cell of a table leaf.
  func cell(_ index: Int) throws -> Cell {
    var offset = try offset(ofCell: index)
    guard let size = Varint.read(bytes, at: &offset), let rowid = Varint.read(bytes, at: &offset) else {
      throw Self.damage(snapshot, number, cell: index)
    }
    return try cell(
      index, rowid: Int64(bitPattern: rowid), size: size, at: offset, maximumLocal: snapshot.geometry.maximumTableLocal)
  }

  /// A cell of an index's leaf or interior page. It has no rowid of its own: 0.
  func indexCell(_ index: Int) throws -> Cell {
    var offset = try offset(ofCell: index) + (kind == .indexInterior ? 4 : 0)
    guard let size = Varint.read(bytes, at: &offset) else { throw Self.damage(snapshot, number, cell: index) }
    return try cell(index, rowid: 0, size: size, at: offset, maximumLocal: snapshot.geometry.maximumIndexLocal)
  }

  private func cell(_ index: Int, rowid: Int64, size: UInt64, at offset: Int, maximumLocal: Int) throws -> Cell {
    guard size <= 0x7fff_ffff else { throw Self.damage(snapshot, number, cell: index) }
    let length = Int(size)
    let local = snapshot.geometry.localLength(payload: length, maximum: maximumLocal)
    let end = offset + local
    guard end + (local < length ? 4 : 0) <= bytes.count else { throw Self.damage(snapshot, number, cell: index) }
    let overflow = local < length ? base.bigEndian32(end) : 0
    // Readers take 0 for "the whole payload is here", so a chain that is missing must not pass for that.
    guard local == length || overflow > 0 else {
      throw StreamsError(
        .damagedDatabase, "the overflow chain of \(rowid == 0 ? "cell \(index)" : "row \(rowid)") is missing",
        path: snapshot.path, page: number)
    }
    return Cell(
      rowid: rowid, payloadLength: length, local: UnsafeRawBufferPointer(rebasing: bytes[offset..<end]), overflow: overflow)
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
}
