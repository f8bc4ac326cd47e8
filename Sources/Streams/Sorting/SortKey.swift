import Glibc

/// Index keys as bytes whose plain comparison is SQLite's order of the key, so that one sorter serves every index.
///
/// Bytes of a column: a tag for the storage class (NULL < numbers < text < blob), then for a number the double at or
/// below it in an order-preserving form and the rest of an integer beyond doubles; for text and blobs the bytes with 00
/// written as 00 FF and 00 00 after them. The rowid follows as eight bytes. Last, out of the comparison because rowids
/// differ: the texts of columns with a collation, which does not give them back, one byte a column that marks integers
/// and doubles, and with collations the length of those texts. Order of storage classes: SQLite, "Datatypes In SQLite",
/// section 4.1.
public struct SortKey {
  private static let nullTag: UInt8 = 0x05
  private static let numberTag: UInt8 = 0x10
  private static let textTag: UInt8 = 0x20
  private static let blobTag: UInt8 = 0x30

  /// Columns of a key at most.
  static let largestColumnCount = 32

  /// Appends the key of a row's columns to `key`; false when there are more columns than a key has, and where a column
  /// refers to a long value.
  public static func encode(
    columns: [SortColumn], of row: RecordDecoder, rowidColumn: Int?, rowid: Int64, to key: inout [UInt8]
  ) -> Bool {
    let values = columns.map {
      $0.column == rowidColumn ? .rowid : KeyValue(type: row.type($0.column), body: row.body($0.column))
    }
    return values.withUnsafeBufferPointer { values in
      guard let most = largestLength(values, columns) else { return false }
      key += [UInt8](unsafeUninitializedCapacity: most) { bytes, count in
        count = encode(values, columns, rowid: rowid, to: UnsafeMutableRawPointer(bytes.baseAddress!))
      }
      return true
    }
  }

  /// The bytes that a key of these values takes at most; nil where one is no value for a key, or there are too many.
  static func largestLength(_ values: UnsafeBufferPointer<KeyValue>, _ columns: [SortColumn]) -> Int? {
    guard columns.count <= largestColumnCount else { return nil }
    // The rowid, kinds, and the length of the texts.
    var length = 12 + columns.count
    for index in values.indices {
      let value = values[index]
      guard value.type >= 12, value.type != KeyValue.rowidType else {
        guard value.type < 10 || value.type == KeyValue.rowidType else { return nil }
        length += 11
        continue
      }
      // Tag and end, every byte escaped, the text once more; of NOCASE eight bytes after a NUL.
      length += 16 + 2 * value.body.count + (columns[index].collation == .binary ? 0 : value.body.count)
    }
    return length
  }

  /// Writes the key of values that ``largestLength(_:_:)`` has found fit, and returns its length.
  static func encode(
    _ values: UnsafeBufferPointer<KeyValue>, _ columns: [SortColumn], rowid: Int64, to target: UnsafeMutableRawPointer
  ) -> Int {
    var (key, kinds, hasTexts) = (KeyBytes(base: target), UInt64(0), false)
    for position in values.indices {
      let start = key.count
      append(values[position], columns[position], rowid, to: &key)
      if values[position].type == SerialType.real { kinds |= 1 << UInt64(position) }
      if columns[position].isDescending { key.flip(from: start) }
      if columns[position].collation != .binary { hasTexts = true }
    }
    key.appendBigEndian(UInt64(bitPattern: rowid) ^ 1 << 63)
    let texts = key.count
    if hasTexts {
      for position in values.indices where columns[position].collates(values[position].type) {
        key.appendBigEndian(UInt32(truncatingIfNeeded: values[position].body.count))
        key.append(values[position].body)
      }
    }
    let length = key.count - texts
    for position in values.indices { key.append(UInt8(truncatingIfNeeded: kinds >> UInt64(position) & 1)) }
    if hasTexts { key.appendBigEndian(UInt32(truncatingIfNeeded: length)) }
    return key.count
  }

