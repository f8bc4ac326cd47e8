import Streams

/// The open page of a column: values one after the other, and a bit for each row, which says whether it has one.
///
/// Source of the rule: "Parquet encodings": PLAIN, and the hybrid of runs and packed bits for definition levels.
struct ParquetPage {
  private(set) var values: [UInt8] = []
  private var levels: [UInt8] = []
  private(set) var rows = 0
  private(set) var present = 0

  var byteCount: Int { values.count + levels.count }

  mutating func appendNull() { append(level: 0) }

  mutating func append(_ number: some FixedWidthInteger) {
    append(level: 1)
    withUnsafeBytes(of: number.littleEndian) { values.append(contentsOf: $0) }
  }

  /// Bytes as they are, with their length before them if it differs from value to value.
  mutating func append(_ bytes: UnsafeRawBufferPointer, withLength: Bool) {
    append(level: 1)
    if withLength { withUnsafeBytes(of: UInt32(bytes.count).littleEndian) { values.append(contentsOf: $0) } }
    values.append(contentsOf: bytes)
  }

  mutating func append(_ flag: Bool) {
    let place = present & 7
    append(level: 1)
    if place == 0 { values.append(flag ? 1 : 0) } else if flag { values[values.count - 1] |= 1 << place }
  }

  private mutating func append(level: UInt8) {
    if rows & 7 == 0 { levels.append(level) } else { levels[levels.count - 1] |= level << (rows & 7) }
    rows += 1
    present += Int(level)
  }

  /// What the page holds; it is empty afterwards.
  mutating func take(isOptional: Bool) -> [UInt8] {
    var body: [UInt8] = []
    if isOptional {
      let run = encodedLevels
      withUnsafeBytes(of: UInt32(run.count).littleEndian) { body.append(contentsOf: $0) }
      body += run
    }
    body += values
    values.removeAll(keepingCapacity: values.capacity <= 1 << 20)
    levels.removeAll(keepingCapacity: true)
    (rows, present) = (0, 0)
    return body
  }

  private var encodedLevels: [UInt8] {
    var bytes: [UInt8] = []
    if present == rows || present == 0 {
      ThriftWriter.append(varint: UInt64(rows) << 1, to: &bytes)
      return bytes + [present == 0 ? 0 : 1]
    }
    ThriftWriter.append(varint: UInt64(levels.count) << 1 | 1, to: &bytes)
    return bytes + levels
  }
}
