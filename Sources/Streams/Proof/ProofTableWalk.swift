/// Walks leaves of a table's tree, or of parts of it, and checks them: each page once, rowids ascending within their
/// bounds.
final class ProofTableWalk {
  /// A part of the tree: all below one page.
  struct Part: Hashable {
    var page: UInt32
    var parent: UInt32
    /// Levels below the page.
    var depth: Int
    /// Rowids are above this one, and not above the other.
    var lower: Int64?
    var upper: Int64?
    /// Whether its page belongs to another walk, which claims it.
    var isClaimed = false
  }

  static let deepest = 20
  private let file: ProofFile
  private let claims: ProofClaims
  private let pages: ProofPages
  private let space: ProofSpace
  /// Parts to come, the next one at the end.
  private var stack: [Part]
  private(set) var node: ProofNode?
  @exclusivity(unchecked) private var part: Part
  @exclusivity(unchecked) private var last: Int64 = 0
  @exclusivity(unchecked) private var hasLast = false
  @exclusivity(unchecked) private var end = 0

  init(_ file: ProofFile, claims: ProofClaims, pages: ProofPages, parts: [Part]) {
    (self.file, self.claims, self.pages) = (file, claims, pages)
    stack = parts.reversed()
    (part, space) = (Part(page: 0, parent: 0, depth: 0), ProofSpace(file))
  }

  /// Levels below the root, found along its left side. The page of the root is read by the first who walks it.
  static func depth(_ pages: ProofPages, _ root: UInt32, inner: ProofNode.Kind) throws -> Int {
    try shape(pages, root, inner: inner).depth
  }

  /// The same, and about how many leaves there are: as many below each inner page of a level as below its first.
  static func shape(
    _ pages: ProofPages, _ root: UInt32, inner: ProofNode.Kind
  ) throws -> (depth: Int, leaves: Double) {
    var (page, depth, leaves) = (root, 0, 1.0)
    while true {
      let bytes = try pages.page(page)
      guard bytes.proofByte(page == 1 ? 100 : 0) == inner.rawValue else { return (depth, leaves) }
      depth += 1
      guard depth <= deepest else { throw pages.file.damage("the tree is too deep", page: page) }
      let node = try ProofNode(bytes, number: page, kind: inner, in: pages.file)
      guard node.cellCount > 0, node.place(0) + 4 <= pages.file.usable else {
        throw pages.file.damage("an inner page has no cell", page: page)
      }
      leaves *= Double(node.cellCount + 1)
      page = bytes.proof32(node.place(0))
    }
  }

  /// The parts right below one: its page is claimed and checked.
  func split(_ part: Part) throws -> [Part] {
    if !part.isClaimed { try claim(part) }
    let node = try ProofNode(try pages.page(part.page), number: part.page, kind: .tableInterior, in: file)
    var parts: [Part] = []
    var (lower, end) = (part.lower, file.usable)
    space.begin()
    for cell in 0..<node.cellCount {
      var position = node.place(cell) + 4
      let start = position - 4
      guard start >= node.places, let key = node.base.proofVarint(&position, file.usable) else {
        throw file.damage("a cell is damaged", page: part.page, cell: cell)
      }
      let rowid = Int64(bitPattern: key)
      guard lower.map({ rowid > $0 }) ?? true, part.upper.map({ rowid <= $0 }) ?? true,
        file.isDense ? position == end : space.take(start, position)
      else {
        throw file.damage("an inner page's keys are out of order", page: part.page, cell: cell)
      }
      parts.append(
        Part(page: node.base.proof32(start), parent: part.page, depth: part.depth - 1, lower: lower, upper: rowid))
      (lower, end) = (rowid, start)
    }
    guard node.cellCount > 0 else { throw file.damage("an inner page has no cell", page: part.page) }
    try space.finish(node)
    parts.append(Part(page: node.rightmost, parent: part.page, depth: part.depth - 1, lower: lower, upper: part.upper))
    return parts
  }

  /// Takes a part's page.
  func claim(_ part: Part) throws {
    try claims.claim(part.page, part.parent == 0 ? .root : .treeNode, from: part.parent)
  }

  /// Goes to the next leaf; false after the last. Its bytes stay until the next call.
  func nextLeaf() throws -> Bool {
    while let next = stack.popLast() {
      if next.depth > 0 {
        stack += try split(next).reversed()
        continue
      }
      try claim(next)
      let node = try ProofNode(try pages.page(next.page), number: next.page, kind: .tableLeaf, in: file)
      guard node.cellCount > 0 || next.parent == 0 else { throw file.damage("a leaf has no row", page: next.page) }
      (self.node, part, end) = (node, next, file.usable)
      space.begin()
      if node.cellCount == 0 { try space.finish(node) }
      (last, hasLast) = (next.lower ?? 0, next.lower != nil)
      return true
    }
    return false
  }

  /// A row of the leaf; to be asked for one after the other.
  @inline(__always)
  func row(_ cell: Int, of node: ProofNode) throws -> (rowid: Int64, payload: ProofPayload) {
    let start = node.place(cell)
    var position = start
    guard start >= node.places, let length = node.base.proofVarint(&position, file.usable),
      let key = node.base.proofVarint(&position, file.usable), length < 1 << 31
    else { throw file.damage("a cell is damaged", page: node.number, cell: cell) }
    let rowid = Int64(bitPattern: key)
    guard !hasLast || rowid > last else {
      throw file.damage("row \(rowid) is out of order", page: node.number, cell: cell)
    }
    (last, hasLast) = (rowid, true)
    let count = Int(length)
    let local = file.local(count, isTable: true)
    var after = position + local
    guard after + (local < count ? 4 : 0) <= file.usable else {
      throw file.damage("row \(rowid) runs over its page", page: node.number, cell: cell)
    }
    let overflow = local < count ? node.base.proof32(after) : 0
    if local < count { after += 4 }
    try endCell(cell, start: start, after: max(after, start + 4), node: node)
    return (
      rowid, ProofPayload(start: node.base + position, localCount: local, count: count, overflow: overflow)
    )
  }

  @inline(__always)
  private func endCell(_ cell: Int, start: Int, after: Int, node: ProofNode) throws {
    guard file.isDense ? after == end : space.take(start, after) else {
      throw file.damage("cells overlap, or leave room between them", page: node.number, cell: cell)
    }
    end = start
    guard cell + 1 == node.cellCount else { return }
    if let upper = part.upper, last > upper {
      throw file.damage("row \(last) belongs to another page", page: node.number, cell: cell)
    }
    try space.finish(node)
  }
}
