/// A page of rows: some consecutive rows of a table in rowid order, payloads in one piece of memory. Reused.
public final class RowPage: @unchecked Sendable {
  // Sendable by discipline: the pipeline hands a page from one thread to the next and never shares it.

  private struct Row {
    var rowid: Int64
    var end: Int
  }

  @exclusivity(unchecked) private var rows: UnsafeMutablePointer<Row>
  @exclusivity(unchecked) private var rowCount = 0
  private var rowCapacity: Int
  /// Bytes of the rows' long values, which are not in the page.
  @exclusivity(unchecked) public private(set) var outsideBytes = 0
  @exclusivity(unchecked) private var memory: UnsafeMutableRawPointer
  private var capacity: Int

  /// Rows after which a page is handed on.
  static let targetRows = 2048
  /// Bytes after which a page is handed on.
  static let targetBytes = 192 * 1024
  /// Bytes of long values after which a page is handed on: checkpoints are made between pages.
  static let targetOutsideBytes = 1 << 20

  /// Makes an empty page.
  public init() {
    capacity = Self.targetBytes + 65536
    memory = .allocate(byteCount: capacity, alignment: 16)
    rowCapacity = Self.targetRows
    rows = .allocate(capacity: rowCapacity)
  }

  deinit {
    memory.deallocate()
    rows.deallocate()
  }

  /// Rows in the page.
  public var count: Int { rowCount }
  /// Bytes of all payloads.
  public var byteCount: Int { rowCount == 0 ? 0 : rows[rowCount - 1].end }
  /// Whether the page has enough rows to be handed on.
  var isFull: Bool {
    rowCount >= Self.targetRows || byteCount >= Self.targetBytes || outsideBytes >= Self.targetOutsideBytes
  }

  /// The rowid of a row; rowids ascend.
  public func rowid(_ row: Int) -> Int64 {
    precondition(row >= 0 && row < rowCount)
    return rows[row].rowid
  }

  /// The record of a row.
  public func record(_ row: Int) -> UnsafeRawBufferPointer {
    precondition(row >= 0 && row < rowCount)
    let start = row == 0 ? 0 : rows[row - 1].end
    return UnsafeRawBufferPointer(start: memory + start, count: rows[row].end - start)
  }

  /// Forgets all rows; memory beyond a usual page's is given back.
  func reset() {
    (rowCount, outsideBytes) = (0, 0)
    if capacity > 2 * Self.targetBytes {
      memory.deallocate()
      capacity = Self.targetBytes + 65536
      memory = .allocate(byteCount: capacity, alignment: 16)
    }
  }

  /// Forgets the rows after the first `count` ones.
  public func keep(_ count: Int) { rowCount = min(rowCount, max(0, count)) }

  /// Makes room for a payload and returns where it goes; ``finishRow(_:length:outside:)`` adds it.
  func room(_ length: Int) -> UnsafeMutableRawPointer {
    let used = byteCount
    if used + length > capacity {
      capacity = max(capacity * 2, used + length)
      memory.grow(used, to: capacity)
    }
    return memory + used
  }

  /// Makes a row the only one of the page.
  public func take(_ rowid: Int64, _ record: UnsafeRawBufferPointer) {
    reset()
    append(rowid, record)
  }

  /// Adds a copy of a row.
  func append(_ rowid: Int64, _ record: UnsafeRawBufferPointer) {
    let target = room(record.count)
    if let base = record.baseAddress { target.copyMemory(from: base, byteCount: record.count) }
    finishRow(rowid, length: record.count)
  }

  /// Exchanges all rows with another page's.
  func exchange(with other: RowPage) {
    swap(&rows, &other.rows)
    swap(&rowCount, &other.rowCount)
    swap(&rowCapacity, &other.rowCapacity)
    swap(&outsideBytes, &other.outsideBytes)
    swap(&memory, &other.memory)
    swap(&capacity, &other.capacity)
  }

  /// Adds a row; `outside` counts the bytes of its long values.
  func finishRow(_ rowid: Int64, length: Int, outside: Int = 0) {
    // A page is handed on when it has its rows, so there is always room for one more.
    precondition(rowCount < rowCapacity)
    rows[rowCount] = Row(rowid: rowid, end: byteCount + length)
    rowCount += 1
    outsideBytes += outside
  }
}
