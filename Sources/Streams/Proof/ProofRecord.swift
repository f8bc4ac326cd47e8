/// The columns of one record: their serial types, and where their bytes begin. Used again for every row.
///
/// Source of the rules: SQLite, "Database File Format", section 2.1.
final class ProofRecord {
  static let mostColumns = 32_767
  /// The length of a column by its serial type, where that is one byte; else ``further``.
  private static let lengths: [UInt8] =
    [0, 1, 2, 3, 4, 6, 8, 8, 0, 0, further, further] + (12..<128).map { ($0 - 12) / 2 } + Array(repeating: further, count: 128)
  private static let further: UInt8 = 255

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
  private let small: UnsafeMutablePointer<UInt8>
  private var own: UnsafeMutableRawBufferPointer

  init(columns: Int) {
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

  /// Reads the head of a record of `length` bytes, of which `bytes` has all or the beginning; false for one that is damaged.
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
    var (column, offset, nulls, bit) = (0, end, UInt64(0), UInt64(1))
    let (types, offsets, small) = (types, offsets, small)
    while position < end {
      let type = base.proofByte(position)
      let size = small[Int(type)]
      offsets[column] = offset
      if size != Self.further {
        position += 1
        types[column] = UInt64(type)
        offset += Int(size)
        nulls |= type == 0 ? bit : 0
      } else {
        guard let long = base.proofVarint(&position, end), long >= 12, long < 1 << 33 else { return false }
        types[column] = long
        offset += Int((long - 12) >> 1)
      }
      column += 1
      // Nothing is left of it after 64 columns.
      bit &<<= 1
    }
    (count, stored, self.nulls) = (column, column, nulls)
    return position == end && offset == length && column <= Self.mostColumns
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

  /// The bytes of a column, from its beginning.
  @inline(__always)
  func body(_ column: Int) -> UnsafeRawPointer { base + offsets[column] }

  /// Bytes of a text or a blob.
  @inline(__always)
  func length(_ column: Int) -> Int { Int((types[column] - 12) >> 1) }

  /// Is the column at hand, whole?
  @inline(__always)
  func isAtHand(_ column: Int) -> Bool {
    let type = types[column]
    return column >= stored || offsets[column] + (type < 12 ? Int(small[Int(type)]) : Int((type - 12) >> 1)) <= available
  }

  /// A whole number; nil for anything else.
  @inline(__always)
  func integer(_ column: Int) -> Int64? {
    guard column < count else { return nil }
    let type = types[column]
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
