/// Reads the keys of one sorted run: each four bytes of length in the machine's order, then the key.
final class RunReader {
  private let file: any File
  @exclusivity(unchecked) private var position: UInt64
  private let end: UInt64
  @exclusivity(unchecked) private var buffer: [UInt8]
  @exclusivity(unchecked) private var start = 0
  @exclusivity(unchecked) private var filled = 0
  @exclusivity(unchecked) private var length = 0

  init(file: any File, start: UInt64, end: UInt64, bufferBytes: Int) {
    self.file = file
    position = start
    self.end = end
    buffer = [UInt8](repeating: 0, count: bufferBytes)
  }

  /// Moves to the next key; false at the end of the run.
  func advance() throws -> Bool {
    start += length
    guard try ensure(4) else { return false }
    length = buffer.withUnsafeBytes { Int($0.loadUnaligned(fromByteOffset: start, as: UInt32.self)) }
    start += 4
    guard try ensure(length) else {
      throw StreamsError(.inputOutput, "a sorted run ends within a key", path: file.path)
    }
    return true
  }

  private func ensure(_ count: Int) throws -> Bool {
    if filled - start >= count { return true }
    if count > buffer.count { buffer.append(contentsOf: repeatElement(0, count: count - buffer.count)) }
    buffer.withUnsafeMutableBytes { bytes in
      let rest = filled - start
      if rest > 0 { bytes.baseAddress!.copyMemory(from: bytes.baseAddress! + start, byteCount: rest) }
    }
    (filled, start) = (filled - start, 0)
    let want = min(buffer.count - filled, Int(end - position))
    if want > 0 {
      let read = try buffer.withUnsafeMutableBytes {
        try file.read(into: UnsafeMutableRawBufferPointer(rebasing: $0[filled..<filled + want]), at: position)
      }
      position += UInt64(read)
      filled += read
    }
    return filled >= count
  }

  /// The key moved to last; valid until the next ``advance()``.
  func withKey<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
    try buffer.withUnsafeBytes { try body(UnsafeRawBufferPointer(rebasing: $0[start..<start + length])) }
  }
}

/// Merges sorted runs by a binary heap of their readers.
struct MergeHeap {
  private var heap: [RunReader]

  init(_ readers: [RunReader]) { heap = readers }

  /// Calls `body` with every key of all runs in order.
  mutating func drain(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {
    heap = try heap.filter { try $0.advance() }
    for index in stride(from: heap.count / 2 - 1, through: 0, by: -1) { sift(index) }
    while let top = heap.first {
      try top.withKey(body)
      if try !top.advance() {
        heap.swapAt(0, heap.count - 1)
        heap.removeLast()
      }
      if !heap.isEmpty { sift(0) }
    }
  }

  private func precedes(_ left: Int, _ right: Int) -> Bool {
    heap[left].withKey { leftKey in heap[right].withKey { compareKeys(leftKey, $0) < 0 } }
  }

  private mutating func sift(_ start: Int) {
    var parent = start
    while true {
      var least = parent
      let first = 2 * parent + 1
      if first < heap.count, precedes(first, least) { least = first }
      if first + 1 < heap.count, precedes(first + 1, least) { least = first + 1 }
      if least == parent { return }
      heap.swapAt(parent, least)
      parent = least
    }
  }
}
