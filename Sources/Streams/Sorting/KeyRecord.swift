import Glibc

/// Turns sort keys back into the index records that SQLite stores, and appends them to cells.
///
/// Values are read where they lie; texts and blobs with a 00, and those of descending columns, are copied first. Keys
/// with a collation are read by ``SortKey/decode(_:columns:into:)``.
final class KeyRecord {
  /// A value on its way from a key to a record.
  private struct Part {
    var type: UInt64
    var body: UnsafeRawPointer?
    var length: Int
    /// The eight bytes of a number, those of the body first.
    var number: UInt64
  }

  private let columns: [SortColumn]
  private let count: Int
  private let hasCollation: Bool
  /// What turns the bytes of a column around: all ones for a descending one.
  private let masks: UnsafeMutablePointer<UInt8>
  private let encoder = RecordEncoder()
  /// A part a column, and one for the rowid.
  private let parts: UnsafeMutablePointer<Part>
  /// Bytes of the key at hand that had to be copied.
  @exclusivity(unchecked) private var copies = UnsafeMutableRawBufferPointer(start: nil, count: 0)
  @exclusivity(unchecked) private var copied = 0

  init(_ columns: [SortColumn]) {
    (self.columns, count) = (columns, columns.count)
    hasCollation = columns.contains { $0.collation != .binary }
    masks = .allocate(capacity: count)
    for index in 0..<count { masks[index] = columns[index].isDescending ? 0xff : 0 }
    parts = .allocate(capacity: count + 1)
  }

  deinit {
    masks.deallocate()
    parts.deallocate()
    copies.deallocate()
  }

  /// Appends a key's record; false when the bytes are no key.
  func append(_ key: UnsafeRawBufferPointer, to cells: IndexCells) -> Bool {
    guard !hasCollation, find(key) else {
      guard SortKey.decode(key, columns: columns, into: encoder) else { return false }
      cells.append(length: encoder.length) { encoder.write(to: $0) }
      return true
    }
    var (header, bodies) = (1, 0)
    for index in 0...count {
      header += parts[index].type < 0x80 ? 1 : Varint.length(parts[index].type)
      bodies += parts[index].length
    }
    if header > 0x7f { header += 1 }
    // Eight bytes more, which a number may write after its end.
    let target = cells.room(header + bodies + Varint.maximumLength + 8)
    let head = Varint.write(UInt64(header + bodies), to: target)
    write(header: header, to: target + head)
    cells.finish(head + header + bodies)
    return true
  }

  private func write(header: Int, to target: UnsafeMutableRawPointer) {
    var position = Varint.write(UInt64(header), to: target)
    var end = header
    for index in 0...count {
      let part = parts[index]
      position += Varint.write(part.type, to: target + position)
      if let body = part.body {
        (target + end).copyMemory(from: body, byteCount: part.length)
      } else {
        target.storeBytes(of: part.number.bigEndian, toByteOffset: end, as: UInt64.self)
      }
      end += part.length
    }
  }

  /// Finds the parts of a key; false when it is none.
  private func find(_ key: UnsafeRawBufferPointer) -> Bool {
    let kinds = key.count - count
    guard let base = key.baseAddress, kinds >= 8 else { return false }
    let values = UnsafeRawBufferPointer(start: base, count: kinds - 8)
    var offset = 0
    copied = 0
    for index in 0..<count {
      guard offset < values.count else { return false }
      let mask = masks[index]
      let tag = base.load(fromByteOffset: offset, as: UInt8.self) ^ mask
      offset += 1
      if tag == SortKey.nullTag {
        parts[index] = Part(type: SerialType.null, body: nil, length: 0, number: 0)
      } else if tag == SortKey.numberTag {
        guard offset + 10 <= values.count,
          let part = number(base + offset, mask: mask, isReal: key[kinds + index] == 1)
        else { return false }
        parts[index] = part
        offset += 10
      } else {
        guard let bytes = bytes(in: values, from: &offset, mask: mask) else { return false }
        let type =
          tag == SortKey.textTag ? SerialType.text(length: bytes.count) : SerialType.blob(length: bytes.count)
        parts[index] = Part(type: type, body: bytes.baseAddress, length: bytes.count, number: 0)
      }
    }
    parts[count] = Self.integer(Int64(bitPattern: base.bigEndian64(values.count) ^ 1 << 63))
    return offset == values.count
  }

  /// A text or blob; `offset` moves behind its end. Nil when it does not end.
  @inline(__always)
  private func bytes(in values: UnsafeRawBufferPointer, from offset: inout Int, mask: UInt8)
    -> UnsafeRawBufferPointer?
  {
    guard let base = values.baseAddress, let end = memchr(base + offset, Int32(mask), values.count - offset) else {
      return nil
    }
    let length = UnsafeRawPointer(end) - (base + offset)
    guard offset + length + 2 <= values.count else { return nil }
    guard mask == 0, base.load(fromByteOffset: offset + length + 1, as: UInt8.self) == 0 else {
      return copy(of: values, from: &offset, mask: mask)
    }
    defer { offset += length + 2 }
    return UnsafeRawBufferPointer(start: base + offset, count: length)
  }

  /// The same as a copy, turned around and with 00 for 00 FF.
  private func copy(of values: UnsafeRawBufferPointer, from offset: inout Int, mask: UInt8)
    -> UnsafeRawBufferPointer?
  {
    // Parts that were found point into what is copied already.
    if copied == 0, copies.count < values.count {
      copies.deallocate()
      copies = .allocate(byteCount: values.count, alignment: 8)
    }
    guard let base = values.baseAddress, let target = copies.baseAddress else { return nil }
    let start = copied
    while let end = memchr(base + offset, Int32(mask), values.count - offset) {
      let length = UnsafeRawPointer(end) - (base + offset)
      guard offset + length + 2 <= values.count else { return nil }
      for index in 0..<length { copies[copied + index] = values[offset + index] ^ mask }
      (copied, offset) = (copied + length, offset + length + 2)
      if values[offset - 1] == mask { return UnsafeRawBufferPointer(start: target + start, count: copied - start) }
      copies[copied] = 0
      copied += 1
    }
    return nil
  }

  private func number(_ bytes: UnsafeRawPointer, mask: UInt8, isReal: Bool) -> Part? {
    let flip: UInt64 = mask == 0 ? 0 : .max
    let double = NumberColumns.real(bytes.bigEndian64(0) ^ flip)
    if isReal { return Part(type: SerialType.real, body: nil, length: 8, number: double.bitPattern) }
    guard double >= -0x1p63, double < 0x1p63 else { return nil }
    return Self.integer(Int64(double) &+ Int64(bytes.bigEndian16(8) ^ UInt16(truncatingIfNeeded: flip)))
  }

  @inline(__always)
  private static func integer(_ value: Int64) -> Part {
    let type = SerialType.integer(value)
    let length = type > 6 ? 0 : type == 6 ? 8 : type == 5 ? 6 : Int(type)
    return Part(
      type: type, body: nil, length: length,
      number: length == 0 ? 0 : UInt64(bitPattern: value) << UInt64(64 - 8 * length))
  }
}
