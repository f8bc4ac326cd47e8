/// Which bytes of a page its cells and free blocks take. A page that was changed in place has them in any order, with
/// small gaps between them: no byte may be taken twice, and the gaps are as large as the page says.
///
/// Source of the rules: SQLite, "Database File Format", section 1.6.
final class ProofSpace {
  private let words: UnsafeMutableBufferPointer<UInt64>
  private let file: ProofFile
  @exclusivity(unchecked) private var taken = 0
  @exclusivity(unchecked) private var lowest = Int.max

  init(_ file: ProofFile) {
    self.file = file
    words = .allocate(capacity: file.usable / 64 + 1)
  }

  deinit { words.deallocate() }

  /// Begins a page.
  func begin() {
    guard !file.isDense else { return }
    words.initialize(repeating: 0)
    (taken, lowest) = (0, .max)
  }

  /// Takes the bytes of a cell or a free block, which are four at least; false if they leave the page, or if one of
  /// them is taken.
  @inline(__always)
  func take(_ start: Int, _ end: Int) -> Bool {
    guard start >= 0, start < end, end <= file.usable else { return false }
    taken &+= end &- start
    lowest = min(lowest, start)
    let (first, last) = (start >> 6, (end &- 1) >> 6)
    let head = UInt64.max << UInt64(start & 63)
    let tail = UInt64.max >> UInt64(63 &- (end &- 1) & 63)
    if first == last { return put(first, head & tail) }
    var isFree = put(first, head)
    for word in first + 1..<last { isFree = put(word, .max) && isFree }
    return put(last, tail) && isFree
  }

  @inline(__always)
  private func put(_ word: Int, _ bits: UInt64) -> Bool {
    defer { words[word] |= bits }
    return words[word] & bits == 0
  }

  /// Takes the free blocks, when all cells are taken, and compares what is left with what the page says.
  func finish(_ node: ProofNode) throws {
    guard !file.isDense else { return }
    let (base, head) = (node.base, node.number == 1 ? 100 : 0)
    let content = base.proof16(head + 5) == 0 ? 65536 : base.proof16(head + 5)
    var (block, least) = (base.proof16(head + 1), 0)
    while block != 0 {
      // Blocks ascend, and smaller gaps than four bytes are no blocks.
      guard block >= least, block + 4 <= file.usable, base.proof16(block + 2) >= 4,
        take(block, block + base.proof16(block + 2))
      else { throw file.damage("the page's free blocks are damaged", page: node.number) }
      least = block + base.proof16(block + 2) + 4
      block = base.proof16(block)
    }
    guard lowest >= content, content + taken + Int(base.proofByte(head + 7)) == file.usable else {
      throw file.damage("the page's cells do not fill it", page: node.number)
    }
  }
}