  @inline(__always)
  private static func append(_ value: KeyValue, _ column: SortColumn, _ rowid: Int64, to key: inout KeyBytes) {
    if value.type == SerialType.null {
      key.append(nullTag)
    } else if value.type == KeyValue.rowidType {
      append(rowid, to: &key)
    } else if value.type >= 12 {
      let tag = SerialType.isText(value.type) ? textTag : blobTag
      key.append(tag)
      if tag == textTag, column.collation != .binary {
        column.collation.append(value.body, to: &key)
      } else {
        append(bytes: value.body, to: &key)
      }
    } else if let base = value.body.baseAddress, value.type == SerialType.real {
      append(Double(bitPattern: base.bigEndian64(0)), remainder: 0, to: &key)
    } else if let base = value.body.baseAddress ?? UnsafeRawPointer(bitPattern: 1) {
      // The two integers without a body read none.
      append(SerialType.readInteger(value.type, base), to: &key)
    }
  }

  private static func append(_ integer: Int64, to key: inout KeyBytes) {
    var double = Double(integer)
    // Rounded up: step to the double below, so that the remainder is never negative.
    if double >= 0x1p63 || Int64(double) > integer { double = double.nextDown }
    append(double, remainder: UInt16(truncatingIfNeeded: integer &- Int64(double)), to: &key)
  }

  private static func append(_ double: Double, remainder: UInt16, to key: inout KeyBytes) {
    key.append(numberTag)
    key.appendBigEndian(NumberColumns.word(double == 0 ? 0 : double))
    key.appendBigEndian(remainder)
  }

  private static func append(bytes: UnsafeRawBufferPointer, to key: inout KeyBytes) {
    if let base = bytes.baseAddress, memchr(base, 0, bytes.count) != nil {
      for byte in bytes {
        key.append(byte)
        if byte == 0 { key.append(0xff) }
      }
    } else {
      key.append(bytes)
    }
    key.appendBigEndian(UInt16(0))
  }

  /// Turns a key back into the index record that SQLite stores; false when the bytes are no key.
  public static func decode(_ key: UnsafeRawBufferPointer, columns: [SortColumn], into encoder: RecordEncoder) -> Bool {
    encoder.reset()
    guard let tail = Tail(key, columns), let base = key.baseAddress else { return false }
    var (offset, texts) = (0, tail.texts)
    for (position, column) in columns.enumerated() {
      guard offset < tail.rowid else { return false }
      let mask: UInt8 = column.isDescending ? 0xff : 0
      let tag = key[offset] ^ mask
      offset += 1
      if tag == nullTag {
        encoder.appendNull()
      } else if tag == numberTag {
        guard offset + 10 <= tail.rowid else { return false }
        let flip = column.isDescending ? UInt64.max : 0
        let number = (base.bigEndian64(offset) ^ flip, base.bigEndian16(offset + 8) ^ UInt16(truncatingIfNeeded: flip))
        guard append(number, isReal: key[tail.kinds + position] == 1, to: encoder) else { return false }
        offset += 10
      } else if tag == textTag, column.collation != .binary {
        guard column.collation.skip(key, &offset, mask: mask), let text = tail.text(key, at: &texts) else {
          return false
        }
        encoder.append(type: SerialType.text(length: text.count), body: text)
      } else if let plain = plain(key, from: &offset, mask: mask) {
        encoder.append(
          type: tag == textTag ? SerialType.text(length: plain.count) : SerialType.blob(length: plain.count),
          body: plain)
      } else {
        guard let bytes = unescape(key, from: &offset, mask: mask) else { return false }
        let type = tag == textTag ? SerialType.text(length: bytes.count) : SerialType.blob(length: bytes.count)
        bytes.withUnsafeBytes { encoder.append(type: type, body: $0) }
      }
    }
    guard offset == tail.rowid, texts == tail.kinds else { return false }
    encoder.append(Int64(bitPattern: base.bigEndian64(offset) ^ 1 << 63))
    return true
  }

  private static func append(_ number: (bits: UInt64, remainder: UInt16), isReal: Bool, to encoder: RecordEncoder)
    -> Bool
  {
    let bits = number.bits
    let double = Double(bitPattern: bits >> 63 == 1 ? bits & ~(1 << 63) : ~bits)
    if isReal {
      encoder.append(double)
      return true
    }
    guard double >= -0x1p63, double < 0x1p63 else { return false }
    encoder.append(Int64(double) &+ Int64(number.remainder))
    return true
  }

