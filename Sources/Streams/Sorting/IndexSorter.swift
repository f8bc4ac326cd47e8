/// Sorts the entries of one index: takes the rows of its table, gives records in the order in which SQLite keeps them.
///
/// As long as all values are NULL or numbers, an entry is a word a column and one for the rowid. At the first other
/// value the entries so far become keys of bytes; both ways give the same records.
public final class IndexSorter {
  private let columns: [SortColumn]
  private let rowidColumn: Int?
  private let isUnique: Bool
  /// What turns the words of a column around: all ones for a descending one.
  private let masks: [UInt64]
  private var numbers: WordSorter?
  private let makeKeys: () -> ExternalSorter
  private var keys: ExternalSorter?
  /// Where the words of the columns are in a batch's row; -1 for the rowid.
  private var places: [Int] = []
  /// Which columns have words of reals.
  private var reals: [Bool] = []
  /// The values of a row that is made a key.
  private let values: UnsafeMutableBufferPointer<KeyValue>
  /// Bytes of a key that is made in the sorter's own memory.
  private static let usualKey = 1 << 12

  /// Prepares for the entries of an index. `path` is its scratch file, made only when needed.
  public init(
    columns: [SortColumn], rowidColumn: Int?, isUnique: Bool, memory: SortMemory, path: String,
    fileSystem: any FileSystem
  ) {
    (self.columns, self.rowidColumn, self.isUnique) = (columns, rowidColumn, isUnique)
    masks = columns.map { $0.isDescending ? .max : 0 }
    // Longer ones are refused as keys of bytes.
    if columns.count <= SortKey.largestColumnCount {
      numbers = WordSorter(width: columns.count + 1, memory: memory, path: path, fileSystem: fileSystem)
    }
    makeKeys = { ExternalSorter(memory: memory, path: path, fileSystem: fileSystem) }
    values = .allocate(capacity: columns.count)
  }

  deinit { values.deallocate() }

  /// Columns whose values are in the record.
  var stored: [Int] { columns.map(\.column).filter { $0 != rowidColumn } }

  /// Columns whose words are to be those of reals.
  var storedReals: [Int] { columns.lazy.filter { $0.holds == .reals }.map(\.column).filter { $0 != rowidColumn } }

  func find(in row: NumberColumns) {
    places = columns.map { $0.column == rowidColumn ? -1 : row.place(of: $0.column) ?? -1 }
    reals = places.map { $0 >= 0 && row.holdsReals($0) }
  }

  /// Adds entries for the rows of a batch; returns the first row that cannot be a key, or how many rows there are. Long
  /// values are read through `longValues`.
  ///
  /// - Throws: ``LongKey`` for a value beyond the reader's limit, or a key beyond the memory's.
  func add(_ batch: RowBatch, _ longValues: LongValueReader?) throws -> Int {
    let first = try addNumbers(batch)
    guard first < batch.count else { return first }
    let keys = try keys ?? turnIntoKeys()
    for row in first..<batch.count {
      do {
        guard try add(row, of: batch, to: keys, longValues) else { return row }
      } catch let error as StreamsError where error.code == .tooLarge {
        throw LongKey(rowid: batch.rowids[row], cause: error)
      }
    }
    return batch.count
  }

