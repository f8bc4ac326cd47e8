/// How large a table is, estimated from a sample of its pages: a look takes a moment, whatever the table's size.
///
/// Level by level so many pages are read, evenly spread; what they hold stands for the rest. Where all were read the
/// numbers are exact.
public struct TreeEstimate: Sendable, Equatable {
  /// Rows.
  public private(set) var rows = 0.0
  /// Bytes of the table's pages, those of long values included.
  public private(set) var bytes = 0.0
  /// Whether every page was read, except those of long values.
  public private(set) var isExact = true

  private static let maximumDepth = 24

  /// Looks at a table, or at a table WITHOUT ROWID. `pages` is how many are read of a level, at most. `body` is given
  /// the rows of the sample: bytes that a row takes, and what of its record lies on its page.
  ///
  /// - Throws: ``StreamsError``: `damagedDatabase`.
  public init(
    root: UInt32, in snapshot: DatabaseSnapshot, pages most: Int,
    _ body: (_ bytes: Double, _ beginning: UnsafeRawBufferPointer) throws -> Void = { _, _ in }
  ) throws {
    var (level, scale) = ([root], 1.0)
    let buffer = PageBuffer(size: snapshot.geometry.pageSize)
    for _ in 0..<Self.maximumDepth {
      var children: [UInt32] = []
      for number in level {
        try snapshot.read(page: number, into: buffer.bytes)
        let page = try TreePage(number: number, bytes: UnsafeRawBufferPointer(buffer.bytes), snapshot: snapshot)
        bytes += Double(snapshot.geometry.pageSize) * scale
        if page.kind != .tableInterior { rows += Double(page.cellCount) * scale }
        if page.kind == .tableLeaf { try look(page, snapshot: snapshot, scale: scale, body: body) }
        if page.isInterior { for index in 0...page.cellCount { children.append(try page.child(index)) } }
      }
      guard !children.isEmpty else { return }
      let picked = Self.picked(children, most)
      if picked.count < children.count { isExact = false }
      scale *= Double(children.count) / Double(picked.count)
      level = picked
    }
    throw StreamsError(.damagedDatabase, "the b-tree loops", path: snapshot.path, page: root)
  }

  private static func picked(_ pages: [UInt32], _ most: Int) -> [UInt32] {
    guard pages.count > most else { return pages }
    return (0..<most).map { pages[(2 * $0 + 1) * pages.count / (2 * most)] }
  }

  private mutating func look(
    _ page: TreePage, snapshot: DatabaseSnapshot, scale: Double,
    body: (Double, UnsafeRawBufferPointer) throws -> Void
  ) throws {
    let room = snapshot.geometry.usableSize - 4
    for index in 0..<page.cellCount {
      let cell = try page.cell(index)
      let outside = (cell.payloadLength - cell.local.count + room - 1) / room * snapshot.geometry.pageSize
      bytes += Double(outside) * scale
      try body(Double(cell.place.count + 2 + outside), cell.local)
    }
  }
}
