/// Finds single rows of a table by their rowids. Takes no page: whoever walks the table does.
final class ProofRowFinder {
  private let file: ProofFile
  private let root: UInt32
  private let pages: ProofPages
  /// The longest record that is put together.
  private static let longest = 1 << 17

  init(_ file: ProofFile, root: UInt32) {
    (self.file, self.root) = (file, root)
    pages = ProofPages(file)
  }

  /// The row's record; nil if there is no such row.
  func record(_ rowid: Int64) throws -> [UInt8]? {
    var page = root
    for _ in 0...ProofTableWalk.deepest {
      let bytes = try pages.page(page)
      let isLeaf = bytes.proofByte(page == 1 ? 100 : 0) == ProofNode.Kind.tableLeaf.rawValue
      let node = try ProofNode(bytes, number: page, kind: isLeaf ? .tableLeaf : .tableInterior, in: file)
      let cell = try firstCell(from: rowid, in: node)
      if isLeaf { return try cell < node.cellCount ? payload(cell, rowid, in: node) : nil }
      page = cell < node.cellCount ? bytes.proof32(node.place(cell)) : node.rightmost
    }
    throw file.damage("the tree is too deep", page: root)
  }

  /// The first cell whose rowid is not below one.
  private func firstCell(from rowid: Int64, in node: ProofNode) throws -> Int {
    var (low, high) = (0, node.cellCount)
    while low < high {
      let middle = (low + high) / 2
      if try key(middle, in: node).rowid < rowid { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// A cell's rowid and length, and where its payload begins.
  private func key(_ cell: Int, in node: ProofNode) throws -> (rowid: Int64, length: Int, position: Int) {
    var position = node.place(cell) + (node.isInterior ? 4 : 0)
    guard node.place(cell) >= node.places,
      let length = node.isInterior ? 0 : node.base.proofVarint(&position, file.usable),
      let rowid = node.base.proofVarint(&position, file.usable), length < 1 << 31
    else { throw file.damage("a cell is damaged", page: node.number, cell: cell) }
    return (Int64(bitPattern: rowid), Int(length), position)
  }

  private func payload(_ cell: Int, _ rowid: Int64, in node: ProofNode) throws -> [UInt8]? {
    let found = try key(cell, in: node)
    guard found.rowid == rowid else { return nil }
    let local = file.local(found.length, isTable: true)
    let isLong = local < found.length
    guard found.position + local + (isLong ? 4 : 0) <= file.usable, found.length <= Self.longest else {
      throw file.damage("row \(rowid) is too long", page: node.number, cell: cell)
    }
    var record = Array(UnsafeRawBufferPointer(start: node.base + found.position, count: local))
    var next = isLong ? node.base.proof32(found.position + local) : 0
    while record.count < found.length {
      guard next != 0 else { throw file.damage("a chain of pages is too short", page: node.number, cell: cell) }
      let bytes = try pages.page(next)
      let count = min(found.length - record.count, file.usable - 4)
      record += UnsafeRawBufferPointer(start: bytes + 4, count: count)
      next = bytes.proof32(0)
    }
    return record
  }
}
