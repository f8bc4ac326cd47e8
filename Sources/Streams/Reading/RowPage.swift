/// A page of rows: some consecutive rows of a table in rowid order, payloads in one piece of memory. Reused.
public final class RowPage: @unchecked Sendable {
  // Sendable by discipline: the pipeline hands a page from one thread to the next and never shares it.

  /// Rowids, ascending.
  public private(set) var rowids: [Int64] = []
  private var ends: [Int] = []
  private var memory: UnsafeMutableRawPointer
  private var capacity: Int

  /// Rows after which a page is handed on.
  static let targetRows = 1024
  /// Bytes after which a page is handed on.
  static let targetBytes = 128 * 1024

  /// Makes an empty page.
  public init() {
    capacity = Self.targetBytes + 65536
    memory = .allocate(byteCount: capacity, alignment: 16)
    rowids.reserveCapacity(Self.targetRows)
    ends.reserveCapacity(Self.targetRows)
  }

  deinit { memory.deallocate() }

  /// Rows in the page.
  public var count: Int { rowids.count }
  /// Bytes of all payloads.
  public var byteCount: Int { ends.last ?? 0 }
  /// Has the page enough rows to be handed on?
  var isFull: Bool { rowids.count >= Self.targetRows || byteCount >= Self.targetBytes }

  /// The record of a row.
  public func record(_ row: Int) -> UnsafeRawBufferPointer {
    let start = row == 0 ? 0 : ends[row - 1]
    return UnsafeRawBufferPointer(start: memory + start, count: ends[row] - start)
  }

  /// Forgets all rows; memory beyond a usual page's is given back.
  func reset() {
    rowids.removeAll(keepingCapacity: true)
    ends.removeAll(keepingCapacity: true)
    if capacity > 4 * Self.targetBytes {
      memory.deallocate()
      capacity = Self.targetBytes + 65536
      memory = .allocate(byteCount: capacity, alignment: 16)
    }
  }

  /// Makes room for a payload and returns where it goes; ``finishRow(_:length:)`` adds it.
  func room(_ length: Int) -> UnsafeMutableRawPointer {
    let used = byteCount
    if used + length > capacity {
      let larger = max(capacity * 2, used + length)
      let moved = UnsafeMutableRawPointer.allocate(byteCount: larger, alignment: 16)
      moved.copyMemory(from: memory, byteCount: used)
      memory.deallocate()
      (memory, capacity) = (moved, larger)
    }
    return memory + used
  }

  func finishRow(_ rowid: Int64, length: Int) {
    let used = byteCount
    rowids.append(rowid)
    ends.append(used + length)
  }
}