  /// Adds entries of numbers; returns how many rows have them, which is all of them unless one has other values, or a
  /// batch before had.
  private func addNumbers(_ batch: RowBatch) throws -> Int {
    guard let numbers else { return 0 }
    var first = 0
    while first < batch.count {
      let room = try numbers.nextEntries(batch.count - first)
      guard let base = room.baseAddress else { return first }
      let count = fill(base, from: batch, first, count: room.count / (places.count + 1))
      numbers.finish(count)
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
          let (words, values) = (batch.words + row * batch.width, batch.values + row * batch.width)
          let rowid = NumberColumns.word(batch.rowids[row])
          if rowid == NumberColumns.null { return row - first }
          for index in 0..<places.count {
            let place = places[index]
            let word = place < 0 ? rowid : words[place]
            if word == NumberColumns.null, values[place].type != SerialType.null { return row - first }
            entry[index] = word ^ masks[index]
          }
          entry[places.count] = rowid
          entry += places.count + 1
        }
        return count
      }
    }
  }

  /// Adds an entry of any values; false when the row cannot be a key.
  private func add(_ row: Int, of batch: RowBatch, to keys: ExternalSorter, _ longValues: LongValueReader?) throws
    -> Bool
  {
    let found = batch.values + row * batch.width
    for index in places.indices { values[index] = places[index] < 0 ? .rowid : found[places[index]] }
    guard let most = SortKey.largestLength(UnsafeBufferPointer(values), columns), most <= Self.usualKey else {
      return try addLong(batch.records[row], rowid: batch.rowids[row], to: keys, longValues)
    }
    let target = try keys.room(most)
    keys.finish(SortKey.encode(UnsafeBufferPointer(values), columns, rowid: batch.rowids[row], to: target))
    return true
  }

  /// Adds a long key, whose values may lie elsewhere.
  private func addLong(
    _ record: UnsafeRawBufferPointer, rowid: Int64, to keys: ExternalSorter, _ longValues: LongValueReader?
  ) throws -> Bool {
    let row = RecordDecoder()
    var key: [UInt8] = []
    guard row.decode(record),
      try SortKey.encode(
        columns: columns, of: row, rowidColumn: rowidColumn, rowid: rowid, longValues: longValues, to: &key)
    else { return false }
    try key.withUnsafeBytes { try keys.add($0) }
    return true
  }

  private func turnIntoKeys() throws -> ExternalSorter {
    let made = makeKeys()
    let (row, record) = (RecordDecoder(), NumberRecord(masks, holdsReals: reals))
    var key: [UInt8] = []
    let moved = columns.enumerated().map { SortColumn($0, isDescending: $1.isDescending, collation: $1.collation) }
    // The keys need memory too, and may take it from the sorter that has most: this one must have none while it is
    // read.
    try numbers?.spill()
    try numbers?.drain { entry in
      try record.withRecord(entry) { bytes in
        key.removeAll(keepingCapacity: true)
        guard row.decode(bytes),
          SortKey.encode(columns: moved, of: row, rowidColumn: nil, rowid: record.rowid(entry), to: &key)
        else { throw Self.damaged }
        try key.withUnsafeBytes { try made.add($0) }
      }
    }
    (numbers, keys) = (nil, made)
    return made
  }

  private static var damaged: StreamsError { .damagedScratch() }

  /// Forgets all entries, and gives their memory back.
  func removeAll() { (numbers, keys) = (nil, nil) }

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
    return try numbers.map { try drain($0, first: cells, onEqual: onEqual, onFull: onFull) } ?? cells
  }

  private func drain(
    _ numbers: WordSorter, first: IndexCells, onEqual: (Int64, Int64) throws -> Void,
    onFull: (IndexCells) throws -> IndexCells
  ) throws -> IndexCells {
    let (record, width, isUnique) = (NumberRecord(masks, holdsReals: reals), masks.count + 1, isUnique)
    let previous = UnsafeMutablePointer<UInt64>.allocate(capacity: width)
    defer { previous.deallocate() }
    // NULL throughout, which equals nothing.
    for index in 0..<width { previous[index] = index < masks.count ? masks[index] : 0 }
    var cells = first
    // Not counted for every entry: `cells` holds it.
    var open = Unmanaged.passUnretained(first)
    try numbers.drain { entry in
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
    let (record, equals) = (KeyRecord(columns), isUnique ? EqualKeys(columns) : nil)
    var cells = first
    // Not counted for every entry: `cells` holds it.
    var open = Unmanaged.passUnretained(first)
    try keys.drain { key in
      if let (before, rowid) = equals?.next(key) { try onEqual(before, rowid) }
      let isFull = try open._withUnsafeGuaranteedRef { cells in
        guard record.append(key, to: cells) else { throw Self.damaged }
        return cells.isFull
      }
      if isFull {
        cells = try onFull(cells)
        open = .passUnretained(cells)
      }
    }
    return cells
  }
}
