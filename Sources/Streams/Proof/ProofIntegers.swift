/// An index entry whose values are all whole numbers, which most entries of a store are: read without a look at
/// anything else.
struct ProofIntegers {
  static let most = 8
  let values = UnsafeMutablePointer<Int64>.allocate(capacity: most)
  private let count: Int

  /// Prepares for entries of that many values; for more than ``most``, no entry is such a one.
  init(count: Int) { self.count = count <= Self.most ? count : 0 }

  func free() { values.deallocate() }

  /// Reads an entry that lies in one piece; false for one that is anything else, whose values are then without a
  /// meaning.
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
      case 6: end = offset + 8
      case 8, 9:
        values[column] = Int64(type) - 8
        continue
      default: return false
      }
      guard end <= length else { return false }
      values[column] = Self.number(bytes + offset, type)
      offset = end
    }
    return offset == length
  }

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
