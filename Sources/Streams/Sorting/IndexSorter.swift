/// Sorts the entries of one index: takes the rows of its table, gives records in the order in which SQLite keeps them.
///
/// As long as all values are NULL or integers, an entry is a word a column and one for the rowid. At the first other value the
/// entries so far become keys of bytes; both ways give the same records.
public final class IndexSorter {
  private let columns: [SortColumn]
  fileprivate let rowidColumn: Int?
  private let isUnique: Bool
  /// What turns the words of a column around: all ones for a descending one.
  private let masks: [UInt64]
  private var integers: IntegerSorter?
  private let makeKeys: () -> ExternalSorter
  private var keys: ExternalSorter?
  private var places: [Int?] = []
  private var key: [UInt8] = []

  /// Prepares for the entries of an index. `path` is its scratch file, made only when needed.
  public init(
    columns: [SortColumn], rowidColumn: Int?, isUnique: Bool, memory: SortMemory, path: String, fileSystem: any FileSystem
  ) {
    (self.columns, self.rowidColumn, self.isUnique) = (columns, rowidColumn, isUnique)
    masks = columns.map { $0.isDescending ? .max : 0 }
    // Longer ones are refused as keys of bytes.
    if columns.count <= SortKey.largestColumnCount {
      integers = IntegerSorter(width: columns.count + 1, memory: memory, path: path, fileSystem: fileSystem)
    }
    makeKeys = { ExternalSorter(memory: memory, path: path, fileSystem: fileSystem) }
  }

  /// Columns whose values are in the record.
  fileprivate var stored: [Int] { columns.map(\.column).filter { $0 != rowidColumn } }

  fileprivate func find(in row: IntegerColumns) { places = columns.map { $0.column == rowidColumn ? nil : row.place(of: $0.column) } }

  /// Adds an entry of integers; false when the row has other values, or had before.
  @inline(__always)
  fileprivate func add(rowid: Int64, _ row: IntegerColumns) throws -> Bool {
    guard let integers else { return false }
    for place in places { if let place, row.isOther[place] { return false } }
    if rowid == .min { return false }
    let entry = try integers.nextEntry()
    for index in 0..<places.count {
      let word = places[index].map { row.words[$0] } ?? IntegerColumns.word(rowid)
      entry[index] = word ^ masks[index]
    }
    entry[places.count] = IntegerColumns.word(rowid)
    integers.finishEntry()
    return true
  }

  /// Adds an entry of any values; false when the row cannot be a key.
  fileprivate func add(rowid: Int64, _ row: RecordDecoder) throws -> Bool {
    let keys = try keys ?? turnIntoKeys()
    key.removeAll(keepingCapacity: true)
    guard SortKey.encode(columns: columns, of: row, rowidColumn: rowidColumn, rowid: rowid, to: &key) else { return false }
    try key.withUnsafeBytes { try keys.add($0) }
    return true
  }

  private func turnIntoKeys() throws -> ExternalSorter {
    let made = makeKeys()
    let (row, record) = (RecordDecoder(), IntegerRecord(masks))
    let moved = columns.enumerated().map { SortColumn($0, isDescending: $1.isDescending, collation: $1.collation) }
    try integers?.drain { entry in
      key.removeAll(keepingCapacity: true)
      guard row.decode(record.write(entry)),
        SortKey.encode(columns: moved, of: row, rowidColumn: nil, rowid: record.rowid(entry), to: &key)
      else { throw Self.damaged }
      try key.withUnsafeBytes { try made.add($0) }
    }
    (integers, keys) = (nil, made)
    return made
  }

  private static var damaged: StreamsError {
    StreamsError(.inputOutput, "a scratch file does not hold what was written to it")
  }

  /// Calls `body` with every record in order, then forgets all of them.
  ///
  /// Of a unique index, `onEqual` is called with the rowids of two entries with equal values, none of them NULL.
  public func drain(
    onEqual: (Int64, Int64) throws -> Void, _ body: (UnsafeRawBufferPointer) throws -> Void
  ) throws {
    if let keys { try drain(keys, onEqual, body) } else { try integers.map { try drain($0, onEqual, body) } }
  }

  private func drain(
    _ integers: IntegerSorter, _ onEqual: (Int64, Int64) throws -> Void, _ body: (UnsafeRawBufferPointer) throws -> Void
  ) throws {
    let record = IntegerRecord(masks)
    var previous = [UInt64](repeating: 0, count: isUnique ? masks.count + 1 : 0)
    var isFirst = true
    try integers.drain { entry in
      if isUnique {
        if !isFirst, record.isSame(entry, previous) { try onEqual(record.rowid(previous), record.rowid(entry)) }
        for index in previous.indices { previous[index] = entry[index] }
        isFirst = false
      }
      try body(record.write(entry))
    }
  }

