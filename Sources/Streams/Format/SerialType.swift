/// The type and length of one value in a record.
///
/// Source of the rule: SQLite, "Database File Format", section 2.1.
public enum SerialType {
  /// NULL.
  public static let null: UInt64 = 0
  /// An IEEE 754 double, big-endian.
  public static let real: UInt64 = 7
  /// The integer 0, without a body.
  public static let zero: UInt64 = 8
  /// The integer 1, without a body.
  public static let one: UInt64 = 9

  /// The body's length in bytes; nil for the two reserved types and for lengths beyond SQLite's limit of 2^31.
  @inlinable
  public static func length(_ type: UInt64) -> Int? {
    switch type {
    case 0, 8, 9: return 0
    case 1...4: return Int(type)
    case 5: return 6
    case 6, 7: return 8
    case 10, 11: return nil
    default:
      let length = (type - 12) / 2
      return length <= 0x7fff_ffff ? Int(length) : nil
    }
  }

  /// True for integers, including 0 and 1 without a body.
  @inlinable
  public static func isInteger(_ type: UInt64) -> Bool { (type >= 1 && type <= 6) || type == 8 || type == 9 }

  /// True for text.
  @inlinable
  public static func isText(_ type: UInt64) -> Bool { type >= 13 && type & 1 == 1 }

  /// True for blobs.
  @inlinable
  public static func isBlob(_ type: UInt64) -> Bool { type >= 12 && type & 1 == 0 }

  /// The type of text of that many bytes.
  @inlinable
  public static func text(length: Int) -> UInt64 { UInt64(length) * 2 + 13 }

  /// The type of a blob of that many bytes.
  @inlinable
  public static func blob(length: Int) -> UInt64 { UInt64(length) * 2 + 12 }

  /// The smallest type that holds an integer, as SQLite chooses it in schema format 4.
  @inlinable
  public static func integer(_ value: Int64) -> UInt64 {
    if value == 0 { return zero }
    if value == 1 { return one }
    let bits = value < 0 ? ~value : value
    if bits <= 0x7f { return 1 }
    if bits <= 0x7fff { return 2 }
    if bits <= 0x7f_ffff { return 3 }
    if bits <= 0x7fff_ffff { return 4 }
    if bits <= 0x7fff_ffff_ffff { return 5 }
    return 6
  }

  /// The integer in a body; the caller has checked that the type is an integer and the body complete.
  @inlinable
  public static func readInteger(_ type: UInt64, _ body: UnsafeRawPointer) -> Int64 {
    switch type {
    case 8: return 0
    case 9: return 1
    case 1: return Int64(body.load(as: Int8.self))
    case 2: return Int64(Int16(bitPattern: body.bigEndian16(0)))
    case 3:
      return Int64(Int16(bitPattern: body.bigEndian16(0))) << 8 | Int64(body.load(fromByteOffset: 2, as: UInt8.self))
    case 4: return Int64(Int32(bitPattern: body.bigEndian32(0)))
    case 5: return Int64(Int32(bitPattern: body.bigEndian32(0))) << 16 | Int64(body.bigEndian16(4))
    default: return Int64(bitPattern: body.bigEndian64(0))
    }
  }

  /// Writes an integer's body of the length that its type has.
  @inlinable
  public static func writeInteger(_ value: Int64, length: Int, to target: UnsafeMutableRawPointer) {
    switch length {
    case 0: return
    case 1: target.storeBytes(of: Int8(truncatingIfNeeded: value), as: Int8.self)
    case 2: target.storeBigEndian(Int16(truncatingIfNeeded: value), at: 0)
    case 3:
      target.storeBigEndian(Int16(truncatingIfNeeded: value >> 8), at: 0)
      target.storeBytes(of: UInt8(truncatingIfNeeded: value), toByteOffset: 2, as: UInt8.self)
    case 4: target.storeBigEndian(Int32(truncatingIfNeeded: value), at: 0)
    case 6:
      target.storeBigEndian(Int32(truncatingIfNeeded: value >> 16), at: 0)
      target.storeBigEndian(Int16(truncatingIfNeeded: value), at: 4)
    default: target.storeBigEndian(value, at: 0)
    }
  }

  /// The body's length for a type below 128; nil for the two reserved types.
  @inlinable @inline(__always)
  static func length(short type: UInt8) -> Int? {
    if type >= 12 { return Int(type - 12) >> 1 }
    if type >= 10 { return nil }
    // Four bits a type.
    return Int(truncatingIfNeeded: (0xff_0088_6432_10 as UInt64) >> (UInt64(type) * 4) & 15)
  }
}
