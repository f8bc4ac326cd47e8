// What becomes of the entries of an index when all are there.
extension IndexSorter {
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
    try forEachEntry(of: numbers) { entry in
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

  /// Calls `body` with every entry as it is in all its words.
  @inline(__always)
  private func forEachEntry(of numbers: WordSorter, _ body: (UnsafePointer<UInt64>) throws -> Void) throws {
    guard let packing else { return try numbers.drain(body) }
    try withUnsafeTemporaryAllocation(of: UInt64.self, capacity: 2) { room in
      guard let words = room.baseAddress else { return }
      try numbers.drain { entry in
        packing.unpack(entry.pointee, into: words)
        try body(words)
      }
    }
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
