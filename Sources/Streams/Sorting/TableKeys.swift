/// Gives the rows of one table to the sorters of the table's indexes, some hundred at a time.
public final class TableKeys {
  private let sorters: [IndexSorter]
  private let columns: NumberColumns
  private let batch: RowBatch
  /// Reads the long values that records refer to; without it, they make no keys.
  @exclusivity(unchecked) public var longValues: LongValueReader?

  /// Prepares for the indexes of one table.
  public init(_ sorters: [IndexSorter]) {
    self.sorters = sorters
    columns = NumberColumns(Set(sorters.flatMap(\.stored)).sorted(), reals: Set(sorters.flatMap(\.storedReals)))
    batch = RowBatch(width: columns.count)
    for sorter in sorters { sorter.find(in: columns) }
  }

  /// Adds a row, whose record stays where it is until ``flush()``; false when it is damaged. Scratch files may be
  /// written.
  ///
  /// - Throws: ``StreamsError``.
  public func add(rowid: Int64, record: UnsafeRawBufferPointer) throws -> Bool {
    if batch.count == RowBatch.capacity, try flush() != nil { return false }
    let start = batch.count * batch.width
    guard columns.read(record, into: batch.words + start, values: batch.values + start) else { return false }
    batch.append(rowid, record)
    return true
  }

  /// Makes entries of the rows that were added. Returns the rowid of one that cannot be a key.
  ///
  /// - Throws: ``StreamsError``: ``LongKey`` for one with a value that may not be read whole.
  public func flush() throws -> Int64? {
    defer { batch.removeAll() }
    for sorter in sorters {
      let row = try sorter.add(batch, longValues)
      if row < batch.count { return batch.rowids[row] }
    }
    return nil
  }

  /// Forgets all rows, and gives their memory back. None can be added afterwards.
  public func removeAll() {
    batch.removeAll()
    for sorter in sorters { sorter.removeAll() }
  }
}

/// A row has a value that is too long for an index key.
public struct LongKey: Error {
  /// The row.
  public var rowid: Int64
  /// What was too long: `tooLarge`.
  public var cause: StreamsError
}

/// Some rows of one table, with the words and values of the columns that its indexes need.
final class RowBatch {
  static let capacity = 128

  /// Words of a row.
  let width: Int
  let words: UnsafeMutablePointer<UInt64>
  let values: UnsafeMutablePointer<KeyValue>
  let rowids: UnsafeMutablePointer<Int64>
  let records: UnsafeMutablePointer<UnsafeRawBufferPointer>
  @exclusivity(unchecked) private(set) var count = 0

  init(width: Int) {
    self.width = width
    words = .allocate(capacity: Self.capacity * max(1, width))
    values = .allocate(capacity: Self.capacity * max(1, width))
    rowids = .allocate(capacity: Self.capacity)
    records = .allocate(capacity: Self.capacity)
  }

  deinit {
    words.deallocate()
    values.deallocate()
    rowids.deallocate()
    records.deallocate()
  }

  @inline(__always)
  func append(_ rowid: Int64, _ record: UnsafeRawBufferPointer) {
    (rowids[count], records[count]) = (rowid, record)
    count += 1
  }

  func removeAll() { count = 0 }
}
