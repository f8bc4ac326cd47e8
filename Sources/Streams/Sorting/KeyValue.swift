/// A value of an index key where it lies: its serial type and its body.
struct KeyValue {
  /// Stands for the row's rowid, which is in no record. No text: those are odd.
  static let rowidType = UInt64.max - 1

  var type: UInt64
  var body: UnsafeRawBufferPointer

  static var rowid: KeyValue { KeyValue(type: rowidType, body: UnsafeRawBufferPointer(start: nil, count: 0)) }
  static var null: KeyValue { KeyValue(type: SerialType.null, body: UnsafeRawBufferPointer(start: nil, count: 0)) }
}

/// A key that is being written into memory with enough room for it.
struct KeyBytes {
  let base: UnsafeMutableRawPointer
  var count = 0

  @inline(__always)
  mutating func append(_ byte: UInt8) {
    base.storeBytes(of: byte, toByteOffset: count, as: UInt8.self)
    count += 1
  }

  @inline(__always)
  mutating func append(_ bytes: UnsafeRawBufferPointer) {
    if let from = bytes.baseAddress { (base + count).copyMemory(from: from, byteCount: bytes.count) }
    count += bytes.count
  }

  @inline(__always)
  mutating func appendBigEndian<T: FixedWidthInteger>(_ value: T) {
    base.storeBytes(of: value.bigEndian, toByteOffset: count, as: T.self)
    count += MemoryLayout<T>.size
  }

  /// Turns everything from `start` on around, for a descending column.
  mutating func flip(from start: Int) {
    for index in start..<count {
      base.storeBytes(of: ~base.load(fromByteOffset: index, as: UInt8.self), toByteOffset: index, as: UInt8.self)
    }
  }
}
