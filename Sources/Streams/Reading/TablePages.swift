/// Counts a table's leaf pages by its interior pages alone: what progress is measured against.
public enum TablePages {
  private static let maximumDepth = 24

  /// Leaf pages of the table with that root.
  ///
  /// - Throws: ``StreamsError``.
  public static func count(_ snapshot: DatabaseSnapshot, root: UInt32) throws -> UInt64 {
    var budget = 2 * snapshot.readablePages
    return try count(snapshot, root, depth: 0, budget: &budget)
  }

  /// Cells of the table's first leaf page: about as many as any other has.
  ///
  /// - Throws: ``StreamsError``.
  public static func rowsOfFirst(_ snapshot: DatabaseSnapshot, root: UInt32) throws -> Int {
    var number = root
    let buffer = PageBuffer(size: snapshot.geometry.pageSize)
    for _ in 0..<maximumDepth {
      try snapshot.read(page: number, into: buffer.bytes)
      let page = try TreePage(number: number, bytes: UnsafeRawBufferPointer(buffer.bytes), snapshot: snapshot)
      guard page.kind == .tableInterior else { return page.cellCount }
      number = try page.child(0)
    }
    throw StreamsError(.damagedDatabase, "the b-tree loops", path: snapshot.path, page: number)
  }

  private static func count(_ snapshot: DatabaseSnapshot, _ number: UInt32, depth: Int, budget: inout UInt64) throws
    -> UInt64
  {
    guard depth < maximumDepth, budget > 0 else {
      throw StreamsError(.damagedDatabase, "the b-tree loops", path: snapshot.path, page: number)
    }
    budget -= 1
    let buffer = PageBuffer(size: snapshot.geometry.pageSize)
    try snapshot.read(page: number, into: buffer.bytes)
    let page = try TreePage(number: number, bytes: UnsafeRawBufferPointer(buffer.bytes), snapshot: snapshot)
    guard page.kind == .tableInterior else { return 1 }
    // All leaves of a tree are at one depth: if the first child is a leaf, all are.
    let first = try count(snapshot, try page.child(0), depth: depth + 1, budget: &budget)
    if first == 1, try isLeaf(snapshot, page.child(0)) { return UInt64(page.cellCount) + 1 }
    var total = first
    for index in 1..<page.cellCount + 1 {
      total += try count(snapshot, try page.child(index), depth: depth + 1, budget: &budget)
    }
    return total
  }

  private static func isLeaf(_ snapshot: DatabaseSnapshot, _ number: UInt32) throws -> Bool {
    let buffer = PageBuffer(size: snapshot.geometry.pageSize)
    try snapshot.read(page: number, into: buffer.bytes)
    return try TreePage(number: number, bytes: UnsafeRawBufferPointer(buffer.bytes), snapshot: snapshot).kind
      == .tableLeaf
  }
}
