/// Writes the part of a payload that does not stay on its page as a chain of overflow pages.
struct OverflowWriter {
  private let writer: PageWriter
  private let buffer: PageBuffer

  init(writer: PageWriter) {
    self.writer = writer
    buffer = PageBuffer(size: writer.geometry.pageSize)
  }

  /// Writes the bytes and returns the first page of the chain; its own pointer-map entry is set with its owner's
  /// number.
  func write(_ bytes: UnsafeRawBufferPointer) throws -> UInt32 {
    guard var source = bytes.baseAddress else { return 0 }
    return try write(bytes.count) { target, count in
      target.copyMemory(from: source, byteCount: count)
      source += count
    }
  }

  /// Writes `length` bytes, which `fill` puts in the given place, piece by piece in order.
  @inline(__always)
  func write(_ length: Int, _ fill: (_ target: UnsafeMutableRawPointer, _ count: Int) throws -> Void) throws -> UInt32 {
    let perPage = writer.geometry.usableSize - 4
    let first = try writer.allocate()
    var current = first
    var left = length
    while true {
      let count = min(perPage, left)
      left -= count
      let next = left == 0 ? 0 : try writer.allocate()
      let slot = try writer.slot(current)
      let target = slot ?? buffer.base
      target.storeBigEndian(next, at: 0)
      try fill(target + 4, count)
      let unused = buffer.size - 4 - count
      if unused > 0 { (target + 4 + count).clear(unused) }
      if slot == nil { try writer.write(current, target) }
      if left == 0 { return first }
      try writer.setParent(of: next, .nextOverflow, current)
      current = next
    }
  }
}
