/// Reads what ``ByteWriter`` wrote. Every call checks what is left first; nothing that the bytes say is believed.
///
/// All calls throw ``StreamsError`` with the code `damagedCheckpoint`, naming `subject` and the position.
public struct ByteReader: Sendable {
  private let bytes: ArraySlice<UInt8>
  private let subject: String
  private var position: Int

  /// Reads `bytes`; `subject` names them in errors, as in "section tables".
  public init(_ bytes: [UInt8], subject: String) { self.init(bytes[...], subject: subject) }

  /// Reads a part of an array without copying it.
  public init(_ bytes: ArraySlice<UInt8>, subject: String) {
    self.bytes = bytes
    self.subject = subject
    position = bytes.startIndex
  }

  /// Bytes that were not read yet.
  public var remaining: Int { bytes.endIndex - position }

  /// One byte.
  ///
  /// - Throws: ``StreamsError``.
  public mutating func readUInt8() throws -> UInt8 { try readInteger() }
  /// Two bytes.
  ///
  /// - Throws: ``StreamsError``.
  public mutating func readUInt16() throws -> UInt16 { try readInteger() }
  /// Four bytes.
  ///
  /// - Throws: ``StreamsError``.
  public mutating func readUInt32() throws -> UInt32 { try readInteger() }
  /// Eight bytes.
  ///
  /// - Throws: ``StreamsError``.
  public mutating func readUInt64() throws -> UInt64 { try readInteger() }
  /// Eight bytes, two's complement.
  ///
  /// - Throws: ``StreamsError``.
  public mutating func readInt64() throws -> Int64 { try readInteger() }

  /// Eight bytes, two's complement.
  ///
  /// - Throws: ``StreamsError``.
  public mutating func readInt() throws -> Int {
    let value = try readInt64()
    guard let value = Int(exactly: value) else { throw damaged("\(value) is too large a number") }
    return value
  }

  /// Eight bytes: a bit pattern.
  ///
  /// - Throws: ``StreamsError``.
  public mutating func readDouble() throws -> Double { Double(bitPattern: try readUInt64()) }

  /// One byte, 0 or 1; anything else is damage.
  ///
  /// - Throws: ``StreamsError``.
  public mutating func readBool() throws -> Bool {
    let value = try readUInt8()
    guard value < 2 else { throw damaged("\(value) is neither yes nor no") }
    return value == 1
  }

  /// Exactly `count` bytes, without a length before them.
  ///
  /// - Throws: ``StreamsError``.
  public mutating func readRaw(_ count: Int) throws -> ArraySlice<UInt8> {
    guard count >= 0, count <= remaining else { throw damaged("\(count) bytes are wanted, \(remaining) are left") }
    defer { position += count }
    return bytes[position..<position + count]
  }

  /// A length, then that many bytes, `cap` at most.
  ///
  /// - Throws: ``StreamsError``.
  public mutating func readBytes(cap: Int = .max) throws -> [UInt8] {
    let count = try readInt()
    guard count <= cap else { throw damaged("a length of \(count) is more than the \(cap) allowed") }
    return Array(try readRaw(count))
  }

  /// A length in bytes, then UTF-8; other bytes are damage.
  ///
  /// - Throws: ``StreamsError``.
  public mutating func readString(cap: Int = 1 << 20) throws -> String {
    let bytes = try readBytes(cap: cap)
    guard let text = String(validating: bytes, as: UTF8.self) else { throw damaged("text is not UTF-8") }
    return text
  }

  /// A count of elements that take `elementSize` bytes or more each; one that cannot fit into what is left is damage.
  ///
  /// - Throws: ``StreamsError``.
  public mutating func readCount(elementSize: Int = 1) throws -> Int {
    let count = try readInt()
    guard count >= 0, count <= remaining / max(1, elementSize) else {
      throw damaged("\(count) elements cannot fit into \(remaining) bytes")
    }
    return count
  }

  /// A value, if there is one.
  ///
  /// - Throws: ``StreamsError``.
  public mutating func readOptional<Wrapped>(_ read: (inout ByteReader) throws -> Wrapped) throws -> Wrapped? {
    try readBool() ? try read(&self) : nil
  }

  /// A count, then that many elements of `elementSize` bytes or more each.
  ///
  /// - Throws: ``StreamsError``.
  public mutating func readArray<Element>(
    elementSize: Int = 1, _ read: (inout ByteReader) throws -> Element
  ) throws -> [Element] {
    let count = try readCount(elementSize: elementSize)
    var values: [Element] = []
    // The count is only as good as the bytes: memory grows with what was really read.
    values.reserveCapacity(min(count, 4096))
    for _ in 0..<count { values.append(try read(&self)) }
    return values
  }

  /// - Throws: ``StreamsError`` when bytes are left: a reader that stops early misunderstood what it read.
  public func finish() throws {
    guard remaining == 0 else { throw damaged("\(remaining) bytes are left over") }
  }

  /// An error about these bytes at this position, for rules that a caller checks itself.
  public func damaged(_ what: String) -> StreamsError {
    StreamsError(.damagedCheckpoint, "\(subject), byte \(position - bytes.startIndex): \(what)")
  }

  private mutating func readInteger<Number: FixedWidthInteger>() throws -> Number {
    let raw = try readRaw(MemoryLayout<Number>.size)
    return raw.reversed().reduce(Number.zero) { $0 << 8 | Number(truncatingIfNeeded: $1) }
  }
}
