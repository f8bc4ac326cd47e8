/// The payload that a record with references stands for, from its first byte to its last: what a database holds of the
/// row (I8).
final class PayloadStream {
  private enum Part {
    case bytes(UnsafeRawBufferPointer)
    case long(LongValueStream)
  }

  /// Bytes of the payload.
  let length: Int
  private let rowid: Int64
  private let header: UnsafeMutableRawBufferPointer
  private var parts: [Part] = []
  private var index = 0
  /// Bytes of the part at hand that were read already.
  private var position = 0

  /// The record must stay in memory as long as the stream. Throws `damagedDatabase` for one that is none, `tooLarge`
  /// for a row that is longer than any database holds.
  init(_ record: UnsafeRawBufferPointer, rowid: Int64, _ longValues: LongValueReader) throws {
    self.rowid = rowid
    let (decoder, encoder) = (RecordDecoder(), RecordEncoder())
    let isSound = decoder.decode(record)
    var bodies = 0
    for column in 0..<decoder.columnCount {
      let (value, body) = (decoder.longValue(column), decoder.body(column))
      // Types alone: what the encoder makes of them is the header.
      encoder.append(type: value?.type ?? decoder.type(column), body: UnsafeRawBufferPointer(start: nil, count: 0))
      bodies += value?.byteCount ?? body.count
      if let value {
        parts.append(.long(LongValueStream(value, longValues)))
      } else if body.count > 0 {
        parts.append(.bytes(body))
      }
    }
    length = encoder.length + bodies
    header = .allocate(byteCount: encoder.length, alignment: 8)
    if let base = header.baseAddress { encoder.write(to: base) }
    parts.insert(.bytes(UnsafeRawBufferPointer(header)), at: 0)
    guard isSound, header[0] != LongValue.mark else { throw damaged() }
    guard length <= Self.maximum else { throw Self.tooLarge(rowid, length) }
  }

  deinit { header.deallocate() }

  /// The longest payload of a row (SQLite, "Limits In SQLite").
  static let maximum = 0x7fff_ffff

  static func tooLarge(_ rowid: Int64, _ length: Int) -> StreamsError {
    StreamsError(.tooLarge, "the new row \(rowid) would take \(length) bytes, more than a database holds")
  }

  private func damaged() -> StreamsError {
    StreamsError(.damagedDatabase, "the references of the new row \(rowid) are damaged")
  }

  /// Copies the next `count` bytes. Throws `damagedDatabase`, and errors of reading.
  func read(into target: UnsafeMutableRawPointer, _ count: Int) throws {
    var done = 0
    while done < count {
      guard index < parts.count else { throw damaged() }
      switch parts[index] {
      case .bytes(let bytes): done += copy(bytes, to: target + done, count - done)
      case .long(let stream): done += try copy(stream, to: target + done, count - done)
      }
    }
  }

  private func copy(_ bytes: UnsafeRawBufferPointer, to target: UnsafeMutableRawPointer, _ most: Int) -> Int {
    let count = min(most, bytes.count - position)
    if let base = bytes.baseAddress { target.copyMemory(from: base + position, byteCount: count) }
    advance(count, of: bytes.count)
    return count
  }

  private func copy(_ stream: LongValueStream, to target: UnsafeMutableRawPointer, _ most: Int) throws -> Int {
    let count = min(most, stream.length - position)
    try stream.read(into: target, count)
    advance(count, of: stream.length)
    return count
  }

  private func advance(_ count: Int, of all: Int) {
    position += count
    if position == all { (index, position) = (index + 1, 0) }
  }
}
