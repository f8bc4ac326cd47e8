/// Builds an index's b-tree bottom-up from keys in index order, one open page a level.
///
/// In an index every key stands once, on a leaf or on an interior page. A full page gives its last key up to the page
/// above; so a page that is written never lacks keys, and the key that follows begins a page that is not empty.
public final class IndexBuilder {
  /// The page reserved for the root.
  public let root: UInt32
  private let writer: PageWriter
  private let geometry: PageGeometry
  private let overflow: OverflowWriter
  /// The open leaf, which is the lowest of the levels.
  private let leaf: CellPage
  @exclusivity(unchecked) private var levels: [CellPage]
  @exclusivity(unchecked) private var keyCount: UInt64 = 0
  /// Keys appended so far.
  public var count: UInt64 { keyCount }

  /// Begins an index.
  public init(root: UInt32, writer: PageWriter) {
    self.root = root
    self.writer = writer
    geometry = writer.geometry
    overflow = OverflowWriter(writer: writer)
    leaf = CellPage(kind: .indexLeaf, geometry: geometry, reservedAtStart: 0)
    levels = [leaf]
  }

  /// Appends keys in order.
  ///
  /// - Throws: ``StreamsError``.
  public func append(_ cells: IndexCells) throws {
    let (bytes, largest) = (cells.bytes, geometry.maximumIndexLocal)
    guard let base = bytes.baseAddress else { return }
    var position = 0
    while position < bytes.count {
      let start = position
      guard let payload = Varint.read(bytes, at: &position) else { return }
      let end = position + Int(payload)
      if Int(payload) <= largest, end - start >= 4 {
        if leaf.room < end - start { try passUp(level: 0) }
        leaf.addCell(length: end - start, overflow: 0).copyMemory(from: base + start, byteCount: end - start)
        keyCount += 1
      } else {
        try append(UnsafeRawBufferPointer(rebasing: bytes[position..<end]))
      }
      position = end
    }
  }

  /// Appends a key: an index record, the rowid as its last value. The caller keeps the order.
  ///
  /// - Throws: ``StreamsError``.
  public func append(_ record: UnsafeRawBufferPointer) throws {
    let local = geometry.localLength(payload: record.count, maximum: geometry.maximumIndexLocal)
    let spills = local < record.count
    let head = Varint.length(UInt64(record.count))
    let length = max(4, head + local + (spills ? 4 : 0))
    if leaf.room < length { try passUp(level: 0) }
    let first = spills ? try overflow.write(UnsafeRawBufferPointer(rebasing: record[local...])) : 0
    let cell = leaf.addCell(length: length, overflow: first)
    Varint.write(UInt64(record.count), to: cell)
    if let base = record.baseAddress { (cell + head).copyMemory(from: base, byteCount: local) }
    if spills { cell.storeBigEndian(first, at: head + local) }
    keyCount += 1
  }

  /// Writes a full page without its last key, which goes to the page above.
  private func passUp(level: Int) throws {
    let page = levels[level]
    let last = [UInt8](page.lastCell)
    let lastOverflow = page.overflow(page.count - 1)
    let rightmost = page.isInterior ? page.child(page.count - 1) : 0
    page.removeLast()
    let number = try writer.allocate()
    try page.write(as: number, rightmost: rightmost, to: writer)
    if level == 1 { writer.finished(ProofPart(root: root, page: number)) }
    let payload = page.isInterior ? last.dropFirst(4) : trimmed(last)
    page.reset()
    try addDivider(child: number, payload: payload, overflow: lastOverflow, level: level + 1)
  }

  // A leaf's cell is padded to four bytes; on an interior page the child's number fills them.
  private func trimmed(_ cell: [UInt8]) -> ArraySlice<UInt8> {
    guard cell.count == 4 else { return cell[...] }
    return cell[0..<(1 + Int(cell[0]))]
  }

  private func addDivider(child: UInt32, payload: ArraySlice<UInt8>, overflow: UInt32, level: Int) throws {
    if level == levels.count {
      levels.append(CellPage(kind: .indexInterior, geometry: geometry, reservedAtStart: 0))
    }
    if levels[level].room < 4 + payload.count { try passUp(level: level) }
    let cell = levels[level].addCell(length: 4 + payload.count, overflow: overflow, child: child)
    cell.storeBigEndian(child, at: 0)
    payload.withUnsafeBytes { (cell + 4).copyMemory(from: $0.baseAddress!, byteCount: $0.count) }
  }

  /// Writes the pages that are still open and the root. No key can be appended afterwards.
  ///
  /// - Throws: ``StreamsError``.
  public func finish() throws {
    var rightmost: UInt32 = 0
    for level in 0..<levels.count - 1 {
      let number = try writer.allocate()
      try levels[level].write(as: number, rightmost: rightmost, to: writer)
      rightmost = number
    }
    try levels[levels.count - 1].write(as: root, rightmost: rightmost, to: writer)
    try writer.setParent(of: root, .root, 0)
  }
}
