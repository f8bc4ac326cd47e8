/// The columns of one record: their serial types, and where their bytes begin. Used again for every row.
///
/// Source of the rules: SQLite, "Database File Format", section 2.1.
final class ProofRecord {
  static let mostColumns = 32_767
  /// The length of a column by its serial type, where that is one byte; else ``further``.
  private static let lengths: [UInt8] =
    [0, 1, 2, 3, 4, 6, 8, 8, 0, 0, further, further] + (12..<128).map { ($0 - 12) / 2 }
    + Array(repeating: further, count: 128)
  private static let further: UInt8 = 255

  /// Serial types and places of the columns that are wanted.
  @exclusivity(unchecked) private(set) var types: UnsafeMutablePointer<UInt64>
  @exclusivity(unchecked) private(set) var offsets: UnsafeMutablePointer<Int>
  @exclusivity(unchecked) private(set) var base: UnsafeRawPointer
  @exclusivity(unchecked) private(set) var count = 0
  /// Columns that the record itself has.
  @exclusivity(unchecked) private var stored = 0
  /// A bit for each of the first 64 columns that is NULL.
  @exclusivity(unchecked) private(set) var nulls: UInt64 = 0
  /// Bytes that are at hand; a very long record is there with its beginning alone.
  @exclusivity(unchecked) private var available = 0
  private var capacity: Int
  private let known: Int
  private let small: UnsafeMutablePointer<UInt8>
  private var own: UnsafeMutableRawBufferPointer

  /// Of the first `known` columns types and places are wanted, of others only what the record is as a whole.
  init(columns: Int, known: Int = .max) {
    self.known = known
    capacity = max(columns, 16)
    types = .allocate(capacity: capacity)
    offsets = .allocate(capacity: capacity)
    small = .allocate(capacity: Self.lengths.count)
    small.initialize(from: Self.lengths, count: Self.lengths.count)
    own = .allocate(byteCount: 64, alignment: 16)
    base = UnsafeRawPointer(own.baseAddress!)
  }

  deinit {
    types.deallocate()
    offsets.deallocate()
    small.deallocate()
    own.deallocate()
  }

  /// How far the head of a record was read.
  private struct Progress {
    var position: Int
    var column = 0
    var offset: Int
    var nulls: UInt64 = 0
  }

  /// Reads the head of a record of `length` bytes, of which `bytes` has all or the beginning; false for one that is
  /// damaged.
  @inline(__always)
  func decode(_ bytes: UnsafeRawBufferPointer, length: Int) -> Bool {
    guard let base = bytes.baseAddress else { return false }
    self.base = base
    available = bytes.count
    var position = 0
    guard let head = base.proofVarint(&position, bytes.count), head <= UInt64(bytes.count) else { return false }
    let end = Int(head)
    // A column takes a byte of the head at least.
    guard end - position <= capacity else { return grow(to: end - position) && decode(bytes, length: length) }
    var progress = Progress(position: position, offset: end)
    guard read(base, progress: &progress, end: end, columns: known) else { return false }
    while progress.position < end, progress.position + 8 <= bytes.count, skip(base, progress: &progress, end: end) {}
    guard read(base, progress: &progress, end: end, columns: .max) else { return false }
    (count, stored, nulls) = (progress.column, progress.column, progress.nulls)
    return progress.position == end && progress.offset == length && count <= Self.mostColumns
  }

  /// Reads types up to a column.
  @inline(__always)
  private func read(_ base: UnsafeRawPointer, progress: inout Progress, end: Int, columns: Int) -> Bool {
    var (position, column, offset, nulls) = (progress.position, progress.column, progress.offset, progress.nulls)
    let (types, offsets, small) = (types, offsets, small)
    // Nothing is left of it after 64 columns.
    var bit: UInt64 = 1 << column
    while position < end, column < columns {
      let type = base.proofByte(position)
      let size = small[Int(type)]
      offsets[column] = offset
      if size != Self.further {
        position &+= 1
        types[column] = UInt64(type)
        offset &+= Int(size)
        nulls |= type == 0 ? bit : 0
      } else {
        guard let long = base.proofVarint(&position, end), long >= 12, long < 1 << 33 else { return false }
        types[column] = long
        offset &+= Int((long - 12) >> 1)
      }
      column &+= 1
      bit &<<= 1
    }
    progress = Progress(position: position, column: column, offset: offset, nulls: nulls)
    return true
  }

