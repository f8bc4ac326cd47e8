/// SQLite's variable-length integer: big-endian groups of seven bits, at most nine bytes.
///
/// Source of the rule: SQLite, "Database File Format", section 1.6.
public enum Varint {
  /// The longest encoding, in bytes.
  public static let maximumLength = 9

  /// Reads an integer at `offset`; nil when it runs past the end. `offset` moves after it.
  @inlinable @inline(__always)
  public static func read(_ bytes: UnsafeRawBufferPointer, at offset: inout Int) -> UInt64? {
    guard offset >= 0, offset < bytes.count, let base = bytes.baseAddress else { return nil }
    let first = base.load(fromByteOffset: offset, as: UInt8.self)
    if first < 0x80 {
      offset += 1
      return UInt64(first)
    }
    // Two bytes and three are most of the rest: rowids, and lengths of texts.
    if offset + 3 <= bytes.count {
      let second = base.load(fromByteOffset: offset + 1, as: UInt8.self)
      if second < 0x80 {
        offset += 2
        return UInt64(first & 0x7f) << 7 | UInt64(second)
      }
      let third = base.load(fromByteOffset: offset + 2, as: UInt8.self)
      if third < 0x80 {
        offset += 3
        return UInt64(first & 0x7f) << 14 | UInt64(second & 0x7f) << 7 | UInt64(third)
      }
    }
    return readLong(bytes, at: &offset)
  }

  @usableFromInline
  static func readLong(_ bytes: UnsafeRawBufferPointer, at offset: inout Int) -> UInt64? {
    var value: UInt64 = 0
    for index in 0..<maximumLength {
      guard offset + index < bytes.count else { return nil }
      let byte = bytes[offset + index]
      if index == maximumLength - 1 {
        offset += maximumLength
        return value << 8 | UInt64(byte)
      }
      value = value << 7 | UInt64(byte & 0x7f)
      if byte < 0x80 {
        offset += index + 1
        return value
      }
    }
    return nil
  }

  /// The number of bytes that `value` takes.
  @inlinable
  public static func length(_ value: UInt64) -> Int {
    if value < 0x80 { return 1 }
    if value > 0x00ff_ffff_ffff_ffff { return 9 }
    return (64 - value.leadingZeroBitCount + 6) / 7
  }

  /// Writes `value` at `target` and returns the number of bytes written. The caller has made room for ``length(_:)``.
  @inlinable @discardableResult
  public static func write(_ value: UInt64, to target: UnsafeMutableRawPointer) -> Int {
    if value < 0x80 {
      target.storeBytes(of: UInt8(truncatingIfNeeded: value), as: UInt8.self)
      return 1
    }
    let count = length(value)
    var rest = value
    var index = count - 1
    if count == maximumLength {
      target.storeBytes(of: UInt8(truncatingIfNeeded: rest), toByteOffset: 8, as: UInt8.self)
      rest >>= 8
      index = 7
    }
    while index >= 0 {
      let more: UInt8 = index == count - 1 ? 0 : 0x80
      target.storeBytes(of: UInt8(truncatingIfNeeded: rest & 0x7f) | more, toByteOffset: index, as: UInt8.self)
      rest >>= 7
      index -= 1
    }
    return count
  }
}
