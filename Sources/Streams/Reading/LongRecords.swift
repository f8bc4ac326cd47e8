/// Makes records with references in the place of long values, out of cells whose payload has an overflow chain.
///
/// The chain is read where other values lie in it, and no further.
final class LongRecords {
  /// Holds the record that was made last.
  let encoder = RecordEncoder()
  /// Bytes of the long values of that record.
  private(set) var outside = 0
  private let overflow: OverflowReader
  private let threshold: Int
  private let withTexts: Bool
  private var header: [UInt8] = []
  private var types: [UInt64] = []

  /// Texts and blobs of `threshold` bytes and more become references; texts only where they need no conversion. Nil
  /// without a threshold.
  init?(_ overflow: OverflowReader, from threshold: Int?, _ encoding: DatabaseHeader.TextEncoding) {
    guard let threshold else { return nil }
    self.overflow = overflow
    self.threshold = max(threshold, 2 * LongValue.length)
    withTexts = encoding == .utf8
  }

  private func isLong(_ type: UInt64) -> Bool {
    SerialType.isText(type)
      ? withTexts && (type - 13) / 2 >= UInt64(threshold) : type >= 12 && (type - 12) / 2 >= UInt64(threshold)
  }

  /// Makes a record of a cell; false, and nothing is made, where no value is long or the record is not as SQLite writes
  /// it.
  func encode(_ cell: TreePage.Cell, page: UInt32) throws -> Bool {
    guard cell.payloadLength > threshold else { return false }
    var (pages, cursor) = overflow.cursor(cell, page: page)
    guard try readHeader(cell.payloadLength, pages: pages, cursor: &cursor), types.contains(where: isLong) else {
      return false
    }
    outside = types.reduce(0) { $0 + (isLong($1) ? SerialType.length($1) ?? 0 : 0) }
    try overflow.checkSize(cell.payloadLength - outside, of: cell, page: page)
    encoder.reset()
    // What was left out is gone over only where something follows.
    var behind = 0
    for type in types {
      let length = SerialType.length(type) ?? 0
      if length == 0 {
        encoder.append(type: type, body: UnsafeRawBufferPointer(start: nil, count: 0))
        continue
      }
      try pages.skip(behind, from: &cursor)
      behind = isLong(type) ? length : 0
      if isLong(type) {
        encoder.append(cursor.reference(type: type, length: length))
      } else {
        try pages.copy(length, from: &cursor, to: encoder.append(type: type, length: length))
      }
    }
    if cursor.left == 0 { try pages.expectEnd(cursor) }
    return true
  }

  /// Reads the types; false when the payload is not exactly a header in its shortest form and the values that it
  /// describes.
  private func readHeader(_ payload: Int, pages: OverflowPages, cursor: inout PayloadCursor) throws -> Bool {
    header.removeAll(keepingCapacity: true)
    types.removeAll(keepingCapacity: true)
    var position = 0
    guard let size = Varint.read(cursor.ahead, at: &position),
      size <= UInt64(min(payload, RecordDecoder.maximumColumns * Varint.maximumLength))
    else { return false }
    header = [UInt8](repeating: 0, count: Int(size))
    try header.withUnsafeMutableBytes { bytes in
      guard let base = bytes.baseAddress else { return }
      try pages.copy(bytes.count, from: &cursor, to: base)
    }
    var (left, shortest) = (payload - header.count, Varint.length(size))
    let isSound = header.withUnsafeBytes { bytes in
      while position < bytes.count {
        guard let type = Varint.read(bytes, at: &position), let length = SerialType.length(type), length <= left else {
          return false
        }
        shortest += Varint.length(type)
        left -= length
        types.append(type)
      }
      return true
    }
    return isSound && left == 0 && shortest == header.count && types.count <= RecordDecoder.maximumColumns
  }
}
