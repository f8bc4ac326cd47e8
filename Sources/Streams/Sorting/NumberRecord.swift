/// Turns words into index records: the values of the columns, then the rowid.
final class NumberRecord {
  private let masks: UnsafeMutablePointer<UInt64>
  private let holdsReals: UnsafeMutablePointer<Bool>
  private let count: Int
  /// Its bytes at most, and eight that may be written after them.
  private let room: Int

  /// `masks` turn the words of descending columns around; `holdsReals` says which columns are of reals.
  init(_ masks: [UInt64], holdsReals: [Bool]) {
    count = masks.count
    self.holdsReals = .allocate(capacity: count + 1)
    for (index, holds) in holdsReals.enumerated() { self.holdsReals[index] = holds }
    self.holdsReals[count] = false
    self.masks = .allocate(capacity: count + 1)
    for (index, mask) in masks.enumerated() { self.masks[index] = mask }
    // The rowid comes last and ascends.
    self.masks[count] = 0
    room = 2 + 9 * (count + 1) + 8
  }

  deinit {
    masks.deallocate()
    holdsReals.deallocate()
  }

  func rowid(_ entry: UnsafePointer<UInt64>) -> Int64 { NumberColumns.value(entry[count]) }

  /// Whether two entries have the same values, none of them NULL.
  func isSame(_ left: UnsafePointer<UInt64>, _ right: UnsafePointer<UInt64>) -> Bool {
    for index in 0..<count where left[index] != right[index] || left[index] ^ masks[index] == NumberColumns.null {
      return false
    }
    return true
  }

  /// Calls `body` with an entry's record.
  func withRecord<R>(_ entry: UnsafePointer<UInt64>, _ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
    try withUnsafeTemporaryAllocation(byteCount: room, alignment: 8) { bytes in
      try body(UnsafeRawBufferPointer(rebasing: bytes[0..<write(entry, to: bytes.baseAddress!)]))
    }
  }

  /// Appends an entry's record.
  @inline(__always)
  func append(_ entry: UnsafePointer<UInt64>, to cells: IndexCells) {
    if room < 128 {
      let target = cells.room(room + 1)
      let length = write(entry, to: target + 1)
      target.storeBytes(of: UInt8(truncatingIfNeeded: length), as: UInt8.self)
      cells.finish(1 + length)
    } else {
      withRecord(entry) { record in
        cells.append(length: record.count) { $0.copyMemory(from: record.baseAddress!, byteCount: record.count) }
      }
    }
  }

  /// Writes a record and returns its length.
  @inline(__always)
  private func write(_ entry: UnsafePointer<UInt64>, to target: UnsafeMutableRawPointer) -> Int {
    // A key has 32 columns at most, so the header's length takes one byte.
    target.storeBytes(of: UInt8(truncatingIfNeeded: count + 2), as: UInt8.self)
    var length = count + 2
    for index in 0...count {
      let word = entry[index] ^ masks[index]
      guard word != NumberColumns.null else {
        target.storeBytes(of: UInt8(0), toByteOffset: index + 1, as: UInt8.self)
        continue
      }
      guard let value = value(word, index) else {
        target.storeBytes(of: UInt8(truncatingIfNeeded: SerialType.real), toByteOffset: index + 1, as: UInt8.self)
        target.storeBytes(of: NumberColumns.real(word).bitPattern.bigEndian, toByteOffset: length, as: UInt64.self)
        length += 8
        continue
      }
      let type = SerialType.integer(value)
      target.storeBytes(of: UInt8(truncatingIfNeeded: type), toByteOffset: index + 1, as: UInt8.self)
      let bytes = type > 6 ? 0 : type == 6 ? 8 : type == 5 ? 6 : Int(type)
      // All eight bytes are written; those that the value does not need are overwritten by what follows.
      let shifted = UInt64(bitPattern: value) << UInt64(64 - 8 * bytes)
      target.storeBytes(of: shifted.bigEndian, toByteOffset: length, as: UInt64.self)
      length += bytes
    }
    return length
  }

  /// The integer that a word stands for; nil for a real.
  @inline(__always)
  private func value(_ word: UInt64, _ index: Int) -> Int64? {
    holdsReals[index] ? NumberColumns.integer(NumberColumns.real(word)) : NumberColumns.value(word)
  }
}