  /// The bytes where they stand, for an ascending column and bytes without 00; else nil, and `offset` stays.
  private static func plain(
    _ key: UnsafeRawBufferPointer, from offset: inout Int, mask: UInt8
  ) -> UnsafeRawBufferPointer? {
    guard mask == 0, let base = key.baseAddress, let end = memchr(base + offset, 0, key.count - offset) else {
      return nil
    }
    let length = UnsafeRawPointer(end) - (base + offset)
    guard offset + length + 1 < key.count, key[offset + length + 1] == 0 else { return nil }
    defer { offset += length + 2 }
    return UnsafeRawBufferPointer(rebasing: key[offset..<(offset + length)])
  }

  private static func unescape(_ key: UnsafeRawBufferPointer, from offset: inout Int, mask: UInt8) -> [UInt8]? {
    var bytes: [UInt8] = []
    while offset + 1 < key.count {
      let byte = key[offset] ^ mask
      offset += 1
      if byte != 0 {
        bytes.append(byte)
        continue
      }
      let mark = key[offset] ^ mask
      offset += 1
      if mark == 0 { return bytes }
      bytes.append(0)
    }
    return nil
  }

  /// Whether a key comes before another. Nothing comes before everything.
  public static func precedes(_ left: [UInt8], _ right: UnsafeRawBufferPointer) -> Bool {
    left.isEmpty || left.withUnsafeBytes { compareKeys($0, right) < 0 }
  }

  /// The rowid of a key.
  public static func rowid(_ key: UnsafeRawBufferPointer, columns: [SortColumn]) -> Int64 {
    guard let tail = Tail(key, columns), let base = key.baseAddress else { return 0 }
    return Int64(bitPattern: base.bigEndian64(tail.rowid) ^ 1 << 63)
  }

  /// Whether one of the key's values is NULL.
  public static func hasNull(_ key: UnsafeRawBufferPointer, columns: [SortColumn]) -> Bool {
    var offset = 0
    for column in columns {
      guard offset < key.count else { return false }
      let mask: UInt8 = column.isDescending ? 0xff : 0
      let tag = key[offset] ^ mask
      offset += 1
      switch tag {
      case nullTag: return true
      case numberTag: offset += 10
      case textTag where column.collation != .binary:
        guard column.collation.skip(key, &offset, mask: mask) else { return false }
      default: if unescape(key, from: &offset, mask: mask) == nil { return false }
      }
    }
    return false
  }

  /// Whether two keys of a unique index stand for the same values.
  public static func isSameValue(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer, columns: [SortColumn])
    -> Bool
  {
    guard let length = Tail(left, columns)?.rowid, length == Tail(right, columns)?.rowid, length > 0 else {
      return false
    }
    let values = UnsafeRawBufferPointer(rebasing: left[0..<length])
    return compareKeys(values, UnsafeRawBufferPointer(rebasing: right[0..<length])) == 0
  }

  /// Where the parts of a key lie that follow its values.
  private struct Tail {
    let rowid: Int
    let texts: Int
    let kinds: Int

    init?(_ key: UnsafeRawBufferPointer, _ columns: [SortColumn]) {
      var (end, length) = (key.count, 0)
      if columns.contains(where: { $0.collation != .binary }) {
        guard end >= 4, let base = key.baseAddress else { return nil }
        end -= 4
        length = Int(base.bigEndian32(end))
      }
      kinds = end - columns.count
      texts = kinds - length
      rowid = texts - 8
      guard rowid >= 0 else { return nil }
    }

    /// The next of the texts; `offset` moves after it.
    func text(_ key: UnsafeRawBufferPointer, at offset: inout Int) -> UnsafeRawBufferPointer? {
      guard offset + 4 <= kinds, let base = key.baseAddress else { return nil }
      let (start, length) = (offset + 4, Int(base.bigEndian32(offset)))
      guard length <= kinds - start else { return nil }
      offset = start + length
      return UnsafeRawBufferPointer(rebasing: key[start..<offset])
    }
  }
}
