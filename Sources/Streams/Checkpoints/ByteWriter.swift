/// Builds the bytes of a section: little-endian numbers, and lengths before everything of variable length.
///
/// What it writes is read back by the calls of the same name of ``ByteReader``.
public struct ByteWriter: Sendable {
  /// What was written so far.
  public private(set) var bytes: [UInt8] = []

  /// Starts with no bytes.
  public init() {}

  /// One byte.
  public mutating func writeUInt8(_ value: UInt8) { bytes.append(value) }
  /// Two bytes.
  public mutating func writeUInt16(_ value: UInt16) { append(value.littleEndian) }
  /// Four bytes.
  public mutating func writeUInt32(_ value: UInt32) { append(value.littleEndian) }
  /// Eight bytes.
  public mutating func writeUInt64(_ value: UInt64) { append(value.littleEndian) }
  /// Eight bytes, two's complement.
  public mutating func writeInt64(_ value: Int64) { append(value.littleEndian) }
  /// Eight bytes, two's complement: an `Int` is no wider.
  public mutating func writeInt(_ value: Int) { writeInt64(Int64(value)) }
  /// Eight bytes: the bit pattern, so that every NaN survives.
  public mutating func writeDouble(_ value: Double) { writeUInt64(value.bitPattern) }
  /// One byte, 0 or 1.
  public mutating func writeBool(_ value: Bool) { writeUInt8(value ? 1 : 0) }
  /// The bytes as they are, without a length.
  public mutating func writeRaw(_ value: some Sequence<UInt8>) { bytes.append(contentsOf: value) }

  /// A length of eight bytes, then the bytes.
  public mutating func writeBytes(_ value: some Collection<UInt8>) {
    writeInt(value.count)
    bytes.append(contentsOf: value)
  }

  /// A length in bytes, then UTF-8.
  public mutating func writeString(_ value: String) { writeBytes(value.utf8) }

  /// One byte that says whether there is a value, then the value.
  public mutating func writeOptional<Wrapped>(
    _ value: Wrapped?, _ write: (inout ByteWriter, Wrapped) throws -> Void
  ) rethrows {
    writeBool(value != nil)
    if let value { try write(&self, value) }
  }

  /// A count of eight bytes, then each element.
  public mutating func writeArray<Elements: Collection>(
    _ values: Elements, _ write: (inout ByteWriter, Elements.Element) throws -> Void
  ) rethrows {
    writeInt(values.count)
    for value in values { try write(&self, value) }
  }

  private mutating func append(_ value: some FixedWidthInteger) {
    withUnsafeBytes(of: value) { bytes.append(contentsOf: $0) }
  }
}
