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
  static let nullTag: UInt8 = 0x05
  static let numberTag: UInt8 = 0x10
  static let textTag: UInt8 = 0x20
  static let blobTag: UInt8 = 0x30

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
      append(values[position], of: columns[position], rowid: rowid, to: &key)
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
  private static func append(_ value: KeyValue, of column: SortColumn, rowid: Int64, to key: inout KeyBytes) {
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
}
