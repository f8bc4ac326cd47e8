import Glibc

/// Turns sort keys back into the index records that SQLite stores, and appends them to cells.
///
/// Keys of ascending columns without a collation, whose texts and blobs have no 00, are read where they lie; others by
/// ``SortKey/decode(_:columns:into:)``.
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
  private let isPlain: Bool
  private let encoder = RecordEncoder()
  /// A part a column, and one for the rowid.
  private let parts: UnsafeMutablePointer<Part>

  init(_ columns: [SortColumn]) {
    self.columns = columns
    isPlain = columns.allSatisfy { !$0.isDescending && $0.collation == .binary }
    parts = .allocate(capacity: columns.count + 1)
  }

  deinit { parts.deallocate() }

  /// Appends a key's record; false when the bytes are no key.
  func append(_ key: UnsafeRawBufferPointer, to cells: IndexCells) -> Bool {
    guard isPlain, find(key) else {
      guard SortKey.decode(key, columns: columns, into: encoder) else { return false }
      cells.append(length: encoder.length) { encoder.write(to: $0) }
      return true
    }
    var (header, bodies) = (1, 0)
    for index in 0...columns.count {
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
    for index in 0...columns.count {
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

  /// Finds the parts of a key; false when it has to be read in the other way, or is none.
  private func find(_ key: UnsafeRawBufferPointer) -> Bool {
    let kinds = key.count - columns.count
    guard let base = key.baseAddress, kinds >= 8 else { return false }
    let rowid = kinds - 8
    var offset = 0
    for index in 0..<columns.count {
      guard offset < rowid else { return false }
      let tag = base.load(fromByteOffset: offset, as: UInt8.self)
      offset += 1
      if tag == SortKey.nullTag {
        parts[index] = Part(type: SerialType.null, body: nil, length: 0, number: 0)
      } else if tag == SortKey.numberTag {
        guard offset + 10 <= rowid, let part = number(base + offset, isReal: key[kinds + index] == 1) else {
          return false
        }
        parts[index] = part
        offset += 10
      } else {
        guard let end = memchr(base + offset, 0, rowid - offset) else { return false }
        let length = UnsafeRawPointer(end) - (base + offset)
        guard offset + length + 2 <= rowid, key[offset + length + 1] == 0 else { return false }
        let type = tag == SortKey.textTag ? SerialType.text(length: length) : SerialType.blob(length: length)
        parts[index] = Part(type: type, body: base + offset, length: length, number: 0)
        offset += length + 2
      }
    }
    parts[columns.count] = Self.integer(Int64(bitPattern: base.bigEndian64(rowid) ^ 1 << 63))
    return offset == rowid
  }

  private func number(_ bytes: UnsafeRawPointer, isReal: Bool) -> Part? {
    let double = NumberColumns.real(bytes.bigEndian64(0))
    if isReal { return Part(type: SerialType.real, body: nil, length: 8, number: double.bitPattern) }
    guard double >= -0x1p63, double < 0x1p63 else { return nil }
    return Self.integer(Int64(double) &+ Int64(bytes.bigEndian16(8)))
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
