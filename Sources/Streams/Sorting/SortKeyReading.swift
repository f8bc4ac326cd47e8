import Glibc

extension SortKey {
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

  /// Whether one of the key's values is NULL.
  static func hasNull(_ key: UnsafeRawBufferPointer, columns: [SortColumn]) -> Bool {
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

  /// Where the parts of a key lie that follow its values.
  struct Tail {
    let rowid: Int
    let texts: Int
    let kinds: Int

    init?(_ key: UnsafeRawBufferPointer, _ columns: [SortColumn]) {
      self.init(key, columnCount: columns.count, hasTexts: columns.contains { $0.collation != .binary })
    }

    /// The same, where that is known of the columns.
    init?(_ key: UnsafeRawBufferPointer, columnCount: Int, hasTexts: Bool) {
      var (end, length) = (key.count, 0)
      if hasTexts {
        guard end >= 4, let base = key.baseAddress else { return nil }
        end -= 4
        length = Int(base.bigEndian32(end))
      }
      kinds = end - columnCount
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