  private func drain(
    _ keys: ExternalSorter, _ onEqual: (Int64, Int64) throws -> Void, _ body: (UnsafeRawBufferPointer) throws -> Void
  ) throws {
    let encoder = RecordEncoder()
    var (previous, record): ([UInt8], [UInt8]) = ([], [])
    try keys.drain { key in
      if isUnique {
        try previous.withUnsafeBytes {
          // NULL differs from NULL in a unique index.
          guard SortKey.isSameValue($0, key, columns: columns), !SortKey.hasNull(key, columns: columns) else { return }
          try onEqual(SortKey.rowid($0, columns: columns), SortKey.rowid(key, columns: columns))
        }
        previous.replaceSubrange(0..<previous.count, with: key)
      }
      guard SortKey.decode(key, columns: columns, into: encoder) else {
        throw Self.damaged
      }
      if record.count < encoder.length { record = [UInt8](repeating: 0, count: encoder.length * 2) }
      try record.withUnsafeMutableBytes { bytes in
        guard let base = bytes.baseAddress else { return }
        encoder.write(to: base)
        try body(UnsafeRawBufferPointer(rebasing: bytes[0..<encoder.length]))
      }
    }
  }
}

/// Gives every row of one table to the sorters of the table's indexes.
public final class TableKeys {
  private let sorters: [IndexSorter]
  private let integers: IntegerColumns
  private let row = RecordDecoder()

  /// Prepares for the indexes of one table.
  public init(_ sorters: [IndexSorter]) {
    self.sorters = sorters
    integers = IntegerColumns(Set(sorters.flatMap(\.stored)).sorted())
    for sorter in sorters { sorter.find(in: integers) }
  }

  /// Adds a row's entries; false when its record is damaged. Scratch files may be written.
  public func add(rowid: Int64, record: UnsafeRawBufferPointer) throws -> Bool {
    guard integers.read(record) else { return false }
    var isDecoded = false
    for sorter in sorters where try !sorter.add(rowid: rowid, integers) {
      if !isDecoded { guard row.decode(record) else { return false } }
      isDecoded = true
      guard try sorter.add(rowid: rowid, row) else { return false }
    }
    return true
  }
}

/// Turns words into index records: the values of the columns, then the rowid.
final class IntegerRecord {
  private let masks: UnsafeMutablePointer<UInt64>
  private let count: Int
  private let buffer: UnsafeMutableRawPointer

  init(_ masks: [UInt64]) {
    count = masks.count
    self.masks = .allocate(capacity: count + 1)
    for (index, mask) in masks.enumerated() { self.masks[index] = mask }
    // The rowid comes last and ascends.
    self.masks[count] = 0
    buffer = .allocate(byteCount: 2 + 9 * (count + 1) + 8, alignment: 8)
  }

  deinit {
    masks.deallocate()
    buffer.deallocate()
  }

  func rowid(_ entry: UnsafePointer<UInt64>) -> Int64 { IntegerColumns.value(entry[count]) }

  /// Have two entries the same values, none of them NULL?
  func isSame(_ left: UnsafePointer<UInt64>, _ right: UnsafePointer<UInt64>) -> Bool {
    for index in 0..<count where left[index] != right[index] || left[index] ^ masks[index] == IntegerColumns.null { return false }
    return true
  }

  /// The record of an entry, valid until the next call.
  @inline(__always)
  func write(_ entry: UnsafePointer<UInt64>) -> UnsafeRawBufferPointer {
    // A key has 32 columns at most, so the header's length takes one byte.
    buffer.storeBytes(of: UInt8(truncatingIfNeeded: count + 2), as: UInt8.self)
    var body = buffer + count + 2
    for index in 0...count {
      let word = entry[index] ^ masks[index]
      guard word != IntegerColumns.null else {
        buffer.storeBytes(of: UInt8(0), toByteOffset: index + 1, as: UInt8.self)
        continue
      }
      let value = IntegerColumns.value(word)
      let type = SerialType.integer(value)
      buffer.storeBytes(of: UInt8(truncatingIfNeeded: type), toByteOffset: index + 1, as: UInt8.self)
      let length = type > 6 ? 0 : type == 6 ? 8 : type == 5 ? 6 : Int(type)
      // All eight bytes are written; those that the value does not need are overwritten by what follows.
      if length > 0 { body.storeBytes(of: UInt64(bitPattern: value << Int64(64 - 8 * length)).bigEndian, as: UInt64.self) }
      body += length
    }
    return UnsafeRawBufferPointer(start: buffer, count: body - buffer)
  }
}
