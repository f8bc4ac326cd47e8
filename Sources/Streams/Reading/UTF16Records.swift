/// Turns the records of a database in UTF-16 into records in UTF-8, so that everything above the readers knows one
/// encoding.
///
/// Half a surrogate pair becomes U+FFFD, a single byte at the end is left out. A record that cannot be taken apart
/// stays as it is, for the caller to find. Not thread-safe: one for each reader.
final class UTF16Records {
  private let isBigEndian: Bool
  private let decoder = RecordDecoder()
  private let encoder = RecordEncoder()
  private let spare = RowPage()
  private var text: [UInt8] = []
  private var record: [UInt8] = []

  /// Nil for a database in UTF-8, which needs no conversion.
  init?(_ encoding: DatabaseHeader.TextEncoding) {
    guard encoding != .utf8 else { return nil }
    isBigEndian = encoding == .utf16BigEndian
  }

  /// Converts all records of a page of rows.
  func convert(_ page: RowPage) {
    spare.reset()
    for row in 0..<page.count {
      let original = page.record(row)
      let isSound = encode(original)
      let length = isSound ? encoder.length : original.count
      let target = spare.room(length)
      if isSound {
        encoder.write(to: target)
      } else if let base = original.baseAddress {
        target.copyMemory(from: base, byteCount: length)
      }
      spare.finishRow(page.rowid(row), length: length)
    }
    page.exchange(with: spare)
  }

  /// Calls `body` with a record's conversion, which is valid during the call.
  func withConverted<R>(_ original: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R
  {
    guard encode(original) else { return try body(original) }
    let length = encoder.length
    if record.count < length { record = [UInt8](repeating: 0, count: length) }
    return try record.withUnsafeMutableBytes { bytes in
      encoder.write(to: bytes.baseAddress!)
      return try body(UnsafeRawBufferPointer(rebasing: bytes[0..<length]))
    }
  }

  private func encode(_ original: UnsafeRawBufferPointer) -> Bool {
    encoder.reset()
    guard decoder.decode(original) else { return false }
    for column in 0..<decoder.columnCount {
      let (type, body) = (decoder.type(column), decoder.body(column))
      if SerialType.isText(type) {
        transcode(body)
        text.withUnsafeBytes { encoder.append(type: SerialType.text(length: $0.count), body: $0) }
      } else {
        encoder.append(type: type, body: body)
      }
    }
    return true
  }

  private func transcode(_ body: UnsafeRawBufferPointer) {
    text.removeAll(keepingCapacity: true)
    var offset = 0
    while let unit = unit(body, &offset) {
      var scalar = UInt32(unit)
      if unit & 0xf800 == 0xd800 {
        var behind = offset
        if unit < 0xdc00, let low = self.unit(body, &behind), low & 0xfc00 == 0xdc00 {
          scalar = 0x10000 + UInt32(unit & 0x3ff) << 10 + UInt32(low & 0x3ff)
          offset = behind
        } else {
          scalar = 0xfffd
        }
      }
      append(scalar)
    }
  }

  private func unit(_ body: UnsafeRawBufferPointer, _ offset: inout Int) -> UInt16? {
    guard offset + 1 < body.count else { return nil }
    let (first, second) = (UInt16(body[offset]), UInt16(body[offset + 1]))
    offset += 2
    return isBigEndian ? first << 8 | second : second << 8 | first
  }

  private func append(_ scalar: UInt32) {
    func trail(_ shift: UInt32) -> UInt8 { 0x80 | UInt8(truncatingIfNeeded: scalar >> shift & 0x3f) }
    switch scalar {
    case ..<0x80: text.append(UInt8(scalar))
    case ..<0x800:
      text.append(0xc0 | UInt8(truncatingIfNeeded: scalar >> 6))
      text.append(trail(0))
    case ..<0x10000:
      text.append(0xe0 | UInt8(truncatingIfNeeded: scalar >> 12))
      text.append(trail(6))
      text.append(trail(0))
    default:
      text.append(0xf0 | UInt8(truncatingIfNeeded: scalar >> 18))
      text.append(trail(12))
      text.append(trail(6))
      text.append(trail(0))
    }
  }
}
