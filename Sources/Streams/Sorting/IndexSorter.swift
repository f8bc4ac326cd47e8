/// Sorts the entries of one index: takes the rows of its table, gives records in the order in which SQLite keeps them.
///
/// As long as all values are NULL or numbers, an entry is a word a column and one for the rowid, or a single word as far as
/// `EntryPacking` goes. At the first value that does not fit the entries so far become longer ones, at last keys of
/// bytes; all ways give the same records.
public final class IndexSorter {
  let columns: [SortColumn]
  private let rowidColumn: Int?
  let isUnique: Bool
  /// What turns the words of a column around: all ones for a descending one.
  let masks: [UInt64]
  private(set) var numbers: WordSorter?
  /// How the entries of ``numbers`` are one word each, as long as they all fit.
  private(set) var packing: EntryPacking?
  private let makeNumbers: () -> WordSorter
  private let makeKeys: () -> ExternalSorter
  private(set) var keys: ExternalSorter?
  /// Where the words of the columns are in a batch's row; -1 for the rowid.
  private var places: [Int] = []
  /// Which columns have words of reals.
  private(set) var reals: [Bool] = []
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
    makeNumbers = { WordSorter(width: columns.count + 1, memory: memory, path: path, fileSystem: fileSystem) }
    packing = EntryPacking(columns)
    if packing != nil {
      numbers = WordSorter(
        width: 1, rowidBits: EntryPacking.rowid, memory: memory, path: path, fileSystem: fileSystem)
    } else if columns.count <= SortKey.largestColumnCount {
      // Longer ones are refused as keys of bytes.
      numbers = makeNumbers()
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
    var first = 0
    while first < batch.count {
      guard let numbers else { return first }
      let room = try numbers.nextEntries(batch.count - first)
      guard let base = room.baseAddress else { return first }
      let wanted = room.count / numbers.width
      let count =
        packing.map { fill(base, from: batch, first, count: wanted, by: $0) }
        ?? fill(base, from: batch, first, count: wanted)
      numbers.finish(count)
      first += count
      if count < wanted { guard try unpack() else { return first } }
    }
    return first
  }

  /// Makes entries of all words out of those of one, as there is one that does not fit; false where they are such.
  private func unpack() throws -> Bool {
    guard let packing, let packed = numbers else { return false }
    let wide = makeNumbers()
    (numbers, self.packing) = (wide, nil)
    // The other sorter needs memory, too, and may take it from the one that has most.
    try packed.spill()
    try packed.drain { entry in
      guard let words = try wide.nextEntries(1).baseAddress else { return }
      packing.unpack(entry.pointee, into: words)
      wide.finish(1)
    }
    return true
  }

  /// Fills in up to `count` entries of one word; returns how many before the first row that does not fit.
  private func fill(
    _ entries: UnsafeMutablePointer<UInt64>, from batch: RowBatch, _ first: Int, count: Int, by packing: EntryPacking
  ) -> Int {
    let place = places[0]
    for row in first..<(first + count) {
      let rowid = batch.rowids[row]
      let word = place < 0 ? NumberColumns.word(rowid) : batch.words[row * batch.width + place]
      if word == NumberColumns.null, place < 0 || batch.values[row * batch.width + place].type != SerialType.null {
        return row - first
      }
      guard let entry = packing.pack(word, rowid: rowid) else { return row - first }
      entries[row - first] = entry
    }
    return count
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

  static var damaged: StreamsError { .damagedScratch() }

  /// Forgets all entries, and gives their memory back.
  func removeAll() { (numbers, keys) = (nil, nil) }
}
