/// Where pieces of a table begin that are spread over it: for who reads a sample in the order of the rowids.
public enum TablePieces {
  private static let maximumDepth = 24

  /// Rowids after which `count` pieces begin, ascending; nil for the table's beginning. Fewer for a table with fewer
  /// pages. Reads pages of the upper levels alone: those of the first level that has as many.
  ///
  /// - Throws: ``StreamsError``: `damagedDatabase`.
  public static func beginnings(_ snapshot: DatabaseSnapshot, root: UInt32, count: Int) throws -> [Int64?] {
    var level: [(page: UInt32, after: Int64?)] = [(root, nil)]
    let buffer = PageBuffer(size: snapshot.geometry.pageSize)
    for _ in 0..<maximumDepth where level.count < count {
      var below: [(page: UInt32, after: Int64?)] = []
      for (number, after) in level {
        try snapshot.read(page: number, into: buffer.bytes)
        let page = try TreePage(number: number, bytes: UnsafeRawBufferPointer(buffer.bytes), snapshot: snapshot)
        guard page.kind == .tableInterior else { return picked(level.map(\.after), count) }
        for index in 0...page.cellCount {
          below.append((try page.child(index), index == 0 ? after : try page.key(index - 1)))
        }
      }
      level = below
    }
    return picked(level.map(\.after), count)
  }

  private static func picked(_ all: [Int64?], _ count: Int) -> [Int64?] {
    guard all.count > count else { return all }
    return (0..<count).map { all[$0 * all.count / count] }
  }
}
