extension UnsafeRawPointer {
  /// A big-endian 16-bit integer.
  @inlinable
  func bigEndian16(_ offset: Int) -> UInt16 {
    UInt16(bigEndian: loadUnaligned(fromByteOffset: offset, as: UInt16.self))
  }
  /// A big-endian 32-bit integer.
  @inlinable
  func bigEndian32(_ offset: Int) -> UInt32 {
    UInt32(bigEndian: loadUnaligned(fromByteOffset: offset, as: UInt32.self))
  }
  /// A big-endian 64-bit integer.
  @inlinable
  func bigEndian64(_ offset: Int) -> UInt64 {
    UInt64(bigEndian: loadUnaligned(fromByteOffset: offset, as: UInt64.self))
  }
}

extension UnsafeMutableRawPointer {
  /// Stores a big-endian integer of its type's width.
  @inlinable
  func storeBigEndian<T: FixedWidthInteger>(_ value: T, at offset: Int) {
    storeBytes(of: value.bigEndian, toByteOffset: offset, as: T.self)
  }
}
