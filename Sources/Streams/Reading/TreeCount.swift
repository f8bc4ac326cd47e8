/// Counts the records of any b-tree, a table's or an index's. Reads every page of it, but no overflow chain.
public enum TreeCount {
  private static let maximumDepth = 24

  /// Rows of a table, or records of an index or a WITHOUT ROWID table.
  ///
  /// - Throws: ``StreamsError``: `damagedDatabase`.
  public static func rows(root: UInt32, in snapshot: DatabaseSnapshot) throws -> UInt64 {
    var budget = snapshot.readablePages
    return try count(root, snapshot: snapshot, depth: 0, budget: &budget)
  }

  private static func count(_ number: UInt32, snapshot: DatabaseSnapshot, depth: Int, budget: inout UInt64) throws
    -> UInt64
  {
    guard depth < maximumDepth, budget > 0 else {
      throw StreamsError(.damagedDatabase, "the b-tree loops", path: snapshot.path, page: number)
    }
    budget -= 1
    let buffer = PageBuffer(size: snapshot.geometry.pageSize)
    try snapshot.read(page: number, into: buffer.bytes)
    let page = try TreePage(number: number, bytes: UnsafeRawBufferPointer(buffer.bytes), snapshot: snapshot)
    switch page.kind {
    case .tableLeaf, .indexLeaf: return UInt64(page.cellCount)
    case .tableInterior, .indexInterior:
      // On an index's interior pages stand records too.
      var total = page.kind == .indexInterior ? UInt64(page.cellCount) : 0
      for index in 0...page.cellCount {
        total += try count(try page.child(index), snapshot: snapshot, depth: depth + 1, budget: &budget)
      }
      return total
    }
  }
}
