/// Sorts the entries of one index: takes the rows of its table, gives records in the order in which SQLite keeps them.
///
/// As long as all values are NULL or integers, an entry is a word a column and one for the rowid. At the first other
/// value the entries so far become keys of bytes; both ways give the same records.
public final class IndexSorter {
  private let columns: [SortColumn]
  private let rowidColumn: Int?
  private let isUnique: Bool
  /// What turns the words of a column around: all ones for a descending one.
  private let masks: [UInt64]
  private var integers: IntegerSorter?
  private let makeKeys: () -> ExternalSorter
  private var keys: ExternalSorter?
  /// Where the words of the columns are in a batch's row; -1 for the rowid.
  private var places: [Int] = []
  private var key: [UInt8] = []

  /// Prepares for the entries of an index. `path` is its scratch file, made only when needed.
  public init(
    columns: [SortColumn], rowidColumn: Int?, isUnique: Bool, memory: SortMemory, path: String,
    fileSystem: any FileSystem
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
  var stored: [Int] { columns.map(\.column).filter { $0 != rowidColumn } }

  func find(in row: IntegerColumns) {
    places = columns.map { $0.column == rowidColumn ? -1 : row.place(of: $0.column) ?? -1 }
  }

  /// Adds entries of integers for the rows of a batch; returns how many, which is all of them unless one has other
  /// values, or a batch before had.
  func add(_ batch: RowBatch) throws -> Int {
    guard let integers else { return 0 }
    var first = 0
    while first < batch.count {
      let room = try integers.nextEntries(batch.count - first)
      guard let base = room.baseAddress else { return first }
      let count = fill(base, from: batch, first, count: room.count / (places.count + 1))
      integers.finish(count)
      first += count
      if count * (places.count + 1) < room.count { return first }
    }
    return first
  }

  /// Fills in up to `count` entries; returns how many before the first row with other values.
  private func fill(_ entries: UnsafeMutablePointer<UInt64>, from batch: RowBatch, _ first: Int, count: Int) -> Int {
    places.withUnsafeBufferPointer { places in
      masks.withUnsafeBufferPointer { masks in
        var entry = entries
        for row in first..<(first + count) {
          let (words, isOther) = (batch.words + row * batch.width, batch.isOther + row * batch.width)
          let rowid = IntegerColumns.word(batch.rowids[row])
          if rowid == IntegerColumns.null { return row - first }
          for index in 0..<places.count {
            let place = places[index]
            if place >= 0, isOther[place] { return row - first }
            entry[index] = (place < 0 ? rowid : words[place]) ^ masks[index]
          }
          entry[places.count] = rowid
          entry += places.count + 1
        }
        return count
      }
    }
  }

  /// Adds an entry of any values; false when the row cannot be a key. Throws `tooLarge` for a long value beyond the
  /// reader's limit.
  func add(rowid: Int64, _ row: RecordDecoder, _ longValues: LongValueReader?) throws -> Bool {
    let keys = try keys ?? turnIntoKeys()
    key.removeAll(keepingCapacity: true)
    guard
      try SortKey.encode(
        columns: columns, of: row, rowidColumn: rowidColumn, rowid: rowid, longValues: longValues, to: &key)
    else { return false }
    try key.withUnsafeBytes { try keys.add($0) }
    return true
  }

  private func turnIntoKeys() throws -> ExternalSorter {
    let made = makeKeys()
    let (row, record) = (RecordDecoder(), IntegerRecord(masks))
    let moved = columns.enumerated().map { SortColumn($0, isDescending: $1.isDescending, collation: $1.collation) }
    // The keys need memory too, and may take it from the sorter that has most: this one must have none while it is
    // read.
    try integers?.spill()
    try integers?.drain { entry in
      try record.withRecord(entry) { bytes in
        key.removeAll(keepingCapacity: true)
        guard row.decode(bytes),
          SortKey.encode(columns: moved, of: row, rowidColumn: nil, rowid: record.rowid(entry), to: &key)
        else { throw Self.damaged }
        try key.withUnsafeBytes { try made.add($0) }
      }
    }
    (integers, keys) = (nil, made)
    return made
  }

  private static var damaged: StreamsError {
    StreamsError(.inputOutput, "a scratch file does not hold what was written to it")
  }

  /// Puts all records in order into `cells`, then forgets them; returns the cells that were not handed on.
  ///
  /// `onFull` takes full cells and gives others to continue with. Of a unique index, `onEqual` is called with the
  /// rowids of two entries with equal values, none of them NULL.
  ///
  /// - Throws: ``StreamsError``.
  public func drain(
    into cells: IndexCells, onEqual: (Int64, Int64) throws -> Void, onFull: (IndexCells) throws -> IndexCells
  ) throws -> IndexCells {
    if let keys { return try drain(keys, first: cells, onEqual: onEqual, onFull: onFull) }
    return try integers.map { try drain($0, first: cells, onEqual: onEqual, onFull: onFull) } ?? cells
  }

  private func drain(
    _ integers: IntegerSorter, first: IndexCells, onEqual: (Int64, Int64) throws -> Void,
    onFull: (IndexCells) throws -> IndexCells
  ) throws -> IndexCells {
    let (record, width, isUnique) = (IntegerRecord(masks), masks.count + 1, isUnique)
    let previous = UnsafeMutablePointer<UInt64>.allocate(capacity: width)
    defer { previous.deallocate() }
    // NULL throughout, which equals nothing.
    for index in 0..<width { previous[index] = index < masks.count ? masks[index] : 0 }
    var cells = first
    // Not counted for every entry: `cells` holds it.
    var open = Unmanaged.passUnretained(first)
    try integers.drain { entry in
      if isUnique {
        if record.isSame(entry, previous) { try onEqual(record.rowid(previous), record.rowid(entry)) }
        previous.update(from: entry, count: width)
      }
      let isFull = open._withUnsafeGuaranteedRef { cells in
        record.append(entry, to: cells)
        return cells.isFull
      }
      if isFull {
        cells = try onFull(cells)
        open = .passUnretained(cells)
      }
    }
    return cells
  }

  private func drain(
    _ keys: ExternalSorter, first: IndexCells, onEqual: (Int64, Int64) throws -> Void,
    onFull: (IndexCells) throws -> IndexCells
  ) throws -> IndexCells {
    let encoder = RecordEncoder()
    var (cells, previous): (IndexCells, [UInt8]) = (first, [])
    try keys.drain { key in
      if isUnique {
        try previous.withUnsafeBytes {
          // NULL differs from NULL in a unique index.
          guard SortKey.isSameValue($0, key, columns: columns), !SortKey.hasNull(key, columns: columns) else { return }
          try onEqual(SortKey.rowid($0, columns: columns), SortKey.rowid(key, columns: columns))
        }
        previous.replaceSubrange(0..<previous.count, with: key)
      }
      guard SortKey.decode(key, columns: columns, into: encoder) else { throw Self.damaged }
      cells.append(length: encoder.length) { encoder.write(to: $0) }
      if cells.isFull { cells = try onFull(cells) }
    }
    return cells
  }
}
