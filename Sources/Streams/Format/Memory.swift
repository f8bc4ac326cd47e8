import Glibc

extension UnsafeMutableRawPointer {
  /// Sets bytes to zero: in one call also where the optimiser is off, and tests spend their time.
  func clear(_ count: Int) { memset(self, 0, count) }
}

extension UnsafeMutableRawPointer {
  /// Moves the first `used` bytes of allocated memory to a larger piece, and gives the old one back.
  package mutating func grow(_ used: Int, to capacity: Int) {
    let larger = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 16)
    larger.copyMemory(from: self, byteCount: used)
    deallocate()
    self = larger
  }

  /// Copies bytes, most often few: a call costs more than such a copy.
  @inline(__always)
  func copyShort(_ from: UnsafeRawPointer, _ count: Int) {
    if count >= 8 {
      if count <= 16 { return copyEnds(from, count: count, word: UInt64.self) }
      if count <= 32 {
        copyEnds(from, count: 16, word: UInt64.self)
        return (self + count - 16).copyEnds(from + count - 16, count: 16, word: UInt64.self)
      }
      return copyMemory(from: from, byteCount: count)
    }
    if count >= 4 { return copyEnds(from, count: count, word: UInt32.self) }
    guard count > 0 else { return }
    storeBytes(of: from.load(as: UInt8.self), as: UInt8.self)
    if count > 1 { (self + 1).copyEnds(from + 1, count: count - 1, word: UInt8.self) }
  }

  /// Copies the first and the last bytes, a word each; together they are all.
  @inline(__always)
  private func copyEnds<Word: FixedWidthInteger>(_ from: UnsafeRawPointer, count: Int, word: Word.Type) {
    let last = count - MemoryLayout<Word>.size
    let (first, end) = (from.loadUnaligned(as: Word.self), from.loadUnaligned(fromByteOffset: last, as: Word.self))
    storeBytes(of: first, as: Word.self)
    storeBytes(of: end, toByteOffset: last, as: Word.self)
  }
}
