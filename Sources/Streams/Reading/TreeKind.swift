/// Finds what a b-tree holds, by its root page.
public enum TreeKind {
  /// Whether it is a table with rowids. Otherwise it is an index, or a WITHOUT ROWID table.
  ///
  /// - Throws: ``StreamsError``: `damagedDatabase`.
  public static func isTable(root: UInt32, in snapshot: DatabaseSnapshot) throws -> Bool {
    let buffer = PageBuffer(size: snapshot.geometry.pageSize)
    try snapshot.read(page: root, into: buffer.bytes)
    let page = try TreePage(number: root, bytes: UnsafeRawBufferPointer(buffer.bytes), snapshot: snapshot)
    return page.kind == .tableLeaf || page.kind == .tableInterior
  }
}
