/// Counts records and their NULLs, column by column, in groups: for every row of a table at the price of a few instructions.
///
/// A record of sixteen columns whose types take a byte each is one vector; wider ones are several. Sums of bytes are added up before
/// they could run over.
public final class NullTally {
  // Plain pointers: this runs for every row, and the compiler can prove access to them exclusive.
  private let groups: Int
  private let columns: Int
  private let blocks: Int
  private let bytes: UnsafeMutablePointer<SIMD16<UInt8>>
  /// Records in `bytes`, by group.
  private let pending: UnsafeMutablePointer<UInt8>
  private let sums: UnsafeMutablePointer<UInt64>

  /// Prepares for records of that many columns. A group's numbers are its records, and the NULLs of each column.
  public init(groups: Int, columns: Int) {
    (self.groups, self.columns, blocks) = (groups, columns, (columns + 15) / 16)
    bytes = .allocate(capacity: groups * blocks)
    bytes.initialize(repeating: SIMD16(repeating: 0), count: groups * blocks)
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
    guard let types = locator.shortTypes(padded: blocks * 16) else { return addLong(locator, to: group) }
    let target = bytes + group * blocks
    for block in 0..<blocks {
      let found = types.loadUnaligned(fromByteOffset: block * 16, as: SIMD16<UInt8>.self)
      target[block].replace(with: target[block] &+ 1, where: found .== 0)
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
      bytes[group * blocks + block] = SIMD16(repeating: 0)
      for lane in 0..<min(16, columns - block * 16) { sums[block * 16 + lane + 1] += UInt64(found[lane]) }
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
