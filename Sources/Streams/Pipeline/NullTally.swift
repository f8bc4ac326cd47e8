/// Counts records and their NULLs, column by column, in groups: for every row of a table at the price of a few
/// instructions.
///
/// Eight columns whose types take a byte each are looked at in one word. Sums of bytes are added up before they could
/// run over.
public final class NullTally {
  // Plain pointers: this runs for every row, and the compiler can prove access to them exclusive.
  private let groups: Int
  private let columns: Int
  private let blocks: Int
  private let bytes: UnsafeMutablePointer<UInt64>
  /// Records in `bytes`, by group.
  private let pending: UnsafeMutablePointer<UInt8>
  private let sums: UnsafeMutablePointer<UInt64>

  private static let sevenBits: UInt64 = 0x7f7f_7f7f_7f7f_7f7f
  private static let highBits: UInt64 = 0x8080_8080_8080_8080

  /// Prepares for records of that many columns. A group's numbers are its records, and the NULLs of each column.
  public init(groups: Int, columns: Int) {
    (self.groups, self.columns, blocks) = (groups, columns, (columns + 7) / 8)
    bytes = .allocate(capacity: groups * blocks)
    bytes.initialize(repeating: 0, count: groups * blocks)
    pending = .allocate(capacity: groups)
    pending.initialize(repeating: 0, count: groups)
    sums = .allocate(capacity: groups * (columns + 1))
    sums.initialize(repeating: 0, count: groups * (columns + 1))
  }

  deinit {
    bytes.deallocate()
    pending.deallocate()
    sums.deallocate()
  }

  /// Counts the record located last, which has all columns.
  public func add(_ locator: RecordLocator, to group: Int) {
    guard let types = locator.shortTypes(padded: blocks * 8) else { return addLong(locator, to: group) }
    let target = bytes + group * blocks
    for block in 0..<blocks {
      // Bytes after the last column may be any: they change only sums that nobody reads.
      let found = UInt64(littleEndian: types.loadUnaligned(fromByteOffset: block &* 8, as: UInt64.self))
      target[block] &+= (~(found &+ Self.sevenBits) & Self.highBits) &>> 7
    }
    pending[group] += 1
    if pending[group] == .max { settle(group) }
  }

  @inline(never)
  private func addLong(_ locator: RecordLocator, to group: Int) {
    let sums = sums + group * (columns + 1)
    sums[0] += 1
    for column in 0..<columns where locator.isNull(column) { sums[column + 1] += 1 }
  }

  /// Counts a record that a decoder took apart. A column that it lacks is NULL where `isNullByDefault` says so.
  public func add(_ record: RecordDecoder, to group: Int, isNullByDefault: (Int) -> Bool) {
    let sums = sums + group * (columns + 1)
    sums[0] += 1
    for column in 0..<columns
    where column < record.columnCount ? record.type(column) == SerialType.null : isNullByDefault(column) {
      sums[column + 1] += 1
    }
  }

  private func settle(_ group: Int) {
    let sums = sums + group * (columns + 1)
    sums[0] += UInt64(pending[group])
    pending[group] = 0
    for block in 0..<blocks {
      let found = bytes[group * blocks + block]
      bytes[group * blocks + block] = 0
      for lane in 0..<min(8, columns - block * 8) { sums[block * 8 + lane + 1] += found >> UInt64(lane * 8) & 0xff }
    }
  }

  /// Gives each group's numbers to `body`, group by group, and begins again with none.
  public func take(_ body: (_ group: Int, _ numbers: UnsafeBufferPointer<UInt64>) -> Void) {
    for group in 0..<groups {
      if pending[group] > 0 { settle(group) }
      let numbers = sums + group * (columns + 1)
      guard numbers[0] > 0 else { continue }
      body(group, UnsafeBufferPointer(start: numbers, count: columns + 1))
      numbers.update(repeating: 0, count: columns + 1)
    }
  }
}
