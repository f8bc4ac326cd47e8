/// Finished records on their way to the builders of several tables, in the order in which they were made.
///
/// The order is what the file's page numbers depend on; how records are cut into pages of rows does not matter (I8).
public final class RecordPage: @unchecked Sendable {
  // Sendable by discipline: the pipeline hands a page from one thread to the next and never shares it.
  @exclusivity(unchecked) private var memory: UnsafeMutableRawPointer
  @exclusivity(unchecked) private var capacity: Int
  @exclusivity(unchecked) private var used = 0
  @exclusivity(unchecked) private var records = 0
  /// Bytes of all records with their heads.
  public var byteCount: Int { used }
  /// Records in the page.
  public var count: Int { records }

  private static let headLength = 16
  private static let usualCapacity = 256 * 1024

  /// Makes an empty page.
  public init() {
    capacity = Self.usualCapacity
    memory = .allocate(byteCount: capacity, alignment: 16)
  }

  deinit { memory.deallocate() }

  /// Appends the encoder's record for a table.
  public func append(table: Int, rowid: Int64, _ encoder: RecordEncoder) {
    let length = encoder.length
    encoder.write(to: room(table: table, rowid: rowid, length: length))
  }

  /// Appends a record's bytes for a table.
  public func append(table: Int, rowid: Int64, record: UnsafeRawBufferPointer) {
    let target = room(table: table, rowid: rowid, length: record.count)
    if let base = record.baseAddress { target.copyMemory(from: base, byteCount: record.count) }
  }

  /// Makes room for a record of `length` bytes, which the caller fills.
  func room(table: Int, rowid: Int64, length: Int) -> UnsafeMutableRawPointer {
    let needed = used + Self.headLength + length
    if needed > capacity {
      capacity = max(capacity * 2, needed)
      memory.grow(used, to: capacity)
    }
    let head = memory + used
    head.storeBytes(of: UInt32(table), as: UInt32.self)
    head.storeBytes(of: UInt32(length), toByteOffset: 4, as: UInt32.self)
    head.storeBytes(of: rowid, toByteOffset: 8, as: Int64.self)
    used = needed
    records += 1
    return head + Self.headLength
  }

  /// The place after the last record.
  public struct Mark {
    fileprivate let (used, records): (Int, Int)
  }

  /// The place after the last record.
  public var mark: Mark { Mark(used: used, records: records) }

  /// Forgets the records after a place.
  public func forget(behind mark: Mark) { (used, records) = (mark.used, mark.records) }

  /// Calls `body` with each record in order: table, rowid, bytes.
  public func forEach(_ body: (Int, Int64, UnsafeRawBufferPointer) throws -> Void) rethrows {
    var offset = 0
    while offset < used {
      let head = memory + offset
      let length = Int(head.loadUnaligned(fromByteOffset: 4, as: UInt32.self))
      try body(
        Int(head.loadUnaligned(as: UInt32.self)), head.loadUnaligned(fromByteOffset: 8, as: Int64.self),
        UnsafeRawBufferPointer(start: head + Self.headLength, count: length))
      offset += Self.headLength + length
    }
  }

  /// Puts the records into a page of rows, which is emptied first; they are of one table, in rowid order, and no more
  /// than a page takes.
  public func copy(to page: RowPage) {
    page.reset()
    forEach { _, rowid, record in page.append(rowid, record) }
  }

  /// Exchanges all records with another page's.
  public func exchange(with other: RecordPage) {
    swap(&memory, &other.memory)
    swap(&capacity, &other.capacity)
    swap(&used, &other.used)
    swap(&records, &other.records)
  }

  /// Forgets all records; memory beyond a usual page's is given back.
  public func reset() {
    used = 0
    records = 0
    if capacity > 4 * Self.usualCapacity {
      memory.deallocate()
      capacity = Self.usualCapacity
      memory = .allocate(byteCount: capacity, alignment: 16)
    }
  }
}
