/// Memory that grows, and of which parts are lent: what is written there stays until the room is emptied or ends.
public final class ByteRoom {
  @usableFromInline @exclusivity(unchecked) var base: UnsafeMutableRawPointer
  @usableFromInline @exclusivity(unchecked) var used = 0
  /// Bytes that there are.
  @exclusivity(unchecked) public private(set) var capacity: Int

  /// Bytes that are kept.
  @inlinable public var count: Int { used }

  /// Makes a room for so many bytes at first.
  public init(_ capacity: Int = 1 << 12) {
    self.capacity = max(1, capacity)
    base = .allocate(byteCount: self.capacity, alignment: 16)
  }

  deinit { base.deallocate() }

  /// Where so many more bytes may be written, of which ``add(_:)`` keeps some. What was lent before may be gone.
  @inlinable @inline(__always)
  public func room(_ length: Int) -> UnsafeMutableRawPointer {
    if used + length > capacity { grow(to: used + length) }
    return base + used
  }

  @usableFromInline
  func grow(to needed: Int) {
    capacity = max(2 * capacity, needed)
    base.grow(used, to: capacity)
  }

  /// Keeps bytes that were written.
  @inlinable public func add(_ length: Int) { used += length }

  /// Forgets all bytes.
  @inlinable public func removeAll() { used = 0 }

  /// Bytes that are kept, valid until the next change.
  @inlinable
  public func bytes(_ range: Range<Int>) -> UnsafeRawBufferPointer {
    precondition(range.lowerBound >= 0 && range.upperBound <= used)
    return UnsafeRawBufferPointer(start: base + range.lowerBound, count: range.count)
  }
}
