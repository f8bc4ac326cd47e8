/// An index entry whose values are all NULL or numbers, which most entries of a store are: read without a look at anything
/// else. Reals that are whole numbers count as these.
struct ProofNumbers {
  /// What a value is, as it is hashed.
  enum Kind {
    static let integer: UInt64 = 1
    static let real: UInt64 = 2
    static let null: UInt64 = 3
  }

  static let most = 8
  /// Whole numbers, the bits of reals, and 0 for NULL.
  let values = UnsafeMutablePointer<Int64>.allocate(capacity: most)
  let kinds = UnsafeMutablePointer<UInt64>.allocate(capacity: most)
  private let count: Int

  /// Prepares for entries of that many values; for more than ``most``, no entry is such a one.
  init(count: Int) { self.count = count <= Self.most ? count : 0 }

  func free() {
    values.deallocate()
    kinds.deallocate()
  }

  /// Reads an entry that lies in one piece; false for one that is anything else, whose values are then without a
  /// meaning. The last value, which is the rowid, is a whole number.
  @inline(__always)
  func read(_ bytes: UnsafeRawPointer, _ length: Int) -> Bool {
    guard count > 0, length > count, Int(bytes.proofByte(0)) == count + 1 else { return false }
    var offset = count + 1
    for column in 0..<count {
      let type = bytes.proofByte(1 + column)
      let end: Int
      switch type {
      case 1, 2, 3, 4: end = offset + Int(type)
      case 5: end = offset + 6
      case 6, 7: end = offset + 8
      case 8, 9:
        (values[column], kinds[column]) = (Int64(type) - 8, Kind.integer)
        continue
      case 0:
        (values[column], kinds[column]) = (0, Kind.null)
        continue
      default: return false
      }
      guard end <= length else { return false }
      (values[column], kinds[column]) = (Self.number(bytes + offset, type), Kind.integer)
      if type == 7 { readReal(column) }
      offset = end
    }
    return offset == length && kinds[count - 1] == Kind.integer
  }

  @inline(__always)
  private func readReal(_ column: Int) {
    let value = Double(bitPattern: UInt64(bitPattern: values[column]))
    if let whole = Int64(exactly: value) { values[column] = whole } else { kinds[column] = Kind.real }
  }

  /// The first of some values that differs from that of another entry, and whether it comes before it.
  @inline(__always)
  func firstDifference(from other: ProofNumbers, columns: Int) -> (column: Int, isLess: Bool)? {
    for column in 0..<columns {
      let order = order(column, after: other)
      if order != 0 { return (column, order < 0) }
    }
    return nil
  }

  /// How a value stands to the same one of another entry: negative when it comes first, 0 when they are equal.
  @inline(__always)
  private func order(_ column: Int, after other: ProofNumbers) -> Int {
    if kinds[column] == Kind.integer, other.kinds[column] == Kind.integer {
      let (mine, others) = (values[column], other.values[column])
      return mine < others ? -1 : mine > others ? 1 : 0
    }
    return slowOrder(column, after: other)
  }

  private func slowOrder(_ column: Int, after other: ProofNumbers) -> Int {
    switch (kinds[column], other.kinds[column]) {
    case (Kind.null, Kind.null): return 0
    case (Kind.null, _): return -1
    case (_, Kind.null): return 1
    case (Kind.real, Kind.real):
      let (mine, others) = (real(column), other.real(column))
      return mine < others ? -1 : mine > others ? 1 : 0
    case (Kind.real, _): return ProofRecord.order(real(column), other.values[column])
    default: return -ProofRecord.order(other.real(column), values[column])
    }
  }

  private func real(_ column: Int) -> Double { Double(bitPattern: UInt64(bitPattern: values[column])) }

  /// Whether one of the first `columns` values is NULL.
  func hasNull(_ columns: Int) -> Bool { (0..<columns).contains { kinds[$0] == Kind.null } }

  @inline(__always)
  private static func number(_ bytes: UnsafeRawPointer, _ type: UInt8) -> Int64 {
    switch type {
    case 1: Int64(Int8(bitPattern: bytes.proofByte(0)))
    case 2: Int64(Int16(bitPattern: UInt16(bigEndian: bytes.loadUnaligned(as: UInt16.self))))
    case 3: Int64(Int8(bitPattern: bytes.proofByte(0))) << 16 | Int64(bytes.proof16(1))
    case 4: Int64(Int32(bitPattern: UInt32(bigEndian: bytes.loadUnaligned(as: UInt32.self))))
    default: bytes.proofInteger(type == 5 ? 6 : 8)
    }
  }
}
