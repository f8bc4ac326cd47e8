/// A b-tree page that is being filled: cells from the end of the page downwards, their offsets from the header on.
///
/// Remembers for each cell where its overflow chain begins and, on interior pages, its child, because pointer-map
/// entries of both are set when the page gets its number (I2).
final class CellPage {
  let kind: TreePage.Kind
  let geometry: PageGeometry
  @exclusivity(unchecked) private(set) var count = 0
  @exclusivity(unchecked) private(set) var contentStart: Int
  private let buffer: PageBuffer
  /// For every cell: the first page of its overflow chain or 0, and its child or 0.
  private let links: UnsafeMutablePointer<(overflow: UInt32, child: UInt32)>
  @exclusivity(unchecked) private var hasOverflows = false
  /// Bytes at the start of the page that are not the tree's: 100 on page 1.
  private let reservedAtStart: Int

  init(kind: TreePage.Kind, geometry: PageGeometry, reservedAtStart: Int) {
    self.kind = kind
    self.geometry = geometry
    self.reservedAtStart = reservedAtStart
    buffer = PageBuffer(size: geometry.pageSize)
    contentStart = geometry.usableSize
    links = .allocate(capacity: geometry.usableSize / 6 + 1)
  }

  deinit { links.deallocate() }

  func overflow(_ cell: Int) -> UInt32 { links[cell].overflow }
  func child(_ cell: Int) -> UInt32 { links[cell].child }

  var isInterior: Bool { kind == .tableInterior || kind == .indexInterior }
  private var headerLength: Int { isInterior ? 12 : 8 }

  /// Bytes that are left for one more cell, its offset already counted.
  var room: Int { contentStart - reservedAtStart - headerLength - 2 * (count + 1) }

  /// Makes room for a cell of `length` bytes, which fit, and returns where it goes.
  func addCell(length: Int, overflow: UInt32, child: UInt32 = 0) -> UnsafeMutableRawPointer {
    contentStart -= length
    buffer.base.storeBigEndian(UInt16(truncatingIfNeeded: contentStart), at: slot(count))
    links[count] = (overflow, child)
    if overflow != 0 { hasOverflows = true }
    count += 1
    return buffer.base + contentStart
  }

  // Offsets are kept where a page without the file header has them; page 1 moves them when it is composed.
  private func slot(_ index: Int) -> Int { headerLength + 2 * index }

  /// The bytes of the cell added last.
  var lastCell: UnsafeRawBufferPointer {
    let end = count > 1 ? Int(UnsafeRawPointer(buffer.base).bigEndian16(slot(count - 2))) : 0
    return UnsafeRawBufferPointer(
      start: buffer.base + contentStart, count: (end == 0 ? geometry.usableSize : end) - contentStart)
  }

  /// Takes back the cell added last. Its bytes stay readable until the next change.
  func removeLast() {
    contentStart += lastCell.count
    count -= 1
  }

  func reset() {
    count = 0
    contentStart = geometry.usableSize
    hasOverflows = false
    buffer.base.clear(buffer.size)
  }

  /// Writes the page under its number and sets the pointer-map entries of what hangs below it.
  func write(as number: UInt32, rightmost: UInt32 = 0, to writer: PageWriter) throws {
    compose(rightmost: rightmost)
    if number == 1 {
      let shifted = PageBuffer(size: geometry.pageSize)
      shifted.base.copyMemory(from: buffer.base, byteCount: buffer.size)
      (shifted.base + DatabaseHeader.length).copyMemory(from: buffer.base, byteCount: headerLength + 2 * count)
      try writer.write(1, shifted.base)
    } else {
      try writer.write(number, buffer.base)
    }
    if hasOverflows || isInterior {
      for cell in 0..<count {
        if links[cell].overflow != 0 { try writer.setParent(of: links[cell].overflow, .firstOverflow, number) }
        if isInterior { try writer.setParent(of: links[cell].child, .treeNode, number) }
      }
    }
    if isInterior { try writer.setParent(of: rightmost, .treeNode, number) }
  }

  private func compose(rightmost: UInt32) {
    let base = buffer.base
    // What lies between the offsets and the content is unused; it may hold a removed cell, which must not reach the
    // file (I8).
    let gap = slot(count)
    if contentStart > gap { (base + gap).clear(contentStart - gap) }
    base.storeBytes(of: kind.rawValue, as: UInt8.self)
    base.storeBigEndian(UInt16(0), at: 1)
    base.storeBigEndian(UInt16(count), at: 3)
    base.storeBigEndian(UInt16(truncatingIfNeeded: contentStart), at: 5)
    base.storeBytes(of: 0, toByteOffset: 7, as: UInt8.self)
    if isInterior { base.storeBigEndian(rightmost, at: 8) }
  }

  /// Writes what a checkpoint needs to continue this page.
  func encode(into writer: inout ByteWriter) {
    writer.writeInt(count)
    writer.writeInt(contentStart)
    let base = UnsafeRawPointer(buffer.base)
    writer.writeRaw(UnsafeRawBufferPointer(start: base + headerLength, count: 2 * count))
    writer.writeRaw(UnsafeRawBufferPointer(start: base + contentStart, count: geometry.usableSize - contentStart))
    writer.writeArray(0..<count) { $0.writeUInt32(links[$1].overflow) }
    writer.writeArray(0..<(isInterior ? count : 0)) { $0.writeUInt32(links[$1].child) }
  }

  /// Takes over what ``encode(into:)`` wrote; everything is checked against the page before it is used.
  func restore(from reader: inout ByteReader) throws {
    reset()
    let (cells, start) = (try reader.readInt(), try reader.readInt())
    guard cells >= 0, cells <= geometry.usableSize / 6, start <= geometry.usableSize, start >= slot(cells) else {
      throw reader.damaged("an open page")
    }
    let offsets = Array(try reader.readRaw(2 * cells))
    let content = Array(try reader.readRaw(geometry.usableSize - start))
    offsets.withUnsafeBytes {
      if cells > 0 { (buffer.base + headerLength).copyMemory(from: $0.baseAddress!, byteCount: $0.count) }
    }
    content.withUnsafeBytes {
      if let from = $0.baseAddress { (buffer.base + start).copyMemory(from: from, byteCount: $0.count) }
    }
    let overflows = try reader.readArray(elementSize: 4) { try $0.readUInt32() }
    let children = try reader.readArray(elementSize: 4) { try $0.readUInt32() }
    guard overflows.count == cells, children.count == (isInterior ? cells : 0) else {
      throw reader.damaged("an open page")
    }
    for cell in 0..<cells { links[cell] = (overflows[cell], isInterior ? children[cell] : 0) }
    hasOverflows = overflows.contains { $0 != 0 }
    (count, contentStart) = (cells, start)
    var previous = geometry.usableSize
    for index in 0..<cells {
      let offset = Int(UnsafeRawPointer(buffer.base).bigEndian16(slot(index)))
      guard offset < previous, offset >= start else { throw reader.damaged("an open page") }
      previous = offset
    }
  }
}
