/// Index records in order, each after its length, as cells of an index leaf begin: what a sorter hands to an
/// ``IndexBuilder`` in one piece. Reused.
public final class IndexCells: @unchecked Sendable {
  // Sendable by discipline: one thread hands it to the next and never shares it.
  /// Bytes of a piece.
  public static let usualCapacity = 1 << 16
  private static let largestHead = 16

  @exclusivity(unchecked) private var memory: UnsafeMutableRawPointer
  @exclusivity(unchecked) private var capacity: Int
  @exclusivity(unchecked) private var used = 0

  /// Makes an empty piece of 64 KiB.
  public init() {
    capacity = Self.usualCapacity
    memory = .allocate(byteCount: capacity, alignment: 16)
  }

  deinit { memory.deallocate() }

  /// Whether one more record of usual size would be too much.
  @inline(__always)
  var isFull: Bool { used > Self.usualCapacity - 1024 }

  /// Bytes of the records with their lengths.
  public var byteCount: Int { used }

  /// Records with their lengths.
  var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: memory, count: used) }

  /// Room for `length` bytes, of which ``finish(_:)`` says how many were written.
  @inline(__always)
  func room(_ length: Int) -> UnsafeMutableRawPointer {
    if used + length > capacity { grow(to: used + length) }
    return memory + used
  }

  private func grow(to needed: Int) {
    capacity = max(capacity * 2, needed)
    memory.grow(used, to: capacity)
  }

  @inline(__always)
  func finish(_ length: Int) { used += length }

  /// Appends a record of `length` bytes, which `write` puts in its place.
  func append(length: Int, _ write: (UnsafeMutableRawPointer) -> Void) {
    let target = room(length + Self.largestHead)
    let head = Varint.write(UInt64(length), to: target)
    write(target + head)
    used += head + length
  }

  /// Forgets all records; memory beyond a usual piece's is given back.
  public func reset() {
    used = 0
    guard capacity > Self.usualCapacity else { return }
    memory.deallocate()
    capacity = Self.usualCapacity
    memory = .allocate(byteCount: capacity, alignment: 16)
  }
}
