/// Names a row of a table: by its key, or, where a key is still to be given out, by its number among such rows.
///
/// Rows get keys above the largest one that was given, so addresses have the order of keys.
struct ImportAddress: Hashable {
  static let length = 9

  /// Whether the key is still to be given out.
  let isNew: Bool
  let number: Int64

  init(key: Int64) { (isNew, number) = (false, key) }
  init(new number: Int64) { (isNew, self.number) = (true, number) }

  /// The key, when the largest one that was given is known.
  func key(after largest: Int64) -> Int64 { isNew ? largest + number : number }

  func write(to bytes: inout [UInt8]) {
    bytes.append(isNew ? 1 : 0)
    bytes.append(biased: number)
  }

  func write(to room: UnsafeMutableRawBufferPointer) {
    room[0] = isNew ? 1 : 0
    room.store(biased: number, at: 1)
  }

  init(_ bytes: UnsafeRawBufferPointer, at place: Int) {
    (isNew, number) = (bytes[place] == 1, bytes.biased(at: place + 1))
  }
}

extension [UInt8] {
  /// Appends a number so that plain comparison of bytes is its order.
  mutating func append(biased number: Int64) {
    Swift.withUnsafeBytes(of: (UInt64(bitPattern: number) ^ 1 << 63).bigEndian) { append(contentsOf: $0) }
  }

  mutating func append(short number: Int) {
    append(UInt8(truncatingIfNeeded: number >> 8))
    append(UInt8(truncatingIfNeeded: number))
  }
}

extension UnsafeRawBufferPointer {
  /// What ``Swift/Array/append(biased:)`` wrote.
  func biased(at place: Int) -> Int64 {
    Int64(bitPattern: UInt64(bigEndian: loadUnaligned(fromByteOffset: place, as: UInt64.self)) ^ 1 << 63)
  }

  func short(at place: Int) -> Int { Int(self[place]) << 8 | Int(self[place + 1]) }
}

extension UnsafeMutableRawBufferPointer {
  /// Stores a number as ``Swift/Array/append(biased:)`` appends it.
  func store(biased number: Int64, at place: Int) {
    storeBytes(of: (UInt64(bitPattern: number) ^ 1 << 63).bigEndian, toByteOffset: place, as: UInt64.self)
  }
}
