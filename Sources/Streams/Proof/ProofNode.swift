/// A page of a tree: what its header says, checked.
struct ProofNode {
  enum Kind: UInt8 {
    case indexInterior = 2
    case tableInterior = 5
    case indexLeaf = 10
    case tableLeaf = 13
  }

  let base: UnsafeRawPointer
  let number: UInt32
  let cellCount: Int
  /// Where the places of the cells stand.
  let places: Int
  let isInterior: Bool

  /// Reads a page that must be of a kind. `bytes` must stay as long as the node.
  init(_ bytes: UnsafeRawPointer, number: UInt32, kind: Kind, in file: ProofFile) throws {
    base = bytes
    self.number = number
    isInterior = kind == .tableInterior || kind == .indexInterior
    let start = number == 1 ? 100 : 0
    guard bytes.proofByte(start) == kind.rawValue else {
      throw file.damage("the page is of kind \(bytes.proofByte(start)) instead of \(kind.rawValue)", page: number)
    }
    places = start + (isInterior ? 12 : 8)
    cellCount = bytes.proof16(start + 3)
    let content = bytes.proof16(start + 5) == 0 ? 65536 : bytes.proof16(start + 5)
    guard places + 2 * cellCount <= content, content <= file.usable else {
      throw file.damage("the page has an impossible number of cells", page: number)
    }
    guard file.isDense else { return }
    let gap = places + 2 * cellCount
    guard bytes.proof16(start + 1) == 0, bytes.proofByte(start + 7) == 0, bytes.proofIsZero(gap, content - gap),
      content == (cellCount == 0 ? file.usable : bytes.proof16(places + 2 * (cellCount - 1)))
    else { throw file.damage("the page has bytes without a meaning", page: number) }
  }

  /// The child after all cells.
  var rightmost: UInt32 { base.proof32(places - 4) }

  @inline(__always)
  func place(_ cell: Int) -> Int { base.proof16(places + 2 * cell) }
}

/// Where a cell's payload is.
struct ProofPayload {
  /// The part on the page.
  var start: UnsafeRawPointer
  var localCount: Int
  /// All bytes.
  var count: Int
  /// The first page of the rest; 0 without.
  var overflow: UInt32
}

/// Puts payloads together that continue in a chain of pages.
final class ProofOverflow {
  private let file: ProofFile
  private let claims: ProofClaims
  private let pages: ProofPages
  private let limit: Int
  private var buffer: UnsafeMutableRawBufferPointer

  /// `limit` is the longest payload that is put together.
  init(_ file: ProofFile, _ claims: ProofClaims, limit: Int) {
    (self.file, self.claims, self.limit) = (file, claims, limit)
    pages = ProofPages(file)
    buffer = .allocate(byteCount: 4 * file.pageSize, alignment: 16)
  }

  deinit { buffer.deallocate() }

  /// The last page that may be read.
  var end: UInt32 {
    get { pages.end }
    set { pages.end = newValue }
  }

  /// The payload as far as it is put together: all of it up to the limit. `body` gets every piece, in order.
  func read(_ payload: ProofPayload, of node: UInt32, cell: Int, _ body: (UnsafeRawPointer, Int) -> Void) throws
    -> UnsafeRawBufferPointer
  {
    let kept = min(payload.count, limit)
    if buffer.count < kept {
      buffer.deallocate()
      buffer = .allocate(byteCount: kept, alignment: 16)
    }
    var (done, page, parent) = (0, payload.overflow, node)
    func take(_ bytes: UnsafeRawPointer, _ count: Int) {
      body(bytes, count)
      let copied = min(count, kept - done)
      if copied > 0 { (buffer.baseAddress! + done).copyMemory(from: bytes, byteCount: copied) }
      done += count
    }
    take(payload.start, payload.localCount)
    while done < payload.count {
      guard page != 0 else { throw file.damage("a chain of pages is too short", page: node, cell: cell) }
      try claims.claim(page, parent == node ? .firstOverflow : .nextOverflow, from: parent)
      let bytes = try pages.page(page)
      let count = min(payload.count - done, file.usable - 4)
      take(bytes + 4, count)
      if file.isDense, !bytes.proofIsZero(4 + count, file.pageSize - 4 - count) {
        throw file.damage("the page has bytes without a meaning", page: page)
      }
      (parent, page) = (page, bytes.proof32(0))
    }
    guard page == 0 else { throw file.damage("a chain of pages is too long", page: node, cell: cell) }
    return UnsafeRawBufferPointer(rebasing: buffer[0..<kept])
  }
}