  /// Passes up to eight columns of which nothing but their length, and whether they are NULL, is wanted; false where
  /// one has a longer type or none: then nothing is passed.
  @inline(__always)
  private func skip(_ base: UnsafeRawPointer, progress: inout Progress, end: Int) -> Bool {
    let count = min(8, end &- progress.position)
    let lanes = UInt64.max &>> UInt64(truncatingIfNeeded: 64 &- 8 &* count)
    let word = UInt64(littleEndian: base.loadUnaligned(fromByteOffset: progress.position, as: UInt64.self)) & lanes
    guard let (length, zeros) = Self.lengthOfEight(word) else { return false }
    if progress.column < 64 {
      progress.nulls |=
        (zeros & 0xFF &>> UInt64(truncatingIfNeeded: 8 &- count)) &<< UInt64(truncatingIfNeeded: progress.column)
    }
    (progress.offset, progress.position) = (progress.offset &+ length, progress.position &+ count)
    progress.column &+= count
    return true
  }

  /// The length that eight columns have together by their types, a byte each, and a bit for each that is NULL; nil if a
  /// type is longer or is none.
  @inline(__always)
  static func lengthOfEight(_ types: UInt64) -> (length: Int, nulls: UInt64)? {
    let (high, ones) = (UInt64(0x8080_8080_8080_8080), UInt64(0x0101_0101_0101_0101))
    /// 1 in each byte that is at least `number`, all below 128.
    func atLeast(_ number: UInt64, _ bytes: UInt64) -> UInt64 { ((bytes &+ (128 - number) &* ones) & high) >> 7 }
    guard types & high == 0 else { return nil }
    let long = atLeast(12, types) &* 255
    let short = types & ~long
    guard atLeast(10, short) == 0 else { return nil }
    // Types to 4 are their length; 5 stands for 6 bytes, 6 and 7 for 8, 8 and 9 for none.
    let sizes = (short &+ atLeast(5, short) &+ atLeast(6, short) &- atLeast(7, short)) & ~(atLeast(8, short) &* 255)
    let all = sizes | ((types & long) &- (12 &* ones & long)) >> 1 & 0x7F7F_7F7F_7F7F_7F7F
    let halves: UInt64 = 0x00FF_00FF_00FF_00FF
    let sums = (all & halves) &+ (all >> 8 & halves)
    let length = Int((sums &* 0x0001_0001_0001_0001) >> 48)
    let nulls = ((atLeast(1, types) ^ ones) &* 0x0102_0408_1020_4080) >> 56
    return (length, nulls)
  }

  private func grow(to columns: Int) -> Bool {
    // Types may take several bytes.
    guard columns <= 9 * Self.mostColumns else { return false }
    types.deallocate()
    offsets.deallocate()
    capacity = columns
    types = .allocate(capacity: capacity)
    offsets = .allocate(capacity: capacity)
    return true
  }

  /// Gives a record that ends before its table does the values of further columns.
  func fill(from defaults: ProofRecord) {
    guard count < defaults.count, defaults.count <= capacity else { return }
    for column in count..<defaults.count {
      types[column] = defaults.types[column]
      offsets[column] = defaults.base - base + defaults.offsets[column]
      if types[column] == 0, column < 64 { nulls |= 1 << UInt64(column) }
    }
    (stored, count) = (count, defaults.count)
  }

  @inline(__always)
  func isNull(_ column: Int) -> Bool { column < 64 ? nulls >> UInt64(column) & 1 != 0 : types[column] == 0 }

  /// The bytes of a column, from its beginning.
  @inline(__always)
  func body(_ column: Int) -> UnsafeRawPointer { base + offsets[column] }

  /// Bytes of a text or a blob.
  @inline(__always)
  func length(_ column: Int) -> Int { Int((types[column] - 12) >> 1) }

  /// Whether the column at hand is whole.
  @inline(__always)
  func isAtHand(_ column: Int) -> Bool {
    let type = types[column]
    return column >= stored
      || offsets[column] + (type < 12 ? Int(small[Int(type)]) : Int((type - 12) >> 1)) <= available
  }

  /// A whole number; nil for anything else.
  @inline(__always)
  func integer(_ column: Int) -> Int64? {
    guard column < count else { return nil }
    let type = types[column]
    // An entity's number, and other small ones.
    if type == 1, offsets[column] < available { return Int64(Int8(bitPattern: body(column).proofByte(0))) }
    if type == 8 || type == 9 { return Int64(type - 8) }
    guard type >= 1, type <= 6, isAtHand(column) else { return nil }
    return body(column).proofInteger(Int(small[Int(type)]))
  }

  @inline(__always)
  func real(_ column: Int) -> Double {
    Double(bitPattern: UInt64(bitPattern: body(column).proofInteger(8)))
  }

  /// The record's bytes, as far as they are at hand.
  var bytes: [UInt8] { Array(UnsafeRawBufferPointer(start: base, count: available)) }

  /// Keeps the record's bytes, which are about to go.
  func keep() {
    guard available > 0, base != UnsafeRawPointer(own.baseAddress!) else { return }
    if own.count < available {
      own.deallocate()
      own = .allocate(byteCount: available * 2, alignment: 16)
    }
    own.baseAddress!.copyMemory(from: base, byteCount: available)
    base = UnsafeRawPointer(own.baseAddress!)
  }
}
