/// Writes the part of a payload that does not stay on its page as a chain of overflow pages.
struct OverflowWriter {
  private let writer: PageWriter
  private let buffer: PageBuffer

  init(writer: PageWriter) {
    self.writer = writer
    buffer = PageBuffer(size: writer.geometry.pageSize)
  }

  /// Writes the bytes and returns the first page of the chain; its own pointer-map entry is set with its owner's number.
  func write(_ bytes: UnsafeRawBufferPointer) throws -> UInt32 {
    let perPage = writer.geometry.usableSize - 4
    let first = try writer.allocate()
    var current = first
    var position = 0
    while true {
      let count = min(perPage, bytes.count - position)
      let isLast = position + count == bytes.count
      let next = isLast ? 0 : try writer.allocate()
      buffer.base.clear(buffer.size)
      buffer.base.storeBigEndian(next, at: 0)
      (buffer.base + 4).copyMemory(from: bytes.baseAddress! + position, byteCount: count)
      try writer.write(current, buffer.base)
      if isLast { return first }
      try writer.setParent(of: next, .nextOverflow, current)
      position += count
      current = next
    }
  }
}
